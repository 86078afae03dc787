"""Spectral clustering of a connected graph that is spread over partitions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _kmeans
from ._eigen import CHECKPOINTS, Eigenpairs
from ._executor import BaseExecutor
from ._plan import Plan
from ._tasks import Task, is_done

_KEY = "spectral/00000"


def spectral(executor: BaseExecutor, plan: Plan, manifest: str, n_nodes: int, n_clusters: int) -> dict[str, Any]:
    """Write ``eigen/…`` and ``spectral/…``, and say how they came about.

    Reads ``linked/…`` and ``halo/…``, and ``agglomerated/…`` if it is there. Clusters are numbered in the order of their first
    nodes. Labels have the same bits for the same partitions, whatever executes them.
    """
    if n_clusters == 1:
        return _one_cluster(executor, plan)
    text = json.dumps([manifest, n_nodes, n_clusters, plan.n_parts, plan.seed], sort_keys=True)
    fingerprint = hashlib.sha256(text.encode()).hexdigest()

    def pairs() -> dict[str, Any]:
        search = Eigenpairs(executor, plan, fingerprint, n_nodes, n_clusters)
        try:
            return search.solve()
        finally:
            search.close()

    found = _recorded(executor, "eigen/00000", fingerprint, pairs)
    executor.job.storage.delete(CHECKPOINTS)
    rounds = _recorded(executor, _KEY, fingerprint, lambda: _kmeans.clusters(executor, plan, n_nodes, n_clusters))
    # Pairs that have not converged are an error.
    return {**found, "converged": rounds["converged"], "kmeans": rounds}


def _recorded(executor: BaseExecutor, key: str, fingerprint: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What an earlier run has found, or what ``work`` finds now: like a task, with a record that is written last."""
    storage, task = executor.job.storage, Task(key, f"{__name__}:spectral")
    known = is_done(storage, task, fingerprint)
    if known is None:
        found = work()
        known = {"fingerprint": fingerprint, "outputs": found.pop("outputs"), "result": found}
        storage.write_json(task.record_name, known)
    result: dict[str, Any] = known["result"]
    return result


def _one_cluster(executor: BaseExecutor, plan: Plan) -> dict[str, Any]:
    """Everything in one cluster needs no eigenvectors."""
    storage = executor.job.storage
    for part in range(plan.n_parts):
        labels = np.zeros(len(storage.read_shard(f"linked/{part:05}")["ids"]), np.uint32)
        storage.write_shard(f"spectral/{part:05}", {"labels": labels}, _KEY)
    return {
        "values": [0.0],
        "residuals": [0.0],
        "confirmed": True,
        "converged": True,
        "steps": 0,
        "applications": 0,
        "n_coarse": 0,
    }
