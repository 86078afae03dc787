"""Clustering that finds the number of clusters, says how sure it is, and can predict."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import has_points
from ._config import whole, whole_or_none
from ._graph import RobustGraph
from ._input import as_pairs, as_points, csr_parts
from ._on_graph import OnGraph
from ._report import Reported
from .exceptions import NeedsPointsError, ParameterError


class SpectralClustering(ClusterMixin, Reported, OnGraph):
    """Clusters of a robust graph: spectral clustering, agglomeration, or the better of both.

    Parameters
    ----------
    n_clusters : int or "auto", optional
        Number of clusters. By default, and with ``"auto"``, it is found: one, if nothing is distinguishable from a single group.
    method : {"auto", "spectral", "agglomerate"}, default="auto"
        k-means on the eigenvectors of the graph's Laplacian; micro-communities merged by average linkage; or both, of which the better
        cut of the graph is taken (agglomeration alone above 50 clusters).
    min_clusters, max_clusters : int, optional
        Limits of the number if it is found.
    outliers : {None, "auto"} or float, optional
        Rows that get the label -1 because they lie apart: none, those whose outlier score stands out, or this share of all rows.
    graph : str or RobustGraph, default="robust"
        The graph: a preset of :class:`RobustGraph` (``robust``, ``local-scaling``, ``paper``, …), a baseline
        (``nearest-neighbors``, ``mutual-neighbors``, ``rbf``, ``path-based``, ``robust-path-based``), ``precomputed`` if ``X`` is a
        matrix of weights, or a :class:`RobustGraph` with all its arguments. Its ``random_state`` is used for the graph; its ``n_jobs``,
        ``verbose`` and ``memory_limit`` are not.
    n_neighbors, metric
        As in :class:`RobustGraph`; if given, they override those of ``graph``.
    stability : int, default=0
        Number of random graphs on which the stability of each label is measured; 0 skips the measurement.
    params : dict, optional
        Any other parameter by its path, as in ``{"graph.threshold": 0.4, "cluster.kmeans.restarts": 3}``; :func:`taugraph.params` lists
        them.
    random_state, n_jobs, verbose, memory_limit
        Arguments of the run: see :class:`RobustGraph`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each point; -1 for outliers, if ``outliers`` asks for them.
    n_clusters_ : int
        Number of clusters.
    method_ : str
        The method that the labels come from, ``"spectral"`` or ``"agglomerate"``.
    choice_ : dict or None
        What the choice between both methods was based on: ``ratio``, the normalized cut of agglomeration over that of spectral
        clustering, ``modularity_agglomerated`` and ``modularity_spectral``. None if only one ran.
    evidence_ : str or None
        How many groups there are and how sure that is, in a sentence; None if the number was given.
    count_ : dict or None
        The number that the boundaries between groups suggest: ``n_clusters``, ``resistance`` of the weakest boundary, ``evidence``
        (none, weak, moderate, strong) and ``alternatives``, a list of dicts with ``n_clusters`` and ``resistance``. None if the number
        was given.
    layers_ : list of ndarray of shape (n_samples,)
        Nested clusters from coarse to fine; empty without evidence for more than one group, or if nothing was agglomerated.
    layer_resistances_ : ndarray of shape (n_layers,)
        Resistance of the weakest boundary in each layer.
    memberships_ : ndarray of shape (n_samples, n_clusters_)
        Strength of each point's membership in each cluster; rows sum to 1. Computed on first use.
    outlier_scores_ : ndarray of shape (n_samples,) or None
        About 1 among its like, higher the farther apart; None if the graph was given.
    merge_tree_ : dict or None
        ``micro_communities`` of each point, and the ``merges`` in order: pairs of groups, where the m-th merge makes the group with the
        number of micro-communities + m, with ``linkage``, ``resistance`` and ``size`` (distinct points) of each. None if nothing was
        agglomerated.
    eigenvalues_, gaps_ : ndarray
        Smallest eigenvalues of the Laplacian, and the gaps after them; empty without eigenvectors.
    embedding_ : ndarray of shape (n_samples, n_clusters_) or None
        Coordinates that were clustered; None without eigenvectors.
    stability_ : ndarray of shape (n_samples,) or None
        Share of the random graphs in which each point keeps its cluster.
    cluster_stabilities_ : ndarray of shape (n_clusters_,) or None
        The mean of that over the points of each cluster.
    overall_stability_ : float or None
        Mean adjusted Rand index between this clustering and those of the random graphs.
    n_components_ : int
        Connected components of the graph.

    Examples
    --------
    >>> import taugraph
    >>> X, y = taugraph.make_spirals(300, random_state=1)
    >>> clusters = taugraph.SpectralClustering(n_clusters=2).fit(X)
    >>> float(taugraph.metrics.nmi(y, clusters.labels_))
    1.0
    >>> bool((clusters.predict(X[:5]) == clusters.labels_[:5]).all())
    True
    """

    def __init__(
        self,
        n_clusters: int | str | None = None,
        *,
        method: str = "auto",
        min_clusters: int | None = None,
        max_clusters: int | None = None,
        outliers: float | str | None = None,
        graph: str | RobustGraph = "robust",
        n_neighbors: int | None = None,
        metric: str = "auto",
        stability: int = 0,
        params: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
    ) -> None:
        super().__init__(
            graph=graph,
            n_neighbors=n_neighbors,
            metric=metric,
            params=params,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            memory_limit=memory_limit,
        )
        self.n_clusters = n_clusters
        self.method = method
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters
        self.outliers = outliers
        self.stability = stability

    def _own(self) -> dict[str, Any]:
        is_found = isinstance(self.n_clusters, str) and self.n_clusters == "auto"
        return {
            "cluster.n_clusters": None if is_found else whole_or_none("n_clusters", self.n_clusters),
            "cluster.method": self.method,
            "cluster.min_clusters": whole_or_none("min_clusters", self.min_clusters),
            "cluster.max_clusters": whole_or_none("max_clusters", self.max_clusters, 2),
            "cluster.outliers": _outliers(self.outliers),
            "cluster.stability": whole("stability", self.stability),
        }

    def fit(self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None) -> SpectralClustering:
        """Cluster the points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points; distances if ``metric="precomputed"``; weights if ``graph="precomputed"``.
        y : ignored
        must_link, cannot_link : array-like of shape (n_pairs, 2), optional
            Pairs of row numbers that must, or must not, share a cluster. Such clusters are agglomerated.

        Returns
        -------
        self
        """
        config = self._config()
        given = self._input(X, reset=True, config=config)
        pairs = as_pairs("must_link", must_link), as_pairs("cannot_link", cannot_link)
        with self._run() as run:
            fitted = _core.fit_clusters(given, config, run, *self._before(run), *pairs)
        self.labels_, self.embedding_ = fitted.labels(), fitted.embedding()
        self.n_clusters_, self.n_components_ = fitted.n_clusters(), fitted.n_components()
        self.method_, self.choice_ = fitted.method(), _choice(fitted)
        self.evidence_, self.count_ = fitted.evidence(), _count(fitted)
        layers = fitted.layers()
        self.layers_ = [labels for labels, _ in layers]
        self.layer_resistances_ = np.array([resistance for _, resistance in layers], dtype=np.float64)
        self.outlier_scores_, self.merge_tree_ = fitted.outlier_scores(), _merge_tree(fitted)
        self.eigenvalues_, self.gaps_ = fitted.eigengap()
        measured = fitted.stability()
        self.overall_stability_: float | None = None if measured is None else measured[0]
        self.stability_: np.ndarray | None = None if measured is None else measured[2]
        self.cluster_stabilities_: np.ndarray | None = None if measured is None else measured[3]
        self._memberships: np.ndarray | None = None
        self._keep(fitted, given)
        return self

    @property
    def memberships_(self) -> np.ndarray:
        """Strength of each point's membership in each cluster."""
        check_is_fitted(self)
        if self._memberships is None:
            self._memberships = self._handle("memberships_").memberships()
        return self._memberships

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """What each cluster is: its most typical rows, the columns that set it apart, and a rule of at most two conditions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_columns)
            The table that was clustered, or other columns of the same rows. NaN is a missing cell.

        Returns
        -------
        list of dict
            For each cluster its ``size``; ``typical_rows``, the numbers of the rows that are tied to it most; ``columns``, at most five
            dicts with ``column`` (the name, or the number if there are no names), ``mean`` inside, ``mean_outside`` and
            ``standardized_difference``; and ``rule``, a dict with ``conditions`` (``column``, ``operator``, ``threshold``),
            ``precision`` and ``recall``, or None for a single cluster. Outliers are counted in the cluster that they would belong to.
        """
        check_is_fitted(self)
        fitted, table = self._handle("explain"), BaseEstimator()
        X = as_points(table, X, reset=True, allow_nan=True)
        given = _core.Input.sparse(csr_parts(X), X.shape[1]) if sp.issparse(X) else _core.Input.points(X)
        with self._run(seed=0) as run:
            found = fitted.explain(given, run)
        names = getattr(table, "feature_names_in_", None)
        if names is not None:
            for cluster in found:
                conditions = cluster["rule"]["conditions"] if cluster["rule"] else []
                for one in [*cluster["columns"], *conditions]:
                    one["column"] = names[one["column"]]
        return found

    def agreement_with_local_scaling(self) -> float | None:
        """Adjusted Rand index between these clusters and those of plain local scaling with the same number of clusters.

        Near 1 both tell the same story; where it is low, the result depends on the choice between them. None without points, or above
        2,000 distinct ones.
        """
        check_is_fitted(self)
        with self._run(seed=0) as run:
            return self._handle("agreement_with_local_scaling").agreement_with_local_scaling(run)

    def _handle(self, what: str) -> _core.FittedClusters:
        """The library's result."""
        fitted: _core.FittedClusters | None = self._fitted
        if fitted is None:
            raise NeedsPointsError(f"{what} needs the fit itself, which a pickle does not contain: fit again")
        return fitted

    @available_if(has_points)
    def predict(self, X: Any) -> np.ndarray:
        """Cluster of new points: the nearest center in the extended embedding, or without eigenvectors the vote of the neighbors.

        Outliers are placed, too: :meth:`outlier_scores` tells them.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        placed = self._placed(X).clusters()
        assert placed is not None, "a model of clusters has clusters"
        return placed[0]

    @available_if(has_points)
    def predict_membership(self, X: Any) -> np.ndarray:
        """Strength of the membership of new points in each cluster: the shares of their neighbors' votes.

        Known points get what the fit gave them; above 100 clusters they belong to their own cluster alone.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_queries, n_clusters_)
            Rows sum to 1.
        """
        placed = self._placed(X).memberships()
        assert placed is not None, "a model of clusters has clusters"
        return placed

    @available_if(has_points)
    def predict_layers(self, X: Any) -> np.ndarray:
        """Cluster of new points in each layer, by the votes of their neighbors.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_queries, n_layers)
            From coarse to fine, as ``layers_``.
        """
        placed = self._placed(X).layers()
        assert placed is not None, "a model of clusters has clusters"
        return placed

    @available_if(has_points)
    def outlier_scores(self, X: Any) -> np.ndarray:
        """Outlier score of new points: about 1 among its like, higher the farther apart.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        return self._placed(X).outlier_scores()


def _outliers(given: Any) -> Any:
    """The parameter of the library."""
    if given is None or (isinstance(given, str) and given == "auto"):
        return given
    if isinstance(given, numbers.Real) and not isinstance(given, bool) and 0 <= float(given) <= 1:
        return {"kind": "share", "share": float(given)}
    raise ParameterError(f'outliers = {given!r}: must be None, "auto" or a share between 0 and 1')


def _choice(fitted: _core.FittedClusters) -> dict[str, float] | None:
    found = fitted.choice()
    return None if found is None else dict(zip(("ratio", "modularity_agglomerated", "modularity_spectral"), found, strict=True))


def _count(fitted: _core.FittedClusters) -> dict[str, Any] | None:
    found = fitted.count()
    if found is None:
        return None
    n_clusters, resistance, evidence, others = found
    alternatives = [{"n_clusters": other, "resistance": weakest} for other, weakest in others]
    return {"n_clusters": n_clusters, "resistance": resistance, "evidence": evidence, "alternatives": alternatives}


def _merge_tree(fitted: _core.FittedClusters) -> dict[str, np.ndarray] | None:
    found = fitted.merge_tree()
    return None if found is None else dict(zip(("micro_communities", "merges", "linkage", "resistance", "size"), found, strict=True))
