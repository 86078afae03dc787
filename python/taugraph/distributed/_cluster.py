"""The whole chain: from Parquet files to a cluster for each row."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from .. import __version__
from ._agglomerate import Agglomeration, Sums
from ._components import connect
from ._edge_files import write_edges
from ._errors import DistributedError, counted
from ._executor import BaseExecutor
from ._graph import begin, build_graph
from ._labels import write_labels
from ._local import Local
from ._plan import Plan
from ._progress import Listener, Progress
from ._storage import Storage

WORK, REPORT, SUCCESS = "work", "report.json", "_SUCCESS"


def cluster(
    data: str,
    output: str,
    *,
    n_clusters: int | None = None,
    columns: list[str] | None = None,
    partitions: int | None = None,
    preset: str = "robust",
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    graph: bool = False,
    executor: BaseExecutor | None = None,
    progress: Progress | Listener | bool | str | None = None,
) -> dict[str, Any]:
    """Cluster the rows of Parquet files that need not fit into one machine.

    An interrupted run resumes when it is called again with the same arguments: what is finished is not computed again.

    Parameters
    ----------
    data : str
        A Parquet file, a folder, or a pattern such as ``data/*.parquet``; a path, ``file://`` or ``s3://``. Numeric columns, or one
        column of lists.
    output : str
        A folder or ``s3://bucket/prefix`` for the results. All machines must see it under this name.
    n_clusters : int, default=None
        Number of clusters; ``None`` finds it.
    columns : list of str, default=None
        The columns to use; ``None``: all numeric columns, or the only list column.
    partitions : int, default=None
        In how many partitions the work is cut; ``None``: one for each worker.
    preset : str, default="robust"
        The preset of the parameters.
    params : dict, default=None
        Parameters by their paths, such as ``{"graph.candidates.k": 20}``.
    seed : int, default=0
        Seed of all random choices.
    graph : bool, default=False
        Whether to write the edges of the graph, too.
    executor : Local or Ray, default=None
        What runs the work; ``None``: processes of this machine.
    progress : bool, "json" or callable, default=None
        ``True`` prints progress for people on standard error, ``"json"`` lines of JSON; a function gets every event.

    Returns
    -------
    report : dict
        What was done and found, as in the file ``report.json`` of the output. The clusters are in ``labels/part-….parquet``, in the
        order of the rows.
    """
    results = Storage(output)
    running = executor if executor is not None else Local()
    try:
        n_parts = partitions or max(1, sum(int(node.cpus) for node in running.nodes()))
        storage = results.inside(WORK)
        begun = time.time()
        plan, manifest = begin(
            running, data, storage, n_parts=n_parts, columns=columns, preset=preset, params=params, seed=seed, progress=progress
        )
        check(plan, n_clusters)
        results.delete(SUCCESS)
        report: dict[str, Any] = {"version": __version__, "data": data, "partitions": n_parts, "seed": seed, "preset": preset}
        report |= {"columns": list(plan.source.columns), "parameters": dict(params or {})}
        report["graph"] = build_graph(running, plan, manifest)
        n_nodes = int(report["graph"]["nodes"])
        if n_clusters is not None and n_clusters > n_nodes:
            raise DistributedError(f"{counted(n_clusters, 'cluster')} of {counted(n_nodes, 'different row')}: ask for fewer")
        report["graph"] |= connect(running, plan, manifest, n_nodes)
        name, found = clusters_of_nodes(running, plan, manifest, n_nodes, n_clusters)
        report["clusters"] = found
        report["labels"] = write_labels(running, plan, manifest, name, found["n_clusters"], output)
        if graph:
            report["edges"] = write_edges(running, plan, manifest, output)
        report["seconds"] = time.time() - begun
        report["machines"] = running.job.machines
        results.write_json(REPORT, report)
        results.write(SUCCESS, [b""])
        return report
    finally:
        if executor is None:
            running.close()


def check(plan: Plan, n_clusters: int | None) -> None:
    """Refuse what the chain on partitions cannot do, before any work."""
    if n_clusters is not None and n_clusters < 1:
        raise DistributedError(f"n_clusters = {n_clusters}: must be at least 1")
    get = plan.config.get
    refused = {
        "cluster.count": (get("cluster.count"), ("boundaries",)),
        "cluster.components": (get("cluster.components"), ("link",)),
        "cluster.method": (get("cluster.method"), ("auto", "agglomerate")),
        "cluster.stability": (get("cluster.stability"), (0,)),
    }
    for path, (value, possible) in refused.items():
        if value not in possible:
            raise DistributedError(f"{path} = {value}: on partitions it must be {' or '.join(map(str, possible))}")


def clusters_of_nodes(
    executor: BaseExecutor, plan: Plan, manifest: str, n_nodes: int, n_clusters: int | None
) -> tuple[str, dict[str, Any]]:
    """The clusters of all nodes: the name of the shards with their labels, and how they came about."""
    agglomeration = Agglomeration(executor, plan, manifest)
    merged = agglomeration.merge(n_nodes, n_clusters)
    cut: tuple[str, Sums] | None = agglomeration.cut(merged)
    if cut is None:
        raise DistributedError(
            f"{counted(merged.n_clusters, 'cluster')} are more than there are micro-communities ({merged.firsts[-1]}): ask for fewer"
        )
    name, (inner, volumes) = cut
    from .. import _core

    normalized_cut, modularity = _core.cut_quality((inner, volumes))
    return name, {
        "n_clusters": merged.n_clusters,
        "method": "agglomerate",
        "count": merged.count,
        "micro_communities": merged.firsts[-1],
        "normalized_cut": normalized_cut,
        "modularity": modularity,
    }
