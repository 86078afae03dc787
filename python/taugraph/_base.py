"""What all estimators share: a graph of points, and a run."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._input import as_points, csr_parts, neighbors_of, symmetric_distances
from ._params import for_few, graph_json, hyphened, preparation_json, to_json
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
        """The graph of points, of a matrix of distances, or of a sparse one of distances to neighbors."""
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
        chosen = set(self.graph_params or {}) & {"candidates", "first_scale", "estimator"}
        if self._is_precomputed() and sp.issparse(X) and not chosen:
            # The neighbors that are given are all that there are.
            params = for_few(params, neighbors_of(X)[0].shape[1] + 1, self.n_neighbors)
        try:
            return self._native_graph(X, to_json(params), run)
        except TooFewPointsError as error:
            # Only what was not asked for is made smaller.
            if chosen or (self.n_neighbors is not None and self.n_neighbors >= error.distinct):
                raise
            return self._native_graph(X, to_json(for_few(params, error.distinct)), run)

    def _native_graph(self, X: Any, params: str, run: RunArgs) -> Any:
        if self._is_precomputed():
            if sp.issparse(X):
                return _core.RobustGraph.from_neighbors(*neighbors_of(X), params, run)
            return _core.RobustGraph.from_distances(symmetric_distances(X), params, run)
        preparation = preparation_json(self.standardize, self.missing, self.pca, sp.issparse(X))
        metric = to_json(self.metric)
        self._column_scales = None
        if sp.issparse(X):
            if hyphened(self.standardize) == "max-abs":
                largest = abs(X).max(axis=0).toarray().ravel()
                self._column_scales = np.where(largest > 0, largest, 1.0)
            return _core.RobustGraph.from_sparse(csr_parts(X), X.shape[1], preparation, metric, params, run)
        return _core.RobustGraph.from_points(X, preparation, metric, params, run)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        return as_points(self, X, reset=reset, precomputed=self._is_precomputed())

    def _keep_model(self, graph: Any, X: Any, **parts: Any) -> None:
        """What new points need. Models of sparse points are made when they are first asked for."""
        is_waiting = sp.issparse(X) and not self._is_precomputed()
        self._make_model: Any = (X, graph, parts) if is_waiting else None
        self._model: Any = None if is_waiting or self._is_precomputed() else graph.model(**parts)

    def _placed(self, X: Any) -> Any:
        """New points in the graph."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        self._finish_model()
        if self._model is None:
            message = "placing new points needs the known ones, but a graph or distances were given, or a pickle had no room for them"
            raise NeedsPointsError(message)
        with self._run() as run:
            return self._model.place(self._dense(X), run)

    def _finish_model(self) -> None:
        waiting = self._make_model
        if waiting is not None:
            known, graph, parts = waiting
            self._model = graph.model(**parts, points=self._dense(known))
            self._make_model = None

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
        dense = np.ascontiguousarray(X.toarray())
        return dense if self._column_scales is None else dense / self._column_scales

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


def knows_points(estimator: Any) -> bool:
    """Whether there is a rule for new points: graphs of points have one."""
    return not estimator._is_precomputed()


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
