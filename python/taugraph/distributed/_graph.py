"""The robust graph of a table that is spread over partitions: from files to shards with the edges of each partition's nodes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .. import _core, __version__
from . import _edges, _neighbors, _rows
from ._executor import BaseExecutor
from ._plan import PLAN, Plan
from ._progress import Listener, Progress
from ._source import open_source
from ._storage import Storage

# Rows read at a time: a few seconds of work, and thousands of tasks at most.
_CHUNK = 2**20


def begin(
    executor: BaseExecutor,
    uri: str,
    storage: Storage,
    *,
    n_parts: int,
    columns: list[str] | None = None,
    preset: str = "robust",
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    chunk_rows: int = _CHUNK,
    progress: Progress | Listener | bool | str | None = None,
) -> tuple[Plan, str]:
    """The plan of a run, for the tasks in its storage, and the fingerprint of all that results depend on."""
    block = _core.block_rows()
    plan = Plan(open_source(uri, columns), preset, dict(params or {}), seed, n_parts, -(-chunk_rows // block) * block)
    text = json.dumps([plan.to_json(), __version__], sort_keys=True)
    manifest = hashlib.sha256(text.encode()).hexdigest()
    storage.write_json(PLAN, plan.to_json())
    executor.attach(storage, manifest, progress)
    return plan, manifest


def build_graph(executor: BaseExecutor, plan: Plan, manifest: str) -> dict[str, Any]:
    """Write the graph to the shards ``graph/…`` of a storage, and say how it came about.

    Node ids are those of one process: distinct rows in the order of their first rows. The edges of a node have the same bits for any
    number of partitions; with an exact search they have those of one process.
    """
    n_nodes = _rows.nodes(executor, plan, manifest)
    search = _neighbors.neighbors(executor, plan, manifest, n_nodes)
    return {"rows": plan.source.n_rows, "nodes": n_nodes, "search": search, **_edges.graph(executor, plan, manifest, n_nodes)}
