"""What all estimators share: the run, the input, the fitted handle, new points."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _core
from ._input import as_graph, as_points, csr_parts, neighbors_of, symmetric_distances
from ._run import RunArgs, running
from ._saved import save
from .exceptions import DataWarning, MemoryError, NeedsPointsError, TaugraphError

if TYPE_CHECKING:
    from typing_extensions import Self

_KINDS = {"unfinished-training": ConvergenceWarning, "unconfirmed-eigenpairs": ConvergenceWarning, "unconverged-eigenpairs": ConvergenceWarning}


class Estimator(BaseEstimator):
    """The arguments of a run."""

    def __init__(self, *, random_state: Any, n_jobs: int | None, verbose: int, memory_limit: int | None) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit

    def _run(self, seed: Any = None) -> AbstractContextManager[RunArgs]:
        """Only a fit needs a seed; everything else passes one, so that none is drawn from a generator."""
        return running(self.random_state if seed is None else seed, self.n_jobs, self.verbose, self.memory_limit)


class GraphEstimator(Estimator):
    """An estimator that builds a graph of its input.

    After a fit, ``_fitted`` is a handle to the library's result. It is not pickled; the model that places new points is.
    """

    def __init__(self, *, params: Mapping[str, Any] | None, metric: str, **run: Any) -> None:
        super().__init__(**run)
        self.params = params
        self.metric = metric

    def _config(self) -> _core.Config:
        """The configuration given by the arguments."""
        raise NotImplementedError

    def _is_graph(self) -> bool:
        """Whether the input is a matrix of weights."""
        return False

    def _is_precomputed(self) -> bool:
        """Whether the input has a row and a column for every sample."""
        return self._is_graph() or bool(self.metric == "precomputed")

    def _has_points(self) -> bool:
        """Whether new points can be placed."""
        return not self._is_precomputed()

    def _allows_nan(self, config: _core.Config | None = None) -> bool:
        """Whether cells may be missing; ``config`` is the configuration, if it was already made."""
        if self._is_precomputed():
            return False
        config = self._config() if config is None else config
        return bool(config.get("preparation.missing") != "error")

    def _input(self, X: Any, *, reset: bool, labels: Any = None, config: _core.Config | None = None) -> _core.Input:
        """The input in the library's form, checked against the length of its labels. Row-major float64 and float32 tables are not copied."""
        is_precomputed = self._is_precomputed()
        X = as_points(self, X, reset=reset, allow_nan=self._allows_nan(config), is_precomputed=is_precomputed)
        check_consistent_length(X, labels)
        if self._is_graph():
            return _core.Input.graph(as_graph(X))
        if self._is_precomputed():
            if sp.issparse(X):
                return _core.Input.neighbors(*neighbors_of(X))
            return _core.Input.distances(symmetric_distances(X))
        if sp.issparse(X):
            return _core.Input.sparse(csr_parts(X), X.shape[1])
        names = getattr(self, "feature_names_in_", None)
        return _core.Input.points(X, None if names is None else [str(name) for name in names])

    def _keep(self, fitted: Any, given: _core.Input) -> None:
        """Stores a fit and issues the library's warnings about it."""
        self._fitted = fitted
        self._placing = Placing(fitted, given if given.is_sparse() else None)
        for kind, text in fitted.warnings():
            warnings.warn(text, _KINDS.get(kind, DataWarning), stacklevel=3)

    def save(self, path: str | os.PathLike[str]) -> Self:
        """Write the model that places new points to a file, for :func:`taugraph.load` and ``taugraph predict`` on the command line.

        Parameters
        ----------
        path : str or path
            The file, ``model.safetensors`` for example.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        with self._run(seed=0) as run:
            save(self._placing.model(run), path, self, self._config())
        return self

    def _placed(self, X: Any) -> _core.Placement:
        """New points in the graph."""
        check_is_fitted(self)
        with self._run(seed=0) as run:
            model = self._placing.model(run)
            return model.place(self._input(X, reset=False), run)

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {**state, "_fitted": None} if "_fitted" in state else state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        try:
            tags.input_tags.allow_nan = self._allows_nan()
        except TaugraphError:
            # Fit reports what is wrong with the arguments.
            tags.input_tags.allow_nan = False
        return tags


class Placing:
    """The model that places new points, built on first use: models contain a copy of their points, sparse ones as a table."""

    def __init__(self, fitted: Any, sparse: _core.Input | None) -> None:
        self._made: _core.Model | None = None
        self._make: Callable[[RunArgs], _core.Model] | None = lambda run: fitted.model(run, sparse)

    def model(self, run: RunArgs) -> _core.Model:
        """The model."""
        if self._made is None:
            if self._make is None:
                raise NeedsPointsError("placing new points needs the known ones, which were too large to be pickled: fit again")
            self._made = self._make(run)
            self._make = None
        return self._made

    def __getstate__(self) -> dict[str, Any]:
        # If a model cannot be built or is too large, only predictions are lost.
        try:
            with running(0, None, 0, None) as run:
                made = self.model(run)
        except (NeedsPointsError, MemoryError):
            made = None
        return {"_made": made, "_make": None}


def has_points(estimator: GraphEstimator) -> bool:
    """Whether new points can be placed, for scikit-learn's ``available_if``."""
    return estimator._has_points()
