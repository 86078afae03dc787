"""From the files to the nodes of each partition: columns, cells, a shuffle, and copies of rows that share a node."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .. import _core
from ._errors import InputError
from ._executor import BaseExecutor
from ._plan import Plan, grouped, plan_of
from ._stages import stage_tasks
from ._tasks import Context, Task

# Points of a cell, and of the sample for each.
CELL, SAMPLE = 500, 40
Arrays = dict[str, np.ndarray]


def moments(context: Context, manifest: str, chunk: int) -> dict[str, int]:
    """Moments of the columns of a chunk, block by block."""
    plan = plan_of(context, manifest)
    values = plan.source.read(*plan.rows_of(chunk))
    blocks = [values[first : first + _core.block_rows()] for first in range(0, len(values), _core.block_rows())]
    context.write(f"moments/{chunk:05}", {"moments": np.stack([_core.block_moments(np.ascontiguousarray(b)) for b in blocks])})
    return {"columns": values.shape[1]}


def models_of_columns(executor: BaseExecutor, plan: Plan, manifest: str) -> np.ndarray:
    """How each column that is used is filled and scaled: its number, fill, center and scale."""
    executor.run(stage_tasks(plan, manifest, "moments", f"{__name__}:moments", over="chunk"))
    storage = executor.job.storage
    joined = None
    for chunk in range(plan.n_chunks):
        for block in storage.read_shard(f"moments/{chunk:05}")["moments"]:
            joined = block if joined is None else _core.joined_moments(joined, block)
    assert joined is not None
    models = []
    for column, row in enumerate(joined):
        n_missing = plan.source.n_rows - int(row[0])
        if n_missing:
            raise InputError(f"column {column + 1} has {n_missing} missing cells: fill them first")
        if row[1] < row[2]:
            nothing = [float("nan")] * 3
            models.append(_core.column_model(column, np.ascontiguousarray(row), 0, nothing, plan.config))
    if not models:
        raise InputError(f"none of the {len(joined)} columns has two different values")
    return np.stack(models)


def prepared(plan: Plan, models: np.ndarray, first: int, last: int) -> np.ndarray:
    """Rows as they are stored: filled, scaled, and of length 1 if the metric asks for it."""
    single = plan.config.get("preparation.precision")
    is_single = plan.source.is_single if single is None else single == "single"
    return _core.prepared_rows(np.ascontiguousarray(plan.source.read(first, last)), models, is_single, plan.config)


def sample_of_chunk(context: Context, manifest: str, chunk: int, n_sample: int) -> dict[str, int]:
    """The rows of a chunk that belong to the sample: which, depends on the seed and the number of rows only."""
    plan = plan_of(context, manifest)
    first, last = plan.rows_of(chunk)
    drawn = np.random.default_rng([plan.seed, 13]).choice(plan.source.n_rows, n_sample, replace=False)
    mine = np.sort(drawn[(drawn >= first) & (drawn < last)]) - first
    rows = prepared(plan, context.read("models")["models"], first, last)[mine]
    context.write(f"sample/{chunk:05}", {"rows": rows})
    return {"rows": len(rows)}


def train(context: Context, manifest: str, n_cells: int) -> dict[str, int]:
    """The centers of all cells."""
    plan = plan_of(context, manifest)
    sample = np.concatenate([context.read(f"sample/{chunk:05}")["rows"] for chunk in range(plan.n_chunks)])
    mean, scale, centers = _core.train_cells(sample, n_cells, plan.run_args(context.threads))
    context.write("cells", {"mean": mean, "scale": np.array([scale]), "centers": centers})
    return {"cells": len(centers)}


def cells_of(context: Context) -> tuple[np.ndarray, float, np.ndarray]:
    found = context.read("cells")
    return found["mean"], float(found["scale"][0]), found["centers"]


def assign(context: Context, manifest: str, chunk: int) -> dict[str, int]:
    """The cell of each row of a chunk."""
    plan = plan_of(context, manifest)
    rows = prepared(plan, context.read("models")["models"], *plan.rows_of(chunk))
    cells = cells_of(context)
    found = _core.cells_of_points(rows, cells, plan.run_args(context.threads))
    context.write(f"assigned/{chunk:05}", {"rows": rows, "cells": found})
    context.write(f"sizes/{chunk:05}", {"sizes": np.bincount(found, minlength=len(cells[2]))})
    return {"rows": len(rows)}


def parts_of_cells(centers: np.ndarray, sizes: np.ndarray, n_parts: int) -> np.ndarray:
    """Cells that are near each other in partitions of about the same size: halves along the longest axis, again and again.

    Which partition a cell is in changes no result, only what has to be moved.
    """
    part = np.zeros(len(centers), dtype=np.uint32)

    def divide(cells: np.ndarray, first: int, count: int) -> None:
        part[cells] = first
        if count == 1 or len(cells) < 2:
            return
        spread = centers[cells].astype(float) - centers[cells].mean(axis=0, dtype=float)
        axis = np.linalg.svd(spread, full_matrices=False)[2][0]
        order = cells[np.argsort(spread @ axis, kind="stable")]
        left = count // 2
        filled = np.cumsum(sizes[order])
        cut = int(np.searchsorted(filled, filled[-1] * left / count)) + 1
        cut = min(max(cut, 1), len(order) - 1)
        divide(order[:cut], first, left)
        divide(order[cut:], first + left, count - left)

    divide(np.arange(len(centers)), 0, n_parts)
    return part


def scatter(context: Context, manifest: str, chunk: int) -> dict[str, int]:
    """The rows of a chunk for each partition."""
    plan = plan_of(context, manifest)
    found, part = context.read(f"assigned/{chunk:05}"), context.read("parts")["part"]
    order, ends = grouped(part[found["cells"]], plan.n_parts)
    first, _ = plan.rows_of(chunk)
    for to in range(plan.n_parts):
        chosen = order[ends[to] : ends[to + 1]]
        shard = {"rows": found["rows"][chosen], "cells": found["cells"][chosen], "row": (first + chosen).astype(np.uint32)}
        context.write(f"scattered/{chunk:05}/{to:05}", shard)
    return {}


def gather(context: Context, manifest: str, part: int) -> dict[str, int]:
    """The distinct rows of a partition in ascending order, and the first of the rows that each row equals."""
    plan = plan_of(context, manifest)
    shards = [context.read(f"scattered/{chunk:05}/{part:05}") for chunk in range(plan.n_chunks)]
    rows, cells, row = (np.concatenate([shard[name] for shard in shards]) for name in ("rows", "cells", "row"))
    # Adding 0 makes one zero of both; then equal rows have equal bytes.
    keys = np.ascontiguousarray(rows + 0.0).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
    _, firsts, same = np.unique(keys, return_index=True, return_inverse=True)
    first_of_row = firsts[same.reshape(-1)]
    is_first = first_of_row == np.arange(len(rows))
    context.write(f"points/{part:05}", {"rows": rows[is_first], "cells": cells[is_first], "row": row[is_first]})
    context.write(f"copies/{part:05}", {"row": row, "first": row[first_of_row]})
    return {"nodes": int(is_first.sum())}


def name_nodes(executor: BaseExecutor, plan: Plan) -> int:
    """Nodes are numbered by their first rows, whatever the partition; writes the owner of each. Returns their number."""
    storage = executor.job.storage
    is_first = np.zeros(plan.source.n_rows, dtype=bool)
    for part in range(plan.n_parts):
        is_first[storage.read_shard(f"points/{part:05}")["row"]] = True
    node_of_row = np.cumsum(is_first, dtype=np.uint32) - np.uint32(1)
    n_nodes = int(is_first.sum())
    owner = np.zeros(n_nodes, dtype=np.uint32)
    for part in range(plan.n_parts):
        ids = node_of_row[storage.read_shard(f"points/{part:05}")["row"]]
        owner[ids] = part
        storage.write_shard(f"ids/{part:05}", {"ids": ids}, "ids")
    storage.write_shard("owner", {"owner": owner}, "owner")
    return n_nodes


def nodes(executor: BaseExecutor, plan: Plan, manifest: str) -> int:
    """Everything up to the nodes of each partition; returns how many nodes there are."""

    def each(stage: str, function: str, over: Literal["part", "chunk"], **more: int) -> None:
        executor.run(stage_tasks(plan, manifest, stage, f"{__name__}:{function}", over=over, **more))

    storage = executor.job.storage
    storage.write_shard("models", {"models": models_of_columns(executor, plan, manifest)}, "models")
    n_cells = max(1, plan.source.n_rows // CELL)
    each("sample", "sample_of_chunk", "chunk", n_sample=min(plan.source.n_rows, SAMPLE * n_cells))
    executor.run([Task("cells", f"{__name__}:train", {"manifest": manifest, "n_cells": n_cells}, plan.estimate.memory("cells"))])
    each("assigned", "assign", "chunk")
    sizes = sum(storage.read_shard(f"sizes/{chunk:05}")["sizes"] for chunk in range(plan.n_chunks))
    part = parts_of_cells(storage.read_shard("cells")["centers"], np.asarray(sizes), plan.n_parts)
    storage.write_shard("parts", {"part": part}, "parts")
    each("scattered", "scatter", "chunk")
    each("points", "gather", "part")
    return name_nodes(executor, plan)
