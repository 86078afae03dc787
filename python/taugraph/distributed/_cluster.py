"""The whole chain: from Parquet files to a cluster for each row."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from .. import __version__
from ._choice import clusters_of_nodes
from ._components import connect
from ._edge_files import write_edges
from ._errors import InputError, counted
from ._graph import attach, build_graph
from ._labels import write_labels
from ._local import Local
from ._output import REPORT, SUCCESS, work_of
from ._planning import look_ahead
from ._progress import Listener, Progress
from ._ray import Ray
from ._storage import Storage


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
    executor: Local | Ray | None = None,
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
        Into how many partitions the rows are divided; ``None``: as many as the machines and their memory ask for.
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
    running = executor if executor is not None else Local()
    try:
        prospect = look_ahead(
            data, output, executor=running, n_clusters=n_clusters, columns=columns, partitions=partitions,
            preset=preset, params=params, seed=seed, graph=graph, progress=progress,
        )  # fmt: skip
        plan, results, begun = prospect.plan, Storage(output), time.time()
        results.delete(SUCCESS)
        manifest = attach(running, plan, work_of(output), progress)
        found = build_graph(running, plan, manifest)
        n_nodes = int(found["nodes"])
        if n_clusters is not None and n_clusters > n_nodes:
            raise InputError(f"{counted(n_clusters, 'cluster')} of {counted(n_nodes, 'different row')}: ask for fewer")
        found |= connect(running, plan, manifest, n_nodes)
        name, clusters = clusters_of_nodes(running, plan, manifest, n_nodes, n_clusters)
        report: dict[str, Any] = {
            "version": __version__,
            "data": data,
            "rows": plan.source.n_rows,
            "columns": list(plan.source.columns),
            "partitions": plan.n_parts,
            "preset": preset,
            "parameters": dict(params or {}),
            "seed": seed,
            "graph": found,
            "clusters": clusters,
            "labels": write_labels(running, plan, manifest, name, clusters["n_clusters"], output),
        }
        if graph:
            report["edges"] = write_edges(running, plan, manifest, output)
        report |= {"seconds": time.time() - begun, "machines": running.job.machines}
        results.write_json(REPORT, report)
        results.write(SUCCESS, [b""])
        return report
    finally:
        if executor is None:
            running.close()
