"""Spectral clustering that can predict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.metaestimators import available_if

from . import _core
from ._base import GraphEstimator, warn_of_eigenpairs, warn_of_training
from ._baselines import BASELINES, baseline_parts
from ._input import as_graph
from ._params import cluster_json, hyphened, preset_name, whole
from .exceptions import NeedsPointsError


def _knows_points(estimator: SpectralClustering) -> bool:
    """Whether there is a rule for new points: robust graphs of points have one."""
    return not estimator._is_precomputed() and not estimator._is_baseline()


class SpectralClustering(ClusterMixin, GraphEstimator):
    """Clusters of a robust graph.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; found from the eigenvalues by default.
    affinity : str, default="robust"
        The graph: a preset of :class:`RobustGraph` (``robust``, ``local_scaling``, ``paper``, …), a baseline
        (``nearest_neighbors``, ``mutual_neighbors``, ``rbf``, ``path_based``, ``robust_path_based``), or ``precomputed`` if ``X`` is
        a matrix of weights.
    max_clusters : int, default=15
        Most clusters considered when the number is found.
    stability : int, default=0
        Graphs drawn to measure how stable each label is; 0 does not.
    laplacian : {"symmetric", "random-walk", "unnormalized"}, default="symmetric"
        Which Laplacian.
    rows : {"unit-length", "diffusion", "plain"}, default="unit-length"
        What becomes of the eigenvectors' rows.
    components : {"link", "separately", "product", "refuse"}, default="link"
        What becomes of a graph in components.
    solver : {"dense", "lanczos", "shift-invert", "multigrid"}, optional
        Eigensolver; the one that fits the graph by default.
    cluster_params : dict, optional
        Any other parameter of the clustering.
    n_neighbors, metric, standardize, missing, pca, estimator, taus, threshold, search, recall, link_components, graph_params
        Parameters of the graph: see :class:`RobustGraph`.
    random_state, n_jobs, verbose, memory_limit
        Parameters of the run: see :class:`RobustGraph`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each point.
    n_clusters_ : int
        Number of clusters.
    eigenvalues_, gaps_ : ndarray
        Smallest eigenvalues of the Laplacian, and the gaps that the number of clusters is read from.
    embedding_ : ndarray of shape (n_samples, n_clusters_) or None
        Coordinates that were grouped.
    stability_ : ndarray of shape (n_samples,) or None
        Share of drawn graphs in which each point keeps its cluster.
    overall_stability_ : float or None
        Agreement of drawn clusterings with this one.
    n_components_ : int
        Components of the graph.

    LabeledNodes
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
        affinity: str = "robust",
        max_clusters: int = 15,
        stability: int = 0,
        laplacian: str = "symmetric",
        rows: str = "unit-length",
        components: str = "link",
        solver: str | None = None,
        cluster_params: Mapping[str, Any] | None = None,
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        standardize: str = "auto",
        missing: str = "median",
        pca: int | None = None,
        estimator: str | Sequence[str] | Mapping[str, Any] | None = None,
        taus: Sequence[float] | None = None,
        threshold: float | None = None,
        search: str | None = None,
        recall: float | None = None,
        link_components: bool | None = None,
        graph_params: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.max_clusters = max_clusters
        self.stability = stability
        self.laplacian = laplacian
        self.rows = rows
        self.components = components
        self.solver = solver
        self.cluster_params = cluster_params
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.standardize = standardize
        self.missing = missing
        self.pca = pca
        self.estimator = estimator
        self.taus = taus
        self.threshold = threshold
        self.search = search
        self.recall = recall
        self.link_components = link_components
        self.graph_params = graph_params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit

    def _is_precomputed(self) -> bool:
        return self.metric == "precomputed" or self.affinity == "precomputed"

    def _is_baseline(self) -> bool:
        return isinstance(self.affinity, str) and hyphened(self.affinity) in BASELINES

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_baseline()
        return tags

    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Cluster the points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points; distances if ``metric="precomputed"``; weights if ``affinity="precomputed"``.
        y : ignored

        Returns
        -------
        self
        """
        X = self._validated(X, reset=True)
        params = cluster_json(
            self.n_clusters,
            max_clusters=self.max_clusters,
            laplacian=self.laplacian,
            rows=self.rows,
            components=self.components,
            solver=self.solver,
            cluster_params=self.cluster_params,
        )
        draws = whole("stability", self.stability)
        stability: tuple[Any, Any] = (None, None)
        given = self.affinity == "precomputed" or self._is_baseline()
        if not given:
            preset = preset_name(self.affinity, *BASELINES, "precomputed")
        with self._run() as run:
            if given:
                if draws:
                    raise NeedsPointsError("stability draws from the probabilities of edges, which this graph does not have")
                found, self.labels_, self.embedding_ = self._clusters_of_given(X, params, run)
            else:
                graph = self._graph_of(X, preset, run)
                found = graph.cluster(params, run)
                self.labels_, self.embedding_ = found.labels(), found.embedding()
                if draws:
                    overall, _, of_rows = graph.stability(found, draws, run)
                    stability = (overall, of_rows)
        self.overall_stability_, self.stability_ = stability
        self.n_clusters_, self.n_components_ = found.n_clusters(), found.n_components()
        self.eigenvalues_, self.gaps_ = (np.asarray(values) for values in found.eigengap())
        warn_of_eigenpairs(found)
        if given:
            self._model, self._make_model = None, None
        else:
            warn_of_training(json.loads(graph.diagnostics()))
            self._keep_model(graph, X, clusters=found)
        return self

    def _clusters_of_given(self, X: Any, params: str, run: Any) -> tuple[Any, np.ndarray, Any]:
        """Clusters of a matrix of weights, or of a baseline's graph over the distinct points."""
        if self.affinity == "precomputed":
            parts, n = as_graph(X)
            nodes = np.arange(n)
        else:
            parts, nodes = baseline_parts(self, X, run)
        found = _core.cluster_graph(parts, params, run)
        embedding = found.embedding()
        return found, found.labels()[nodes], None if embedding is None else embedding[nodes]

    @available_if(_knows_points)
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
        return np.asarray(self._placed(X).clusters()[0])
