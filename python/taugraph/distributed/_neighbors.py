"""Neighbors: queries go to the partitions that own the cells they probe, and the best of all answers are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ._executor import BaseExecutor
from ._plan import Plan, grouped, plan_of
from ._rows import cells_of
from ._stages import stage_tasks
from ._tasks import Context

# Queries of each of two samples: one chooses how many cells are probed, the other measures the recall.
SAMPLE = 512
# From so many nodes on the search is approximate unless an exact one is asked for.
MANY = 50_000
# The recall that the first sample must have above the one that is asked for, so that the second one has it, too.
MARGIN = 0.005
# In the place of a neighbor that is missing.
NOBODY = 2**32 - 1


def nearest(ids: np.ndarray, distances: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of each row, ties by id."""
    order = np.lexsort((ids, distances), axis=1)[:, :k]
    return np.take_along_axis(ids, order, 1), np.take_along_axis(distances, order, 1)


def points_of(context: Context, part: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The points of a partition and their ids."""
    return context.read(f"points/{part:05}"), context.read(f"ids/{part:05}")["ids"]


def search(plan: Plan, context: Context, among: tuple[dict[str, np.ndarray], np.ndarray], queries: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """What some queries find among the points of a partition in the cells they probe."""
    points, ids = among
    if not len(ids) or not len(queries["ids"]):
        shape = len(queries["ids"]), plan.k
        return np.full(shape, NOBODY, dtype=np.uint32), np.full(shape, np.inf)
    mean, scale, _ = cells_of(context)
    found: tuple[np.ndarray, np.ndarray] = _core.search_cells(
        points["rows"], ids, points["cells"], queries["rows"], queries["ids"], (queries["offsets"], queries["cells"]),
        (mean, scale), plan.k, plan.config, plan.run_args(context.threads),
    )  # fmt: skip
    return found


def nearest_cells(plan: Plan, context: Context, rows: np.ndarray, n_probe: int) -> np.ndarray:
    """The cells nearest to each row, nearest first."""
    if not len(rows):
        return np.empty((0, n_probe), dtype=np.uint32)
    found: np.ndarray = _core.nearest_cells(rows, cells_of(context), n_probe, plan.run_args(context.threads))
    return found


def draw(context: Context, manifest: str, part: int, n_nodes: int) -> dict[str, int]:
    """The nodes of a partition that are in the samples, with all cells by their distance."""
    plan = plan_of(context, manifest)
    points, ids = context.read(f"points/{part:05}"), context.read(f"ids/{part:05}")["ids"]
    drawn = np.random.default_rng([plan.seed, 14]).choice(n_nodes, min(n_nodes, 2 * SAMPLE), replace=False)
    places = np.searchsorted(ids, drawn)
    here = np.isin(drawn, ids)
    rows = points["rows"][places[here]]
    order = nearest_cells(plan, context, rows, len(cells_of(context)[2]))
    context.write(f"drawn/{part:05}", {"rows": rows, "ids": ids[places[here]], "place": np.flatnonzero(here)})
    # By itself: every partition reads the rows, only the driver the order of all cells.
    context.write(f"order/{part:05}", {"order": order})
    return {}


def search_exactly(context: Context, manifest: str, part: int, n_parts: int) -> dict[str, int]:
    """The neighbors of both samples in a partition, and the cells they are in."""
    plan = plan_of(context, manifest)
    drawn = [context.read(f"drawn/{each:05}") for each in range(n_parts)]
    rows, ids = (np.concatenate([each[name] for each in drawn]) for name in ("rows", "ids"))
    points, own = points_of(context, part)
    all_cells = np.unique(points["cells"])
    offsets = np.arange(len(ids) + 1, dtype=np.uint64) * np.uint64(len(all_cells))
    queries = {"rows": rows, "ids": ids, "offsets": offsets, "cells": np.tile(all_cells, len(ids)).astype(np.uint32)}
    found, distances = search(plan, context, (points, own), queries)
    places = np.searchsorted(own, found)
    # Where there are fewer points than neighbors, others' come first.
    cells = points["cells"][np.minimum(places, len(points["cells"]) - 1)] if len(all_cells) else np.zeros_like(found)
    context.write(f"exact/{part:05}", {"ids": found, "distances": distances, "cells": cells})
    return {}


def calibrated(executor: BaseExecutor, plan: Plan, manifest: str, n_nodes: int) -> tuple[int, float]:
    """How many cells each node probes for the recall that is asked for, and the recall measured on another sample."""
    storage = executor.job.storage
    n_cells = len(storage.read_shard("cells")["centers"])
    method, recall = plan.config.get("graph.search.method"), plan.config.get("graph.search.recall")
    if method == "exact" or (method == "auto" and n_nodes < MANY) or n_cells == 1:
        return n_cells, 1.0
    executor.run(stage_tasks(plan, manifest, "drawn", f"{__name__}:draw", n_nodes=n_nodes))
    executor.run(stage_tasks(plan, manifest, "exact", f"{__name__}:search_exactly", n_parts=plan.n_parts))
    drawn = [storage.read_shard(f"drawn/{part:05}") for part in range(plan.n_parts)]
    exact = [storage.read_shard(f"exact/{part:05}") for part in range(plan.n_parts)]
    order = np.concatenate([storage.read_shard(f"order/{part:05}")["order"] for part in range(plan.n_parts)])
    is_first = np.concatenate([each["place"] for each in drawn]) < SAMPLE
    ids, distances, cells = (np.concatenate([each[name] for each in exact], axis=1) for name in ("ids", "distances", "cells"))
    chosen = np.lexsort((ids, distances), axis=1)[:, : plan.k]
    cells = np.take_along_axis(cells, chosen, 1)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(n_cells, dtype=order.dtype)[None, :], 1)
    ranks = np.take_along_axis(rank, cells, 1)
    first = np.sort(ranks[is_first].reshape(-1))
    n_probe = 1 + int(first[min(len(first) - 1, int(np.ceil(min(1.0, recall + MARGIN) * len(first))))])
    second = ranks[~is_first] if not is_first.all() else ranks
    while (second < n_probe).mean() < recall:
        n_probe += 1
    return n_probe, float((second < n_probe).mean())


def ask(context: Context, manifest: str, part: int, n_probe: int) -> dict[str, int]:
    """The queries of a partition for each partition that owns cells they probe."""
    plan = plan_of(context, manifest)
    points, ids = context.read(f"points/{part:05}"), context.read(f"ids/{part:05}")["ids"]
    part_of_cell = context.read("parts")["part"]
    probed = nearest_cells(plan, context, points["rows"], n_probe)
    owners = part_of_cell[probed]
    sent = 0
    for to in range(plan.n_parts):
        asked = owners == to
        places = np.flatnonzero(asked.any(axis=1))
        counts = asked[places].sum(axis=1)
        shard = {
            "rows": points["rows"][places],
            "ids": ids[places],
            "place": places.astype(np.uint32),
            "offsets": np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64),
            "cells": probed[places][asked[places]],
        }
        context.write(f"asked/{part:05}/{to:05}", shard)
        sent += len(places) * (to != part)
    return {"sent": int(sent)}


def answer(context: Context, manifest: str, part: int, n_probe: int) -> dict[str, int]:
    """What all queries find in a partition. ``n_probe`` only tells this task from that with other queries."""
    plan, among = plan_of(context, manifest), points_of(context, part)
    for by in range(plan.n_parts):
        queries = context.read(f"asked/{by:05}/{part:05}")
        found, distances = search(plan, context, among, queries)
        context.write(f"answers/{part:05}/{by:05}", {"ids": found, "distances": distances, "place": queries["place"]})
    return {}


def merge(context: Context, manifest: str, part: int, n_probe: int) -> dict[str, int]:
    """The nearest of all answers, and those who have nodes of other partitions as neighbors; ``n_probe`` as above."""
    plan = plan_of(context, manifest)
    own = context.read(f"ids/{part:05}")["ids"]
    ids, distances = np.full((len(own), plan.k), NOBODY, dtype=np.uint32), np.full((len(own), plan.k), np.inf)
    for by in range(plan.n_parts):
        found = context.read(f"answers/{by:05}/{part:05}")
        place = found["place"]
        both = np.concatenate([ids[place], found["ids"]], axis=1), np.concatenate([distances[place], found["distances"]], axis=1)
        ids[place], distances[place] = nearest(*both, plan.k)
    n_short = int(np.isinf(distances[:, -1]).sum())
    context.write(f"neighbors/{part:05}", {"ids": ids, "distances": distances})
    if n_short == 0:
        write_reverse(context, plan, part, own, ids, distances)
    return {"short": n_short}


def write_reverse(context: Context, plan: Plan, part: int, own: np.ndarray, ids: np.ndarray, distances: np.ndarray) -> None:
    """The neighbors of own nodes, for those who own them: only as many as there are candidates."""
    k = int(plan.config.get("graph.candidates.k"))
    flat = ids[:, :k].reshape(-1)
    order, ends = grouped(context.read("owner")["owner"][flat], plan.n_parts)
    by, lengths = np.repeat(own, k), distances[:, :k].reshape(-1)
    for to in range(plan.n_parts):
        chosen = order[ends[to] : ends[to + 1]]
        context.write(f"reverse/{part:05}/{to:05}", {"own": flat[chosen], "by": by[chosen], "distance": lengths[chosen]})


def neighbors(executor: BaseExecutor, plan: Plan, manifest: str, n_nodes: int) -> dict[str, Any]:
    """The neighbors of all nodes; how they were found."""
    n_cells = len(executor.job.storage.read_shard("cells")["centers"])
    n_probe, recall = calibrated(executor, plan, manifest, n_nodes)

    def each(stage: str, function: str, n_probe: int) -> list[dict[str, Any]]:
        # Another number of probes is another task.
        memory = plan.estimate.knowing(n_probe=n_probe).memory(stage)
        return executor.run(stage_tasks(plan, manifest, stage, f"{__name__}:{function}", memory=memory, n_probe=n_probe))

    while True:
        asked = each("asked", "ask", n_probe)
        each("answers", "answer", n_probe)
        merged = each("neighbors", "merge", n_probe)
        if not any(each["short"] for each in merged) or n_probe == n_cells:
            return {"n_cells": n_cells, "n_probe": n_probe, "recall": recall, "sent": sum(each["sent"] for each in asked)}
        n_probe = min(n_cells, 2 * n_probe)
