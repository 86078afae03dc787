"""What our method is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from . import _core
from ._params import hyphened, preparation_json, to_json, whole
from ._run import running
from .exceptions import ParameterError, TooFewPointsError

BASELINES = ("nearest-neighbors", "mutual-neighbors", "rbf", "path-based", "robust-path-based")
"""Graphs of :class:`SpectralClustering` that know nothing of quantiles."""


def baseline_parts(estimator: Any, X: Any, run: Any) -> tuple[Any, np.ndarray]:
    """A baseline's graph over the distinct points, and the distinct point of each row."""
    if sp.issparse(X):
        raise TypeError("baselines need dense points, not a sparse matrix")
    unused = ("estimator", "taus", "threshold", "search", "recall", "link_components", "graph_params")
    given = [name for name in unused if getattr(estimator, name) is not None]
    if given:
        raise ParameterError(f"{given[0]} has no effect on affinity={estimator.affinity!r}")
    preparation = preparation_json(estimator.standardize, estimator.missing, estimator.pca, is_sparse=False)
    k = 10 if estimator.n_neighbors is None else whole("n_neighbors", estimator.n_neighbors, 1)
    metric, kind = to_json(estimator.metric), hyphened(estimator.affinity)
    try:
        return _core.baseline_graph(X, preparation, metric, kind, k, run)
    except TooFewPointsError as error:
        # Only what was not asked for is made smaller.
        if estimator.n_neighbors is not None or error.distinct < 2:
            raise
        return _core.baseline_graph(X, preparation, metric, kind, error.distinct - 1, run)


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

    LabeledNodes
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
            found = _core.consensus(X, tried, whole("repeats", self.repeats, 1), n_clusters, run)
        self.labels_, self.n_rounds_, self.is_clear_ = found
        return self
