"""Components of the graph and the weak links between them; then the graph with its links, and the halo of each partition."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ._errors import DistributedError, counted
from ._executor import BaseExecutor
from ._halo import owned
from ._plan import Plan, grouped, plan_of
from ._stages import stage_tasks
from ._tasks import Context

# A component of more nodes sends so many of them to search for the others, if all of them would take too long.
SCOUTS = 256
# Pairs of points, times columns, that may be compared in a round, for each worker: some minutes.
_MAX_WORK = 2e13


def local_components(context: Context, manifest: str, part: int) -> dict[str, int]:
    """The components of the edges within a partition, by their first nodes; and the edges that leave it, each once."""
    plan = plan_of(context, manifest)
    graph = context.read(f"graph/{part:05}")
    own, offsets = graph["ids"], graph["offsets"].astype(np.int64)
    found = _core.PartGraph(own, (graph["offsets"], graph["targets"], graph["weights"])).components() if len(own) else own
    _, firsts = np.unique(found, return_index=True)
    first_of_node = own[firsts[found]] if len(own) else own
    context.write(f"components/{part:05}", {"first": first_of_node, "firsts": own[firsts] if len(own) else own})
    ends, targets = np.repeat(first_of_node, np.diff(offsets)), graph["targets"]
    owner = context.read("owner")["owner"][targets]
    # The partition with the lower number tells the other.
    leaves = (graph["weights"] > 0) & (owner > part)
    pairs = np.unique(np.stack([owner[leaves], ends[leaves], targets[leaves]], axis=1), axis=0)
    for to in range(part + 1, plan.n_parts):
        chosen = pairs[pairs[:, 0] == to]
        context.write(f"leaving/{part:05}/{to:05}", {"first": chosen[:, 1].copy(), "target": chosen[:, 2].copy()})
    return {"components": len(firsts)}


def joining(context: Context, manifest: str, part: int) -> dict[str, int]:
    """Which components of lower partitions are joined with which of this one."""
    own, mine = context.read(f"ids/{part:05}")["ids"], context.read(f"components/{part:05}")
    pairs = [np.empty((0, 2), dtype=np.uint32)]
    for by in range(part):
        leaving = context.read(f"leaving/{by:05}/{part:05}")
        places = np.searchsorted(own, leaving["target"])
        pairs.append(np.stack([leaving["first"], mine["first"][places]], axis=1))
    found = np.unique(np.concatenate(pairs), axis=0).astype(np.uint32)
    context.write(f"joining/{part:05}", {"pairs": found})
    return {"pairs": len(found)}


def joined(firsts: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The component of each of these nodes, ascending, after they are joined by pairs of them."""
    places = np.searchsorted(firsts, pairs).astype(np.uint32)
    found: np.ndarray = _core.components_of_pairs(len(firsts), np.ascontiguousarray(places.reshape(-1, 2)))
    return found


def members(context: Context, manifest: str, part: int, round: int, largest: int, scouts: int) -> dict[str, int]:
    """The nodes of a partition that search for other components: those of all but the largest, or some of them."""
    plan = plan_of(context, manifest)
    own = context.read(f"ids/{part:05}")["ids"]
    component = component_of_nodes(context, part, round)
    chosen = np.flatnonzero(component != largest)
    draws = draws_of(plan.seed, own[chosen])
    if scouts:
        # Those with the least draws, whatever the partition: of each partition's only so many can be among them.
        kept = least_of_each(component[chosen], draws, scouts)
        chosen, draws = chosen[kept], draws[kept]
    rows = context.read(f"points/{part:05}")["rows"][chosen]
    shard = {"ids": own[chosen], "rows": rows, "component": component[chosen], "draws": draws}
    context.write(f"members/{round}/{part:05}", shard)
    return {"members": len(chosen)}


def draws_of(seed: int, nodes: np.ndarray) -> np.ndarray:
    """A number for each node that looks random: SplitMix64 of the seed and the node."""
    with np.errstate(over="ignore"):
        z = (nodes.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed % 2**64)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        found: np.ndarray = z ^ z >> np.uint64(31)
        return found


def least_of_each(groups: np.ndarray, draws: np.ndarray, count: int) -> np.ndarray:
    """The places of the least draws of each group, ascending."""
    order = np.lexsort((draws, groups))
    begins = np.searchsorted(groups[order], groups[order], side="left")
    found: np.ndarray = np.sort(order[np.arange(len(order)) - begins < count])
    return found


def component_of_nodes(context: Context, part: int, round: int) -> np.ndarray:
    """The component of each own node in this round."""
    known = context.read(f"joined/{round}")
    found: np.ndarray = known["component"][np.searchsorted(known["firsts"], context.read(f"components/{part:05}")["first"])]
    return found


def nearest_outside(context: Context, manifest: str, part: int, round: int, scouts: int) -> dict[str, int]:
    """The shortest pairs from the searching nodes of all partitions to the nodes of this one."""
    plan = plan_of(context, manifest)
    own, points = context.read(f"ids/{part:05}")["ids"], context.read(f"points/{part:05}")["rows"]
    component = component_of_nodes(context, part, round)
    searching = [context.read(f"members/{round}/{of:05}") for of in range(plan.n_parts)]
    ids, groups, rows, draws = (
        np.concatenate([each[name] for each in searching]) for name in ("ids", "component", "rows", "draws")
    )
    if scouts:
        kept = least_of_each(groups, draws, scouts)
        ids, groups, rows = ids[kept], groups[kept], rows[kept]
    strangers = ~owned(own, ids)
    all_ids = np.concatenate([own, ids[strangers]])
    order = np.argsort(all_ids, kind="stable")
    all_groups = np.concatenate([component, groups[strangers]])[order].astype(np.uint32)
    all_rows = np.concatenate([points, rows[strangers]])[order]
    queries = np.searchsorted(all_ids[order], np.sort(ids)).astype(np.uint32)
    found: list[tuple[int, float, int, int]] = []
    if len(queries) and len(own):
        run = plan.run_args(context.threads)
        found = _core.nearest_outside(np.ascontiguousarray(all_rows), all_ids[order], all_groups, queries, plan.config, run)
    table: dict[str, np.ndarray] = {
        "group": np.array([pair[0] for pair in found], dtype=np.uint32),
        "distance": np.array([pair[1] for pair in found], dtype=np.float64),
        "ends": np.array([pair[2:] for pair in found], dtype=np.uint32).reshape(-1, 2),
    }
    context.write(f"outside/{round}/{part:05}", table)
    return {"found": len(found)}


def shortest(executor: BaseExecutor, plan: Plan, round: int) -> list[tuple[float, int, int]]:
    """The shortest pair leaving each component that has searched: its length and its ends, the lower first; no pair twice."""
    best: dict[int, tuple[float, int, int]] = {}
    for part in range(plan.n_parts):
        found = executor.job.storage.read_shard(f"outside/{round}/{part:05}")
        for group, distance, (inside, outside) in zip(found["group"], found["distance"], found["ends"]):
            key = float(distance), int(min(inside, outside)), int(max(inside, outside))
            if int(group) not in best or key < best[int(group)]:
                best[int(group)] = key
    return sorted(set(best.values()), key=lambda pair: pair[1:])


def linked(context: Context, manifest: str, part: int) -> dict[str, int]:
    """The graph of a partition with its links, and which nodes of other partitions it has edges to."""
    plan = plan_of(context, manifest)
    graph, links = context.read(f"graph/{part:05}"), context.read("links")
    own, offsets = graph["ids"], graph["offsets"].astype(np.int64)
    both = np.concatenate([links["ends"], links["ends"][:, ::-1]])
    weights_of_both = np.concatenate([links["weights"]] * 2)
    here = owned(own, both[:, 0])
    is_edge = graph["weights"] > 0
    rows = np.concatenate([np.repeat(np.arange(len(own)), np.diff(offsets))[is_edge], np.searchsorted(own, both[here, 0])])
    targets = np.concatenate([graph["targets"][is_edge], both[here, 1].astype(np.uint32)])
    weights = np.concatenate([graph["weights"][is_edge], weights_of_both[here]])
    order = np.lexsort((targets, rows))
    ends = np.searchsorted(rows[order], np.arange(len(own) + 1)).astype(np.uint64)
    targets = targets[order]
    context.write(f"linked/{part:05}", {"ids": own, "offsets": ends, "targets": targets, "weights": weights[order]})
    halo = np.setdiff1d(targets, own)
    order, bounds = grouped(context.read("owner")["owner"][halo], plan.n_parts)
    for of in range(plan.n_parts):
        context.write(f"halo/{part:05}/{of:05}", {"ids": halo[order[bounds[of] : bounds[of + 1]]]})
    return {"edges": len(targets), "halo": len(halo)}


def connect(executor: BaseExecutor, plan: Plan, manifest: str, n_nodes: int) -> dict[str, Any]:
    """Find the components and link them in Borůvka rounds; the linked graph is in the shards ``linked/…``."""
    storage, estimate = executor.job.storage, plan.estimate

    def each(stage: str, function: str, **more: Any) -> list[dict[str, Any]]:
        return executor.run(stage_tasks(plan, manifest, stage, f"{__name__}:{function}", memory=estimate.memory(stage), **more))

    each("components", "local_components")
    each("joining", "joining")
    firsts = np.sort(np.concatenate([storage.read_shard(f"components/{part:05}")["firsts"] for part in range(plan.n_parts)]))
    pairs = np.concatenate([storage.read_shard(f"joining/{part:05}")["pairs"] for part in range(plan.n_parts)])
    component = joined(firsts, pairs)
    n_components = int(component.max()) + 1
    if n_components > 1 and plan.config.get("graph.link_components") == "no":
        raise DistributedError(
            f"the graph has {counted(n_components, 'component')}, which graph.link_components = no leaves apart: "
            "clusters on partitions need a connected graph"
        )
    links: list[tuple[float, int, int]] = []
    round, is_exact = 0, True
    while component.max() > 0:
        storage.write_shard(f"joined/{round}", {"firsts": firsts, "component": component}, "joined")
        sizes = component_sizes(executor, plan, round, int(component.max()) + 1)
        largest = int(np.argmax(sizes))
        takes_too_long = float(n_nodes - sizes[largest]) * n_nodes * plan.source.width > _MAX_WORK
        is_exact &= not takes_too_long
        scouts = SCOUTS if takes_too_long else 0
        searching = int(np.minimum(sizes, scouts or n_nodes).sum() - min(sizes[largest], scouts or n_nodes))
        estimate = plan.estimate.knowing(searching=searching)
        each(f"members/{round}", "members", round=round, largest=largest, scouts=scouts)
        each(f"outside/{round}", "nearest_outside", round=round, scouts=scouts)
        found = shortest(executor, plan, round)
        links += found
        ends = np.array([pair[1:] for pair in found], dtype=np.uint32)
        pairs = np.concatenate([pairs, firsts_of(executor, plan, ends)])
        component = joined(firsts, pairs)
        round += 1
    weights = link_weights(executor, plan, links)
    table: dict[str, np.ndarray] = {
        "ends": np.array([pair[1:] for pair in links], dtype=np.uint32).reshape(-1, 2),
        "weights": np.array(weights, dtype=np.float64),
    }
    storage.write_shard("links", table, "links")
    each("linked", "linked")
    return {"components": n_components, "links": len(links), "links_are_shortest": is_exact, "link_rounds": round}


def component_sizes(executor: BaseExecutor, plan: Plan, round: int, n_components: int) -> np.ndarray:
    """Numbers of nodes."""
    context = Context(executor.job.storage, "driver")
    sizes = np.zeros(n_components, dtype=np.int64)
    for part in range(plan.n_parts):
        sizes += np.bincount(component_of_nodes(context, part, round), minlength=n_components)
    return sizes


def at_owners(executor: BaseExecutor, plan: Plan, nodes: np.ndarray, name: str, value: str) -> np.ndarray:
    """A value of each of these nodes, from the partitions that own them."""
    storage = executor.job.storage
    owner = storage.read_shard("owner")["owner"][nodes]
    found: list[Any] = [None] * len(nodes)
    for part in np.unique(owner):
        ids, values = storage.read_shard(f"ids/{part:05}")["ids"], storage.read_shard(f"{name}/{part:05}")[value]
        for place in np.flatnonzero(owner == part):
            found[place] = values[np.searchsorted(ids, nodes[place])]
    return np.array(found)


def firsts_of(executor: BaseExecutor, plan: Plan, ends: np.ndarray) -> np.ndarray:
    """The first nodes of the local components of both ends of each pair."""
    return at_owners(executor, plan, ends.reshape(-1), "components", "first").astype(np.uint32).reshape(-1, 2)


def link_weights(executor: BaseExecutor, plan: Plan, links: list[tuple[float, int, int]]) -> list[float]:
    """The weight of each link, by the robust scales of its ends."""
    if not links:
        return []
    ends = np.array([pair[1:] for pair in links], dtype=np.uint32)
    scales = at_owners(executor, plan, ends.reshape(-1), "graph", "scales").reshape(-1, 2)
    return [_core.link_weight(pair[0], float(lower), float(higher), plan.config) for pair, (lower, higher) in zip(links, scales)]
