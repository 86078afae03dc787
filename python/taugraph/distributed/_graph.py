"""The robust graph of a table that is spread over partitions: from files to shards with the edges of each partition's nodes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from .. import __version__
from . import _edges, _neighbors, _rows
from ._executor import BaseExecutor
from ._plan import PLAN, Plan
from ._progress import Listener, Progress
from ._storage import Storage

def attach(executor: BaseExecutor, plan: Plan, storage: Storage, progress: Progress | Listener | bool | str | None = None) -> str:
    """Let an executor work on a run; returns the fingerprint of all that its results depend on."""
    manifest = hashlib.sha256(json.dumps([plan.to_json(), __version__], sort_keys=True).encode()).hexdigest()
    storage.write_json(PLAN, plan.to_json())
    executor.attach(storage, manifest, progress)
    return manifest


def build_graph(executor: BaseExecutor, plan: Plan, manifest: str) -> dict[str, Any]:
    """Write the graph to the shards ``graph/…`` of a storage, and say how it came about.

    Node ids are those of one process: distinct rows in the order of their first rows. The edges of a node have the same bits for any
    number of partitions; with an exact search they have those of one process.
    """
    n_nodes = _rows.nodes(executor, plan, manifest)
    search = _neighbors.neighbors(executor, plan, manifest, n_nodes)
    return {"rows": plan.source.n_rows, "nodes": n_nodes, "search": search, **_edges.graph(executor, plan, manifest, n_nodes)}
