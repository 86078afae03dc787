"""The robust graph as a transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from . import _core
from ._report import Reported
from ._config import config, estimator, neighbors, whole_or_none
from ._input import as_csr


class RobustGraph(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Reported):
    """Builds a sparse graph of the points that is robust to noise and uneven density.

    Parameters
    ----------
    preset : str, default="robust"
        Named set of parameters: ``robust``, ``robust-mean``, ``paper``, ``paper-literal``, ``local-scaling``, ``constant-control`` or
        ``threshold-control``.
    n_neighbors : int, optional
        Number of neighbors of each point that are candidates for edges; the preset's by default, fewer if there are few points.
    metric : {"auto", "euclidean", "manhattan", "cosine", "precomputed"}, default="auto"
        Distance; ``auto`` is ``euclidean``, but ``cosine`` for sparse matrices without all-zero rows. With ``precomputed``, ``X`` is a matrix of
        distances, or a sparse one of distances to the same number of neighbors in every row.
    standardize : {"auto", "zscore", "minmax", "robust", "max-abs", "none"}, default="auto"
        Scaling of the columns; ``auto`` is ``zscore``, but ``none`` for sparse matrices.
    missing : {"median", "error"}, default="median"
        Treatment of NaN.
    pca : int, optional
        Number of principal components to keep; all columns by default.
    estimator : str or list of str or dict, optional
        How the conditional quantiles are estimated: a name, several whose persistences are multiplied, or a dict of ``kind`` and its
        parameters.
    params : dict, optional
        Any other parameter by its path, as in ``{"graph.threshold": 0.4}``; :func:`taugraph.params` lists them.
    random_state : int, RandomState, Generator or None, default=0
        Seed. The same number gives the same bits on any number of threads.
    n_jobs : int, optional
        Number of threads; all cores by default.
    verbose : int, default=0
        Whether to show progress bars, with tqdm if it is installed.
    memory_limit : int, optional
        Bytes that may be used; the available memory by default.

    Attributes
    ----------
    graph_ : scipy.sparse.csr_matrix of shape (n_samples, n_samples)
        Weights, symmetric.
    local_scales_, first_scales_ : ndarray of shape (n_samples,)
        Robust scales, and the first scales that they are computed from.
    edges_ : ndarray of shape (n_edges, 2)
        Candidate edges; among equal rows, only the first has edges.
    edge_probabilities_, edge_persistence_, edge_distances_ : ndarray of shape (n_edges,)
        Probability, persistence and distance of each edge.
    decay_ : ndarray of shape (n_taus, 2)
        Each quantile and the number of edges that persist at it.
    diagnostics_ : dict
        Components, also of the edges that persist at each quantile (``components_by_tau``), links, recall of the search, training
        history (losses of each quantile model), crossing rate of the quantiles, preparation.
    n_features_in_ : int
        Columns seen in fit.

    Examples
    --------
    >>> import taugraph
    >>> X, y = taugraph.make_spirals(200, random_state=1)
    >>> graph = taugraph.RobustGraph().fit(X)
    >>> graph.graph_.shape
    (200, 200)
    >>> graph.diagnostics_["n_distinct"], len(graph.decay_)
    (200, 9)
    """

    def __init__(
        self,
        preset: str = "robust",
        *,
        n_neighbors: int | None = None,
        metric: str = "auto",
        standardize: str = "auto",
        missing: str = "median",
        pca: int | None = None,
        estimator: str | Sequence[str] | Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
    ) -> None:
        super().__init__(
            metric=metric, params=params, random_state=random_state, n_jobs=n_jobs, verbose=verbose, memory_limit=memory_limit
        )
        self.preset = preset
        self.n_neighbors = n_neighbors
        self.standardize = standardize
        self.missing = missing
        self.pca = pca
        self.estimator = estimator

    def _own(self) -> dict[str, Any]:
        """Paths and values that a subclass sets differently."""
        return {"graph.candidates": neighbors(self.n_neighbors)}

    def _config(self) -> _core.Config:
        short = {
            "metric": None if self._is_precomputed() else self.metric,
            "preparation.standardize": self.standardize,
            "preparation.missing": self.missing,
            "preparation.pca": whole_or_none("pca", self.pca),
            "graph.estimator": estimator(self.estimator),
            **self._own(),
        }
        return config(self.preset, short, self.params)

    def fit(self, X: Any, y: Any = None) -> RobustGraph:
        """Build the graph of the points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points, or distances if ``metric="precomputed"``.
        y : ignored

        Returns
        -------
        self
        """
        given = self._input(X, reset=True)
        with self._run() as run:
            fitted = _core.fit_graph(given, self._config(), run)
        self.local_scales_, self.first_scales_ = fitted.local_scales(), fitted.first_scales()
        n = len(self.local_scales_)
        self.graph_ = as_csr(fitted.graph(), (n, n))
        self.edges_, self.edge_probabilities_, self.edge_persistence_, self.edge_distances_ = fitted.edges()
        self.decay_ = np.asarray(fitted.decay(), dtype=float).reshape(-1, 2)
        self.diagnostics_ = fitted.diagnostics()
        self._n_features_out = n
        self._keep(fitted, given)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Build the graph and return it."""
        return self.fit(X).graph_

    def transform(self, X: Any) -> sp.csr_matrix:
        """Weights between the given points and those of the graph.

        A point equal to a known one gets that one's row (the first, if several are equal). Every other point is placed by the same rules
        as the known ones, without changing them; among equal points it gets weights to the first only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Points.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_queries, n_samples)
        """
        placed = self._placed(X)
        same = placed.same_as()
        new = as_csr(placed.graph(), (len(same), self.graph_.shape[0]))
        if (same < 0).all():
            return new
        known = self.graph_[np.maximum(same, 0)]
        is_known = sp.diags_array((same >= 0).astype(float))
        is_new = sp.diags_array((same < 0).astype(float))
        both = sp.csr_matrix(is_known @ known + is_new @ new)
        both.eliminate_zeros()
        both.sort_indices()
        return both
