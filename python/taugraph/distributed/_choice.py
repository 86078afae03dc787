"""The clusters of the nodes: by agglomeration, by eigenvectors, or the better cut of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _core
from ..exceptions import EigenNotConvergedError
from ._agglomerate import Agglomerated, Agglomeration, Sums
from ._errors import InputError, counted
from ._executor import BaseExecutor
from ._halo import lend
from ._plan import Plan, plan_of
from ._spectral import spectral
from ._tasks import Context

# Labels of one method, by part, as ``values``.
_BY_EIGENVECTORS = "by_eigenvectors"


def keep_guess(context: Context, manifest: str, part: int, name: str) -> dict[str, int]:
    """The agglomerated clusters, from which the search for eigenvectors begins."""
    context.write(f"agglomerated/{part:05}", {"labels": context.read(f"{name}/{part:05}")["values"]})
    return {}


def lend_spectral(context: Context, manifest: str, part: int, rounds: Mapping[str, Any]) -> dict[str, int]:
    """The clusters by eigenvectors, for the other partitions, too. ``rounds`` tells apart what was found anew."""
    plan = plan_of(context, manifest)
    own, labels = context.read(f"ids/{part:05}")["ids"], context.read(f"spectral/{part:05}")["labels"]
    lend(context, plan, part, _BY_EIGENVECTORS, own, labels)
    return {}


def clusters_of_nodes(
    executor: BaseExecutor, plan: Plan, manifest: str, n_nodes: int, n_clusters: int | None
) -> tuple[str, dict[str, Any]]:
    """The clusters of all nodes: the name of the shards with their labels, and how they came about."""
    agglomeration = Agglomeration(executor, plan, manifest)
    method = plan.config.get("cluster.method")
    found: dict[str, Any] = {"n_clusters": n_clusters}
    cut = None
    if method != "spectral" or n_clusters is None:
        merged = agglomeration.merge(n_nodes, n_clusters)
        found = {"n_clusters": merged.n_clusters, "count": merged.count, "micro_communities": merged.firsts[-1]}
        cut = agglomeration.cut(merged) if method != "spectral" else None
        if cut is None and method == "agglomerate":
            raise InputError(_too_many(merged))
    k = int(found["n_clusters"])
    takes_both = method == "auto" and cut is not None and 2 <= k <= _core.max_spectral_clusters()
    if cut is not None and not takes_both:
        return cut[0], {**found, "method": "agglomerate", **_quality(cut[1])}
    if cut is not None:
        agglomeration.each("agglomerated", "keep_guess", module=__name__, name=cut[0])
    else:
        # Guesses of an earlier run with other parameters would lead to other bits.
        executor.job.storage.delete("agglomerated")
    try:
        pairs = spectral(executor, plan, manifest, n_nodes, k)
    except EigenNotConvergedError as error:
        if cut is None:
            raise
        # After so much work one of two answers is better than none.
        executor.job.progress.note(f"{error}; the agglomerated clusters are the answer")
        return cut[0], {**found, "method": "agglomerate", **_quality(cut[1]), "unconverged": str(error)}
    told = {"steps": pairs["steps"], "kmeans": pairs.get("kmeans", {})}
    agglomeration.each(_BY_EIGENVECTORS, "lend_spectral", module=__name__, rounds=told)
    sums = agglomeration.sums("spectral", _BY_EIGENVECTORS, k)
    found["eigenpairs"] = pairs
    if cut is not None:
        found["choice"] = {"agglomerate": _quality(cut[1]), "spectral": _quality(sums)}
        if _core.prefers_agglomeration(cut[1], sums):
            return cut[0], {**found, "method": "agglomerate", **_quality(cut[1])}
    return _BY_EIGENVECTORS, {**found, "method": "spectral", **_quality(sums)}


def _quality(sums: Sums) -> dict[str, float]:
    return dict(zip(("normalized_cut", "modularity"), _core.cut_quality(sums)))


def _too_many(merged: Agglomerated) -> str:
    asked, there = counted(merged.n_clusters, "cluster"), merged.firsts[-1]
    return f"{asked} are more than the {there} micro-communities that were found: ask for fewer, or set cluster.method = spectral"
