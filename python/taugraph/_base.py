"""What all estimators share: a graph of points, and a run."""

from __future__ import annotations

import json
import warnings
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._input import as_points, csr_parts
from ._params import for_few, graph_json, preparation_json
from ._run import RunArgs, running
from .exceptions import MemoryError, NeedsPointsError, TooFewPointsError


class GraphEstimator(BaseEstimator):
    """An estimator that makes a robust graph of its points.

    Subclasses have the parameters of a graph: ``n_neighbors``, ``metric``, ``standardize``, ``missing``, ``pca``,
    ``estimator``, ``taus``, ``threshold``, ``search``, ``recall``, ``link_components``, ``graph_params``; and those of a run:
    ``random_state``, ``n_jobs``, ``verbose``, ``memory_limit``.
    """

    def _run(self) -> AbstractContextManager[RunArgs]:
        return running(self.random_state, self.n_jobs, self.verbose, self.memory_limit)

    def _is_precomputed(self) -> bool:
        return bool(self.metric == "precomputed")

    def _graph_of(self, X: Any, preset: str, run: RunArgs) -> Any:
        """The graph of points, of a matrix of distances, or of a sparse one of distances to neighbours."""
        params = graph_json(
            preset,
            n_neighbors=self.n_neighbors,
            estimator=self.estimator,
            taus=self.taus,
            threshold=self.threshold,
            search=self.search,
            recall=self.recall,
            link_components=self.link_components,
            graph_params=self.graph_params,
        )
        try:
            return self._native_graph(X, json.dumps(params), run)
        except TooFewPointsError:
            if self.n_neighbors is not None:
                raise
            distinct = len({row.tobytes() for row in (X.toarray() if sp.issparse(X) else X) + 0.0})
            return self._native_graph(X, json.dumps(for_few(params, distinct)), run)

    def _native_graph(self, X: Any, params: str, run: RunArgs) -> Any:
        if self._is_precomputed():
            if sp.issparse(X):
                return _core.RobustGraph.from_neighbors(*neighbors_of(X), params, run)
            return _core.RobustGraph.from_distances(symmetric_distances(X), params, run)
        preparation = preparation_json(self.standardize, self.missing, self.pca, sp.issparse(X))
        metric = json.dumps(self.metric)
        if sp.issparse(X):
            return _core.RobustGraph.from_sparse(csr_parts(X), X.shape[1], preparation, metric, params, run)
        return _core.RobustGraph.from_points(X, preparation, metric, params, run)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        return as_points(self, X, reset=reset, precomputed=self._is_precomputed())

    def _keep_model(self, graph: Any, X: Any, **parts: Any) -> None:
        """What new points need. Models of sparse points are made when they are first asked for."""
        self._model: Any = None
        self._make_model: Any = None
        if self._is_precomputed():
            return
        if sp.issparse(X):
            self._make_model = (X, graph, parts)
        else:
            self._model = graph.model(**parts)

    def _placed(self, X: Any) -> Any:
        """New points in the graph."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        self._finish_model()
        if self._model is None:
            raise NeedsPointsError("placing new points needs the points themselves, but the graph or distances were given")
        with self._run() as run:
            return self._model.place(self._dense(X), run)

    def _finish_model(self) -> None:
        if self._make_model is not None:
            known, graph, parts = self._make_model
            self._model, self._make_model = graph.model(**parts, points=self._dense(known)), None

    def _dense(self, X: Any) -> np.ndarray:
        """Points in rows, as models have them."""
        if not sp.issparse(X):
            return np.asarray(X)
        needed = 8 * X.shape[0] * X.shape[1]
        available = self.memory_limit if self.memory_limit is not None else _core.available_memory()
        if available is not None and needed > available:
            raise MemoryError(
                f"models have dense points: {needed / 1e9:.1f} GB for these, but {available / 1e9:.1f} GB are available; "
                "reduce the columns first, for example by sklearn.decomposition.TruncatedSVD"
            )
        return np.ascontiguousarray(X.toarray())

    def __getstate__(self) -> Any:
        # A graph that waits for its model cannot be pickled, the model can; where it does not fit, predictions are given up.
        if getattr(self, "_make_model", None) is not None:
            try:
                self._finish_model()
            except MemoryError:
                return {**super().__getstate__(), "_make_model": None}
        return super().__getstate__()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.pairwise = self._is_precomputed()
        return tags


def symmetric_distances(distances: np.ndarray) -> np.ndarray:
    """The same without differences of rounding; larger ones are left to be refused."""
    difference = np.abs(distances - distances.T).max()
    if 0 < difference <= 1e-10 * np.abs(distances).max():
        return np.ascontiguousarray((distances + distances.T) / 2)
    return distances


def neighbors_of(distances: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ids and distances, nearest first, from a sparse matrix with as many neighbours in every row."""
    matrix = sp.csr_array(distances, copy=True)
    matrix.setdiag(-1.0)
    matrix.sort_indices()
    keep = matrix.data >= 0
    counts = np.add.reduceat(keep, matrix.indptr[:-1]) if matrix.nnz else np.zeros(matrix.shape[0], int)
    if len(set(counts.tolist())) != 1:
        raise ValueError(
            "a sparse matrix of distances must have as many neighbours in every row; make it with "
            'taugraph.knn_graph(X, mode="distance") or sklearn.neighbors.kneighbors_graph'
        )
    k = int(counts[0])
    ids = matrix.indices[keep].reshape(-1, k).astype(np.uint32)
    values = matrix.data[keep].reshape(-1, k)
    order = np.lexsort((ids, values), axis=1)
    return np.ascontiguousarray(np.take_along_axis(ids, order, 1)), np.ascontiguousarray(np.take_along_axis(values, order, 1))


def warn_of_training(diagnostics: dict[str, Any]) -> None:
    """Models that stopped because their epochs were used up."""
    late = [training["tau"] for training in diagnostics["training"] if training["stop"] == "iteration-limit"]
    if late:
        message = f"training used up its epochs at tau = {late}: raise epochs in graph_params, or loosen the tolerance"
        warnings.warn(message, ConvergenceWarning, stacklevel=3)


def warn_of_eigenpairs(found: Any) -> None:
    """Eigenpairs of which a smaller one may have been missed."""
    if not found.is_confirmed():
        message = "the eigenpairs are within the tolerance, but a smaller one may have been missed"
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
