"""What our method is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from . import _core
from ._params import to_json, whole
from ._run import running
from .exceptions import ParameterError

BASELINES = ("nearest-neighbors", "mutual-neighbors", "rbf", "path-based", "robust-path-based")
"""Graphs of :class:`SpectralClustering` that know nothing of quantiles."""


def scaled(X: np.ndarray, standardize: str) -> np.ndarray:
    """Columns as the other graphs have them."""
    if standardize in ("auto", "zscore"):
        deviation = X.std(axis=0)
        return np.ascontiguousarray((X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1))
    if standardize == "none":
        return X
    raise ValueError(f"standardize = {standardize!r}: baselines know auto, zscore and none")


def baseline_parts(estimator: Any, X: Any, run: Any) -> tuple[Any, np.ndarray]:
    """A baseline's graph over the distinct points, and the distinct point of each row."""
    if sp.issparse(X):
        raise TypeError("baselines need dense points, not a sparse matrix")
    if np.isnan(X).any():
        raise ValueError("Input X contains NaN: baselines fill no missing cells")
    kind = estimator.affinity.replace("_", "-")
    unused = ("pca", "estimator", "taus", "threshold", "search", "recall", "link_components", "graph_params")
    given = [name for name in unused if getattr(estimator, name) is not None]
    if given:
        raise ParameterError(f"{given[0]} has no effect on affinity={estimator.affinity!r}")
    points = scaled(X, estimator.standardize)
    if estimator.n_neighbors is None:
        k = max(min(10, len(np.unique(points, axis=0)) - 1), 1)
    else:
        k = whole("n_neighbors", estimator.n_neighbors, 1)
    return _core.baseline_graph(points, to_json(estimator.metric), kind, k, None, run)


class ConsensusClustering(ClusterMixin, BaseEstimator):
    """Clusters on which many runs of k-means agree.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; found from the agreement by default.
    clusters : sequence of int, default=range(5, 21)
        Numbers of clusters that are tried.
    repeats : int, default=3
        Runs with each number.
    random_state, n_jobs, verbose, memory_limit
        Parameters of the run: see :class:`RobustGraph`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each point.
    n_rounds_ : int
        Rounds of voting.
    is_clear_ : bool
        Whether the number of groups was clear at the end.

    Examples
    --------
    >>> import taugraph
    >>> X, y = taugraph.make_blobs(120, n_columns=3, n_blobs=3, random_state=1)
    >>> clusters = taugraph.ConsensusClustering(n_clusters=3).fit(X)
    >>> len(set(clusters.labels_.tolist()))
    3
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        clusters: Sequence[int] = tuple(range(5, 21)),
        repeats: int = 3,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.clusters = clusters
        self.repeats = repeats
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: Any = None) -> ConsensusClustering:
        """Cluster the points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        tried = [k for k in self.clusters if k < len(np.unique(X, axis=0))] or [1]
        with running(self.random_state, self.n_jobs, self.verbose, self.memory_limit) as run:
            n_clusters = None if self.n_clusters is None else whole("n_clusters", self.n_clusters, 1)
            found = _core.consensus(scaled(X, "zscore"), tried, whole("repeats", self.repeats, 1), n_clusters, run)
        self.labels_, self.n_rounds_, self.is_clear_ = found
        return self
