"""Edges: candidates, persistence by half pools, robust scales, weights. What is known of nodes elsewhere is the halo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _core
from ._executor import BaseExecutor
from ._plan import Plan, grouped, plan_of
from ._stages import stage_tasks
from ._tasks import Context

_BITS, _ROUNDS = 16, 4


def candidates(context: Context, manifest: str, part: int) -> dict[str, int]:
    """The edges of own nodes, their first scales before the floor, and what is needed of other partitions."""
    plan = plan_of(context, manifest)
    own, owner = context.read(f"ids/{part:05}")["ids"], context.read("owner")["owner"]
    found = context.read(f"neighbors/{part:05}")
    k = int(plan.config.get("graph.candidates.k"))
    reverse = [context.read(f"reverse/{of:05}/{part:05}") for of in range(plan.n_parts)]
    here, by, lengths = (np.concatenate([each[name] for each in reverse]) for name in ("own", "by", "distance"))
    chosen = np.ascontiguousarray(found["ids"][:, :k]), np.ascontiguousarray(found["distances"][:, :k])
    offsets, targets, distances = _core.incident_edges(own, *chosen, (here, by, lengths), plan.config)
    context.write(f"edges/{part:05}", {"offsets": offsets, "targets": targets, "distances": distances})
    context.write(f"first/{part:05}", {"values": first_values(plan, found["distances"])})
    pool = int(plan.config.get("graph.estimator.pool"))
    halo = np.unique(np.concatenate([targets, found["ids"][:, :pool].reshape(-1)]))
    halo = halo[owner[halo] != part]
    order, bounds = grouped(owner[halo], plan.n_parts)
    for to in range(plan.n_parts):
        # Ascending within each partition: the order is stable.
        context.write(f"wanted/{part:05}/{to:05}", {"ids": halo[order[bounds[to] : bounds[to + 1]]]})
    lower = np.repeat(own, np.diff(offsets).astype(np.int64)) < targets
    return {"edges": int(lower.sum()), "halo": len(halo)}


def first_values(plan: Plan, distances: np.ndarray) -> np.ndarray:
    """First scales before the floor."""
    rule = plan.config.get("graph.first_scale")
    k = int(rule["k"])
    if rule["kind"] == "kth-neighbor":
        return np.ascontiguousarray(distances[:, k - 1])
    # One after the other, as on one machine: NumPy's own sum would add in another order.
    total = np.zeros(len(distances))
    for column in range(k):
        total += distances[:, column]
    mean: np.ndarray = total / k
    return mean


def histogram(context: Context, manifest: str, part: int, name: str, prefixes: list[int], digit: int) -> dict[str, int]:
    """Numbers of values by their next bits, for each prefix."""
    values = context.read(f"{name}/{part:05}")["values"]
    counts = np.stack([_core.bit_histogram(values, prefix, digit) for prefix in prefixes])
    context.write(f"histograms/{name}/{digit}/{part:05}", {"counts": counts})
    return {}


def of_ranks(executor: BaseExecutor, plan: Plan, manifest: str, name: str, ranks: Sequence[int]) -> list[float]:
    """The values of these ranks among those of all partitions, exactly."""
    keys, left = [0] * len(ranks), list(ranks)
    for digit in range(_ROUNDS):
        prefixes = sorted(set(keys))
        stage = f"histograms/{name}/{digit}"
        executor.run(stage_tasks(plan, manifest, stage, f"{__name__}:histogram", name=name, prefixes=prefixes, digit=digit))
        storage = executor.job.storage
        counts = sum(storage.read_shard(f"histograms/{name}/{digit}/{part:05}")["counts"] for part in range(plan.n_parts))
        for place, key in enumerate(keys):
            filled = np.cumsum(np.asarray(counts)[prefixes.index(key)])
            bin = int(np.searchsorted(filled, left[place], side="right"))
            left[place] -= int(filled[bin - 1]) if bin else 0
            keys[place] = key << _BITS | bin
    return [_core.value_of_key(key) for key in keys]


def least_and_median(executor: BaseExecutor, plan: Plan, manifest: str, name: str, n_nodes: int) -> tuple[float, float]:
    """The least scale that the floor allows, and the median of the scales raised to it."""

    def quantile(values: Callable[[int], float], first: int, count: int) -> float:
        """The median of consecutive ranks, between two of them if they are even in number."""
        position = 0.5 * (count - 1)
        below, above = values(first + int(np.floor(position))), values(first + int(np.ceil(position)))
        return below + (above - below) * float(position - np.floor(position))

    n_zero = sum(
        int((executor.job.storage.read_shard(f"{name}/{part:05}")["values"] <= 0.0).sum()) for part in range(plan.n_parts)
    )
    n_positive = n_nodes - n_zero
    if n_positive == 0:
        return 1.0, 1.0
    middles = [n_zero + (n_positive - 1) // 2, n_zero + n_positive // 2, (n_nodes - 1) // 2, n_nodes // 2]
    wanted = sorted({n_zero, *middles})
    known = dict(zip(wanted, of_ranks(executor, plan, manifest, name, wanted)))
    floor = float(plan.config.get("graph.scale_floor"))
    median = quantile(known.__getitem__, n_zero, n_positive)
    least = max(floor * median, known[n_zero] * np.finfo(float).eps, np.finfo(float).tiny)
    return least, quantile(lambda rank: max(known[rank], least), 0, n_nodes)


def lend(context: Context, manifest: str, part: int, scales: str, least: float, median: float, with_rows: bool) -> dict[str, int]:
    """Scales, and rows if asked for, of the nodes that other partitions want."""
    plan = plan_of(context, manifest)
    own, rows = context.read(f"ids/{part:05}")["ids"], context.read(f"points/{part:05}")["rows"] if with_rows else None
    values = context.read(f"{scales}/{part:05}")["values"]
    found = _core.finished_scales(values, least, median, scales == "robust", plan.config)
    context.write(f"scales/{scales}/{part:05}", {"scales": found})
    sent = 0
    for by in range(plan.n_parts):
        places = np.searchsorted(own, context.read(f"wanted/{by:05}/{part:05}")["ids"])
        shard = {"scales": found[places]} if rows is None else {"scales": found[places], "rows": rows[places]}
        context.write(f"lent/{scales}/{part:05}/{by:05}", shard)
        sent += len(places)
    return {"sent": sent}


def with_halo(context: Context, plan: Plan, part: int, scales: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Own nodes and their halo, ascending, with what was lent."""
    own = context.read(f"ids/{part:05}")["ids"]
    shards = [context.read(f"lent/{scales}/{of:05}/{part:05}") for of in range(plan.n_parts)]
    ids = [own, *(context.read(f"wanted/{part:05}/{of:05}")["ids"] for of in range(plan.n_parts))]
    order = np.argsort(np.concatenate(ids), kind="stable")
    mine = {"scales": context.read(f"scales/{scales}/{part:05}")["scales"]}
    if "rows" in shards[0]:
        mine["rows"] = context.read(f"points/{part:05}")["rows"]
    joined = {name: np.concatenate([mine[name], *(shard[name] for shard in shards)])[order] for name in mine}
    return np.concatenate(ids)[order], joined


def pools(context: Context, manifest: str, part: int) -> dict[str, int]:
    """The half of each edge's pool around its own end, and those that other partitions need."""
    plan = plan_of(context, manifest)
    ids, joined = with_halo(context, plan, part, "first")
    own, edges = context.read(f"ids/{part:05}")["ids"], context.read(f"edges/{part:05}")
    pool = int(plan.config.get("graph.estimator.pool"))

    def place(of: np.ndarray) -> np.ndarray:
        return np.searchsorted(ids, of).astype(np.uint32)

    neighbors = place(np.ascontiguousarray(context.read(f"neighbors/{part:05}")["ids"][:, :pool]))
    rows = edges["offsets"], place(edges["targets"])
    arguments = joined["rows"], joined["scales"], place(own), neighbors, rows, plan.config, plan.run_args(context.threads)
    halves = _core.half_pools(*arguments) if len(own) else np.empty(0)
    context.write(f"half_pools/{part:05}", {"halves": halves})
    ends = np.repeat(own, np.diff(edges["offsets"]).astype(np.int64))
    order, bounds = grouped(context.read("owner")["owner"][edges["targets"]], plan.n_parts)
    for to in range(plan.n_parts):
        chosen = order[bounds[to] : bounds[to + 1]]
        shard = {"own": edges["targets"][chosen], "other": ends[chosen], "half": halves[chosen]}
        context.write(f"halves/{part:05}/{to:05}", shard)
    return {}


def persistences(context: Context, manifest: str, part: int) -> dict[str, Any]:
    """The persistence of each own edge, and how many edges are present at each τ, each counted at its lower end."""
    plan = plan_of(context, manifest)
    own, edges = context.read(f"ids/{part:05}")["ids"], context.read(f"edges/{part:05}")
    received = [context.read(f"halves/{by:05}/{part:05}") for by in range(plan.n_parts)]
    here, other, half = (np.concatenate([each[name] for each in received]) for name in ("own", "other", "half"))
    # The edges of own nodes are in this order.
    order = np.lexsort((other, here))
    joined = _core.joined_halves(context.read(f"half_pools/{part:05}")["halves"], np.ascontiguousarray(half[order]), plan.config)
    context.write(f"persistence/{part:05}", {"persistence": joined})
    lower = np.repeat(own, np.diff(edges["offsets"]).astype(np.int64)) < edges["targets"]
    return {"counts": [int((joined[lower] > tau).sum()) for tau in plan.config.get("graph.taus")]}


def robust(context: Context, manifest: str, part: int, counts: list[int]) -> dict[str, int]:
    """Probabilities of the own edges, and robust scales before the floor."""
    plan = plan_of(context, manifest)
    own, edges = context.read(f"ids/{part:05}")["ids"], context.read(f"edges/{part:05}")
    persistence = context.read(f"persistence/{part:05}")["persistence"]
    probabilities = _core.edge_probabilities(persistence, counts, plan.config)
    first = context.read(f"scales/first/{part:05}")["scales"]
    rows = edges["offsets"], edges["targets"], edges["distances"]
    values = _core.robust_values(first, own, rows, probabilities, plan.config, plan.seed)
    context.write(f"probabilities/{part:05}", {"probabilities": probabilities})
    context.write(f"robust/{part:05}", {"values": values})
    return {}


def weights(context: Context, manifest: str, part: int) -> dict[str, int]:
    """The graph of a partition: the edges of its own nodes with everything that is known of them."""
    plan = plan_of(context, manifest)
    ids, joined = with_halo(context, plan, part, "robust")
    own, edges = context.read(f"ids/{part:05}")["ids"], context.read(f"edges/{part:05}")
    persistence = context.read(f"persistence/{part:05}")["persistence"]
    probabilities = context.read(f"probabilities/{part:05}")["probabilities"]
    rows = edges["offsets"], edges["targets"], edges["distances"]
    of_target = joined["scales"][np.searchsorted(ids, edges["targets"])]
    of_own = context.read(f"scales/robust/{part:05}")["scales"]
    found = _core.edge_weights(own, rows, persistence, probabilities, of_own, of_target, plan.config)
    graph = {**edges, "ids": own, "persistence": persistence, "probabilities": probabilities, "weights": found, "scales": of_own}
    context.write(f"graph/{part:05}", graph)
    return {}


def graph(executor: BaseExecutor, plan: Plan, manifest: str, n_nodes: int) -> dict[str, Any]:
    """From neighbors to weights; the graph is in the shards ``graph/…``."""

    estimate = plan.estimate

    def each(stage: str, function: str, **more: Any) -> list[dict[str, Any]]:
        return executor.run(stage_tasks(plan, manifest, stage, f"{__name__}:{function}", memory=estimate.memory(stage), **more))

    found = each("edges", "candidates")
    # How much is lent is no longer an assumption.
    estimate = estimate.knowing(halo_rows=max(one["halo"] for one in found))
    least, median = least_and_median(executor, plan, manifest, "first", n_nodes)
    each("lent/first", "lend", scales="first", least=least, median=median, with_rows=True)
    each("half_pools", "pools")
    counts = [sum(column) for column in zip(*(each["counts"] for each in each("persistence", "persistences")))]
    each("robust", "robust", counts=counts)
    least, median = least_and_median(executor, plan, manifest, "robust", n_nodes)
    each("lent/robust", "lend", scales="robust", least=least, median=median, with_rows=False)
    each("graph", "weights")
    return {"n_edges": sum(one["edges"] for one in found), "halo": sum(one["halo"] for one in found), "counts": counts}
