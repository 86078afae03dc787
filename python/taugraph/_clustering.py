"""Spectral clustering that can predict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.metaestimators import available_if

from . import _core
from ._base import has_points
from ._config import whole, whole_or_none
from ._graph import RobustGraph
from ._on_graph import OnGraph
from ._report import Reported


class SpectralClustering(ClusterMixin, Reported, OnGraph):
    """Spectral clustering of a robust graph.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; chosen by the eigengap by default.
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
        Cluster of each point.
    n_clusters_ : int
        Number of clusters.
    eigenvalues_, gaps_ : ndarray
        Smallest eigenvalues of the Laplacian, and the gaps that determine the number of clusters.
    embedding_ : ndarray of shape (n_samples, n_clusters_) or None
        Coordinates that were clustered.
    stability_ : ndarray of shape (n_samples,) or None
        Share of the random graphs in which each point keeps its cluster.
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
        n_clusters: int | None = None,
        *,
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
        self.stability = stability

    def _own(self) -> dict[str, Any]:
        return {
            "cluster.n_clusters": whole_or_none("n_clusters", self.n_clusters),
            "cluster.stability": whole("stability", self.stability),
        }

    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Cluster the points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points; distances if ``metric="precomputed"``; weights if ``graph="precomputed"``.
        y : ignored

        Returns
        -------
        self
        """
        given = self._input(X, reset=True)
        with self._run() as run:
            fitted = _core.fit_clusters(given, self._config(), run, *self._before(run))
        self.labels_, self.embedding_ = fitted.labels(), fitted.embedding()
        self.n_clusters_, self.n_components_ = fitted.n_clusters(), fitted.n_components()
        self.eigenvalues_, self.gaps_ = fitted.eigengap()
        measured = fitted.stability()
        self.overall_stability_: float | None = None if measured is None else measured[0]
        self.stability_: np.ndarray | None = None if measured is None else measured[2]
        self._keep(fitted, given)
        return self

    @available_if(has_points)
    def predict(self, X: Any) -> np.ndarray:
        """Cluster of new points: the nearest center in the extended embedding.

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
