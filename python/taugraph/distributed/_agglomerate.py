"""Agglomeration: micro-communities are found inside the partitions and merged by the driver.

Only what merging needs of them reaches the driver: sizes, volumes, densities and boundaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _core
from ._executor import BaseExecutor
from ._halo import lend, with_halo
from ._plan import Plan, plan_of
from ._stages import stage_tasks
from ._tasks import Context

# Rounds in which nodes move to other clusters and the partitions tell each other; the last ones move next to nothing.
_ROUNDS = 10
# A cut of each of the two merge trees.
_TREES = ("resistance", "linkage")

Sums = tuple[list[float], list[float]]


def part_graph(context: Context, part: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """The graph of a partition, all its nodes, and the places of its own ones."""
    found = context.read(f"linked/{part:05}")
    graph = _core.PartGraph(found["ids"], (found["offsets"], found["targets"], found["weights"]))
    return graph, graph.ids(), graph.own()


def micro(context: Context, manifest: str, part: int, n_clusters: int, n_nodes: int) -> dict[str, int]:
    """Micro-communities of the own nodes, in proportion to their number, and their levels before smoothing."""
    plan = plan_of(context, manifest)
    own = context.read(f"ids/{part:05}")["ids"]
    distances = context.read(f"neighbors/{part:05}")["distances"]
    labels, levels = np.empty(0, dtype=np.uint32), np.empty(0)
    inverse_dimension = np.empty(0)
    if len(own):
        graph, _, _ = part_graph(context, part)
        mine = -(-n_clusters * len(own) // n_nodes)
        labels = graph.micro_communities(mine, plan.run_args(context.threads))
        inverse_dimension, levels = _core.unsmoothed_density(distances)
    lend(context, plan, part, "micro", own, labels)
    lend(context, plan, part, "levels/0", own, levels)
    context.write(f"inverse_dimension/{part:05}", {"values": inverse_dimension})
    return {"groups": int(labels.max()) + 1 if len(labels) else 0}


def smooth(context: Context, manifest: str, part: int, time: int) -> dict[str, int]:
    """Levels of the own nodes, smoothed once more."""
    plan = plan_of(context, manifest)
    own, levels = context.read(f"ids/{part:05}")["ids"], np.empty(0)
    if len(own):
        graph, ids, places = part_graph(context, part)
        levels = graph.smoothed(with_halo(context, plan, part, f"levels/{time}", ids, places))
    lend(context, plan, part, f"levels/{time + 1}", own, levels)
    return {}


def share(context: Context, manifest: str, part: int, firsts: list[int]) -> dict[str, int]:
    """The groups of a partition and their boundaries. ``firsts`` are the numbers of each partition's first group."""
    plan = plan_of(context, manifest)
    own = context.read(f"ids/{part:05}")["ids"]
    found = np.empty((0, 4)), np.zeros(1, dtype=np.uint64), np.empty(0, dtype=np.uint32), np.empty((0, 2))
    if len(own):
        graph, ids, places = part_graph(context, part)
        owner = context.read("owner")["owner"][ids]
        labels = with_halo(context, plan, part, "micro", ids, places) + np.array(firsts, dtype=np.uint32)[owner]
        levels = with_halo(context, plan, part, f"levels/{_core.smoothings()}", ids, places)
        inverse_dimension = np.zeros(len(ids))
        inverse_dimension[places] = context.read(f"inverse_dimension/{part:05}")["values"]
        found = graph.group_share(labels, firsts[part], firsts[-1], levels, inverse_dimension)
    context.write(f"groups/{part:05}", dict(zip(("groups", "offsets", "beside", "boundaries"), found)))
    return {"groups": len(found[0])}


def begin(context: Context, manifest: str, part: int, tree: str, firsts: list[int]) -> dict[str, Any]:
    """The cluster of each own node in the cut of a tree."""
    plan = plan_of(context, manifest)
    own = context.read(f"ids/{part:05}")["ids"]
    group_labels = context.read(f"cuts/{tree}")["labels"]
    labels = group_labels[context.read(f"micro/{part:05}")["values"].astype(np.int64) + firsts[part]]
    lend(context, plan, part, f"refined/{tree}/0", own, labels)
    return {"sizes": np.bincount(labels, minlength=int(group_labels.max()) + 1).tolist()}


def refine(context: Context, manifest: str, part: int, tree: str, round: int, keeps: list[bool]) -> dict[str, Any]:
    """Own nodes move to the cluster they are tied to most."""
    plan = plan_of(context, manifest)
    own = context.read(f"ids/{part:05}")["ids"]
    labels, n_moves = np.empty(0, dtype=np.uint32), 0
    if len(own):
        graph, ids, places = part_graph(context, part)
        labels, n_moves = graph.moved(with_halo(context, plan, part, f"refined/{tree}/{round}", ids, places), keeps)
    lend(context, plan, part, f"refined/{tree}/{round + 1}", own, labels)
    return {"moves": n_moves, "sizes": np.bincount(labels, minlength=len(keeps)).tolist()}


def cut_sums(context: Context, manifest: str, part: int, name: str, n_clusters: int) -> dict[str, Any]:
    """What the own nodes add to the weights within each cluster and to its volume."""
    plan = plan_of(context, manifest)
    inner, volumes = [0.0] * n_clusters, [0.0] * n_clusters
    if len(context.read(f"ids/{part:05}")["ids"]):
        graph, ids, places = part_graph(context, part)
        inner, volumes = graph.cut_sums(with_halo(context, plan, part, name, ids, places), n_clusters)
    return {"inner": inner, "volumes": volumes}


def keepers(sizes: Sequence[Sequence[int]]) -> list[list[bool]]:
    """For each partition, which clusters it keeps a node of: those of which no lower partition has one."""
    is_kept = np.zeros(len(sizes[0]), dtype=bool)
    found = []
    for of_part in sizes:
        has = np.array(of_part) > 0
        found.append((has & ~is_kept).tolist())
        is_kept |= has
    return found


def added(shares: Sequence[dict[str, list[float]]]) -> Sums:
    """Sums over the partitions, one after the other."""
    inner, volumes = (np.zeros(len(shares[0]["inner"])) for _ in range(2))
    for each in shares:
        inner += each["inner"]
        volumes += each["volumes"]
    return inner.tolist(), volumes.tolist()


@dataclass(frozen=True)
class Agglomerated:
    """The merge trees, and what they say of the number of clusters."""

    trees: Any
    firsts: list[int]
    n_clusters: int
    count: dict[str, Any] | None


class Agglomeration:
    """The agglomeration of a run: stages of tasks with what the driver decides between them."""

    def __init__(self, executor: BaseExecutor, plan: Plan, manifest: str) -> None:
        self.executor, self.plan, self.manifest = executor, plan, manifest

    def each(
        self, stage: str, function: str, of_parts: Sequence[dict[str, Any]] | None = None, module: str = __name__, **more: Any
    ) -> list[dict[str, Any]]:
        """A task for each partition, some with arguments of its own: a function of this module, or of another."""
        tasks = stage_tasks(self.plan, self.manifest, stage, f"{module}:{function}", **more)
        if of_parts is not None:
            tasks = [replace(task, arguments={**task.arguments, **own}) for task, own in zip(tasks, of_parts)]
        return self.executor.run(tasks)

    def merge(self, n_nodes: int, n_clusters: int | None) -> Agglomerated:
        """Micro-communities, their densities and boundaries, and the merge trees; the number of clusters if it is not given."""
        # Without a number one cluster, as in one process: communities at the lowest resolution.
        groups = self.each("micro", "micro", n_clusters=n_clusters or 1, n_nodes=n_nodes)
        firsts = np.cumsum([0, *(each["groups"] for each in groups)]).tolist()
        for time in range(_core.smoothings()):
            self.each(f"levels/{time + 1}", "smooth", time=time)
        self.each("groups", "share", firsts=firsts)
        storage = self.executor.job.storage
        shares = [storage.read_shard(f"groups/{part:05}") for part in range(self.plan.n_parts)]
        rows = [(each["groups"], each["offsets"], each["beside"], each["boundaries"]) for each in shares]
        trees = _core.MergeTrees(rows, self.plan.run_args(0))
        if n_clusters is not None:
            return Agglomerated(trees, firsts, n_clusters, None)
        count = trees.count()
        least, most = (self.plan.config.get(f"cluster.{name}_clusters") for name in ("min", "max"))
        most = n_nodes if most is None else min(int(most), n_nodes)
        chosen = min(max(int(count["n_clusters"]), min(int(least or 1), most)), most)
        return Agglomerated(trees, firsts, chosen, count)

    def cut(self, found: Agglomerated) -> tuple[str, Sums] | None:
        """The better of both trees' cuts after nodes have moved: the name of its labels, with weights within clusters and volumes."""
        cuts = []
        for tree in _TREES:
            labels = found.trees.cut(tree == "linkage", found.n_clusters)
            if labels is not None:
                self.executor.job.storage.write_shard(f"cuts/{tree}", {"labels": labels}, "cuts")
                cuts.append(self.refined(tree, found.firsts))
        best = _core.best_cut([sums for _, sums in cuts])
        return None if best is None else cuts[best]

    def refined(self, tree: str, firsts: list[int]) -> tuple[str, Sums]:
        """Nodes move until none does, in rounds; then the quality of the clusters."""
        told = self.each(f"refined/{tree}/0", "begin", tree=tree, firsts=firsts)
        for round in range(_ROUNDS):
            keeps = [{"keeps": each} for each in keepers([each["sizes"] for each in told])]
            told = self.each(f"refined/{tree}/{round + 1}", "refine", keeps, tree=tree, round=round)
            if not any(each["moves"] for each in told):
                break
        name, n_clusters = f"refined/{tree}/{round + 1}", len(told[0]["sizes"])
        return name, self.sums(tree, name, n_clusters)

    def sums(self, of: str, name: str, n_clusters: int) -> Sums:
        """Weights within the clusters that these shards give, and volumes."""
        return added(self.each(f"quality/{of}", "cut_sums", name=name, n_clusters=n_clusters))
