"""Spectral embedding that can place new points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if

from . import _core
from ._base import has_points
from ._config import whole
from ._graph import RobustGraph
from ._on_graph import OnGraph


class SpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OnGraph):
    """Embeds points by the smallest eigenvectors of a robust graph, without the constant one.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    graph, n_neighbors, metric
        The graph: see :class:`SpectralClustering`.
    params : dict, optional
        Any other parameter by its path, as in ``{"embedding.laplacian": "symmetric"}``; :func:`taugraph.params` lists them.
    random_state, n_jobs, verbose, memory_limit
        Arguments of the run: see :class:`RobustGraph`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates.
    eigenvalues_ : ndarray of shape (n_components,)
        The eigenvalue of each coordinate.

    Examples
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
        graph: str | RobustGraph = "robust",
        n_neighbors: int | None = None,
        metric: str = "auto",
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
        self.n_components = n_components

    def _own(self) -> dict[str, Any]:
        return {"embedding.n_components": whole("n_components", self.n_components, 1)}

    def fit(self, X: Any, y: Any = None) -> SpectralEmbedding:
        """Embed the points.

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
            fitted = _core.fit_embedding(given, self._config(), run, *self._before(run))
        self.embedding_, self.eigenvalues_ = fitted.coordinates(), fitted.eigenvalues()
        self._n_features_out = self.embedding_.shape[1]
        self._keep(fitted, given)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Embed the points and return their coordinates."""
        return self.fit(X).embedding_

    @available_if(has_points)
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
        placed = self._placed(X).embedding()
        assert placed is not None, "a model of an embedding has one"
        # The first eigenvector of a connected graph carries no information.
        return np.ascontiguousarray(placed[:, 1:])
