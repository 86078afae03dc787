"""The edges of the graph as Parquet files, for those who ask for them."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np

from ._executor import BaseExecutor
from ._plan import Plan
from ._stages import stage_tasks, write_files
from ._storage import Storage
from ._tasks import Context


def write(context: Context, manifest: str, part: int, uri: str) -> dict[str, Any]:
    """The edges of a partition's nodes, each with its lower end; links have no length and no probability."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found, linked = context.read(f"graph/{part:05}"), context.read(f"linked/{part:05}")
    first_rows = context.read("row_of_node")["row"]

    def flat(shard: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        counts: np.ndarray = np.diff(shard["offsets"].astype(np.int64))
        ends = np.repeat(shard["ids"], counts)
        return ends, ends.astype(np.int64) << 32 | shard["targets"]

    _, known = flat(found)
    ends, keys = flat(linked)
    lower = ends < linked["targets"]
    places = np.minimum(np.searchsorted(known, keys[lower]), max(len(known) - 1, 0))
    is_link = known[places] != keys[lower] if len(known) else np.ones(int(lower.sum()), dtype=bool)

    def of_edge(name: str) -> Any:
        values = found[name][places] if len(known) else np.zeros(len(is_link))
        return pa.array(values, mask=is_link)

    table = pa.table(
        {
            "row": first_rows[ends[lower]].astype(np.int64),
            "other_row": first_rows[linked["targets"][lower]].astype(np.int64),
            "weight": linked["weights"][lower],
            "distance": of_edge("distances"),
            "persistence": of_edge("persistence"),
            "probability": of_edge("probabilities"),
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file)
    name = f"graph/part-{part:05}.parquet"
    return {"file": name, "edges": len(table), "bytes": Storage(uri).write(name, [file.getvalue()])}


def write_edges(executor: BaseExecutor, plan: Plan, manifest: str, output: str) -> list[dict[str, Any]]:
    """Write the files. Nodes are named by their first rows: rows that are equal share one."""
    storage = executor.job.storage
    rows = np.empty(len(storage.read_shard("owner")["owner"]), dtype=np.uint32)
    for part in range(plan.n_parts):
        rows[storage.read_shard(f"ids/{part:05}")["ids"]] = storage.read_shard(f"points/{part:05}")["row"]
    storage.write_shard("row_of_node", {"row": rows}, "row_of_node")
    memory = replace(plan.estimate, with_graph=True).memory("edge_files")
    return write_files(executor, stage_tasks(plan, manifest, "edge_files", f"{__name__}:write", memory=memory, uri=output), output)
