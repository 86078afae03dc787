"""Spectral embedding that can place new points."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if

from . import _core
from ._base import GraphEstimator, knows_points, warn_of_eigenpairs, warn_of_training
from ._input import as_graph
from ._params import hyphened, preset_name, to_json, whole
from .exceptions import ParameterError


class SpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator):
    """Points in the smallest eigenvectors of a robust graph, the constant one left out.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    affinity : str, default="robust"
        A preset of :class:`RobustGraph`, or ``precomputed`` if ``X`` is a matrix of weights.
    laplacian : {"random-walk", "symmetric", "unnormalized"}, default="random-walk"
        Which Laplacian.
    rows : {"plain", "diffusion", "unit-length"}, default="plain"
        What becomes of the eigenvectors' rows.
    n_neighbors, metric, standardize, missing, pca, estimator, taus, threshold, search, recall, link_components, graph_params
        Parameters of the graph: see :class:`RobustGraph`.
    random_state, n_jobs, verbose, memory_limit
        Parameters of the run: see :class:`RobustGraph`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates.
    eigenvalues_ : ndarray of shape (n_components,)
        The eigenvalue behind each.

    LabeledNodes
    --------
    >>> import taugraph
    >>> X, y = taugraph.make_pinwheel(250, random_state=1)
    >>> embedding = taugraph.SpectralEmbedding(n_components=3).fit(X)
    >>> embedding.embedding_.shape, embedding.transform(X[:4] + 0.01).shape
    ((250, 3), (4, 3))
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: str = "robust",
        laplacian: str = "random-walk",
        rows: str = "plain",
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
        self.n_components = n_components
        self.affinity = affinity
        self.laplacian = laplacian
        self.rows = rows
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

    def fit(self, X: Any, y: Any = None) -> SpectralEmbedding:
        """Embed the points.

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
        laplacian, rows = to_json(hyphened(self.laplacian)), to_json(hyphened(self.rows))
        # The first eigenvector of a connected graph says nothing.
        n_columns = whole("n_components", self.n_components, 1) + 1
        if n_columns > X.shape[0]:
            raise ParameterError(f"n_components = {self.n_components}: must be below the number of points, {X.shape[0]}")
        with self._run() as run:
            if self.affinity == "precomputed":
                parts, _ = as_graph(X)
                found = _core.embed_graph(parts, n_columns, laplacian, rows, run)
                self._model, self._make_model = None, None
            else:
                graph = self._graph_of(X, preset_name(self.affinity, "precomputed"), run)
                found = graph.embed(n_columns, laplacian, rows, run)
                warn_of_training(json.loads(graph.diagnostics()))
                self._keep_model(graph, X, embedding=found)
        warn_of_eigenpairs(found)
        self.embedding_ = np.ascontiguousarray(found.coordinates()[:, 1:])
        self.eigenvalues_ = np.asarray(found.eigenvalues()[1:])
        self._n_features_out = self.embedding_.shape[1]
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Embed the points and return their coordinates."""
        return self.fit(X).embedding_

    @available_if(knows_points)
    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of new points, by the Nyström extension.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
        """
        return np.ascontiguousarray(self._placed(X).embedding()[:, 1:])
