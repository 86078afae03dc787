"""From clusters of nodes to labels of rows: Parquet files in the order of the rows."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ._executor import BaseExecutor
from ._plan import Plan, grouped, plan_of
from ._stages import stage_tasks, write_files
from ._storage import Storage
from ._tasks import Context


def first_nodes(context: Context, manifest: str, part: int, name: str, n_clusters: int) -> dict[str, list[int]]:
    """The first own node of each cluster."""
    own, labels = context.read(f"ids/{part:05}")["ids"], context.read(f"{name}/{part:05}")["values"]
    nobody = 2**32
    firsts = np.full(n_clusters, nobody, dtype=np.int64)
    np.minimum.at(firsts, labels, own)
    return {"firsts": firsts.tolist()}


def scatter(context: Context, manifest: str, part: int, name: str, numbers: list[int]) -> dict[str, int]:
    """The labels of the rows of a partition, for the chunks that these rows are in."""
    plan = plan_of(context, manifest)
    labels = np.array(numbers, dtype=np.int32)[context.read(f"{name}/{part:05}")["values"]]
    points, copies = context.read(f"points/{part:05}"), context.read(f"copies/{part:05}")
    # A row names its node by that node's first row; these are ascending.
    found = labels[np.searchsorted(points["row"], copies["first"])]
    order, bounds = grouped((copies["row"] // plan.chunk_rows).astype(np.int64), plan.n_chunks)
    for chunk in range(plan.n_chunks):
        chosen = order[bounds[chunk] : bounds[chunk + 1]]
        context.write(f"labeled/{part:05}/{chunk:05}", {"row": copies["row"][chosen], "label": found[chosen]})
    return {}


def write(context: Context, manifest: str, chunk: int, uri: str) -> dict[str, Any]:
    """A file with the cluster of each row of a chunk, in their order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    plan = plan_of(context, manifest)
    first, last = plan.rows_of(chunk)
    clusters = np.full(last - first, -1, dtype=np.int32)
    for part in range(plan.n_parts):
        found = context.read(f"labeled/{part:05}/{chunk:05}")
        clusters[found["row"] - np.uint32(first)] = found["label"]
    table = pa.table({"row": np.arange(first, last, dtype=np.int64), "cluster": clusters})
    file = io.BytesIO()
    pq.write_table(table, file)
    name = f"labels/part-{chunk:05}.parquet"
    return {"file": name, "rows": last - first, "bytes": Storage(uri).write(name, [file.getvalue()])}


def write_labels(
    executor: BaseExecutor, plan: Plan, manifest: str, name: str, n_clusters: int, output: str
) -> list[dict[str, Any]]:
    """Write the files; clusters are numbered in the order of their first rows."""

    found = executor.run(stage_tasks(plan, manifest, "first_nodes", f"{__name__}:first_nodes", name=name, n_clusters=n_clusters))
    firsts = np.min([part["firsts"] for part in found], axis=0)
    numbers = np.empty(n_clusters, dtype=np.int64)
    numbers[np.argsort(firsts, kind="stable")] = np.arange(n_clusters)
    executor.run(stage_tasks(plan, manifest, "labeled", f"{__name__}:scatter", name=name, numbers=numbers.tolist()))
    return write_files(executor, stage_tasks(plan, manifest, "labels", f"{__name__}:write", over="chunk", uri=output), output)
