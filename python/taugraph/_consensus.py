"""Consensus clustering, for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import validate_data

from . import _core
from ._base import Estimator
from ._config import whole, whole_or_none


class ConsensusClustering(ClusterMixin, Estimator):
    """Clusters on which many runs of k-means agree.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; derived from the agreement by default.
    clusters : sequence of int, default=range(5, 21)
        Numbers of clusters to try.
    repeats : int, default=3
        Number of runs with each of these.
    random_state, n_jobs, verbose, memory_limit
        Arguments of the run: see :class:`RobustGraph`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each point.
    n_rounds_ : int
        Number of rounds of voting.
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
        super().__init__(random_state=random_state, n_jobs=n_jobs, verbose=verbose, memory_limit=memory_limit)
        self.n_clusters = n_clusters
        self.clusters = clusters
        self.repeats = repeats

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
        n_clusters, repeats = whole_or_none("n_clusters", self.n_clusters), whole("repeats", self.repeats, 1)
        with self._run() as run:
            self.labels_, self.n_rounds_, self.is_clear_ = _core.consensus(X, tried, repeats, n_clusters, run)
        return self
