"""Neighbors by the robust graph, for estimators that take a matrix of distances instead of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ._config import config, whole
from ._graph import RobustGraph
from .exceptions import ParameterError


class RobustNeighbors(RobustGraph):
    """Transforms points into a sparse matrix of robust distances to their nearest neighbors.

    It takes the place of scikit-learn's ``KNeighborsTransformer`` in a pipeline, before any estimator that accepts a sparse matrix of
    distances (``metric="precomputed"``), and in ``scanpy.pp.neighbors(adata, transformer=RobustNeighbors())``.

    The robust distance of two points is √(−ln w), where w = p·exp(−d²/(σ_i·σ_j)) is the expected weight of an edge that is there with
    probability p. A certain edge has its distance in units of the local scales, so that 1 is typical of neighbors wherever they are; the
    less certain an edge is, the longer it gets. Presets whose weights do not depend on p give plain distances in units of the local scales.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors of each point, chosen among the candidate edges of the graph; fewer if there are few points. With
        ``mode="distance"``, rows have one entry more: each point itself, as in scikit-learn.
    mode : {"distance", "connectivity"}, default="distance"
        Robust distances, or ones as in scikit-learn; weights are what :class:`RobustGraph` returns.
    preset, metric, missing, pca, estimator
        The graph: see :class:`RobustGraph`.
    standardize : {"auto", "zscore", "minmax", "robust", "max-abs", "none"}, default="none"
        Scaling of the columns; none by default, as in scikit-learn and unlike :class:`RobustGraph`: in a pipeline it is a step of its own.
    params : dict, optional
        Any other parameter by its path, as in ``{"graph.threshold": 0.4}``; :func:`taugraph.params` lists them.
    random_state, n_jobs, verbose, memory_limit
        Arguments of the run: see :class:`RobustGraph`.

    Attributes
    ----------
    distances_ : scipy.sparse.csr_matrix of shape (n_samples, n_samples)
        Robust distances of each row to itself and its nearest neighbors, nearest first.
    n_samples_fit_ : int
        Rows seen in fit.
    n_features_in_ : int
        Columns seen in fit.
    graph_, local_scales_, edges_, edge_persistence_, diagnostics_
        The graph, and all other attributes of :class:`RobustGraph`.

    Examples
    --------
    >>> import taugraph
    >>> from sklearn.cluster import SpectralClustering
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = taugraph.make_spirals(300, random_state=1)
    >>> clusters = SpectralClustering(2, affinity="precomputed_nearest_neighbors", random_state=0)
    >>> labels = make_pipeline(taugraph.RobustNeighbors(), clusters).fit_predict(X)
    >>> float(taugraph.metrics.nmi(y, labels))
    1.0
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        mode: str = "distance",
        preset: str = "robust",
        metric: str = "auto",
        standardize: str = "none",
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
            preset,
            n_neighbors=n_neighbors,
            metric=metric,
            standardize=standardize,
            missing=missing,
            pca=pca,
            estimator=estimator,
            params=params,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            memory_limit=memory_limit,
        )
        self.mode = mode

    def _own(self) -> dict[str, Any]:
        usual, own = config(self.preset, {}).get("graph"), dict[str, Any]()
        candidates, affinity = usual["candidates"], usual["final_affinity"]
        # New points need one candidate more than neighbors. The preset's number, if it is enough, becomes smaller if there are few points.
        needed = whole("n_neighbors", self.n_neighbors, 1) + 1
        if isinstance(candidates, dict) and candidates["k"] < needed:
            own["graph.candidates.k"] = needed
        # Cubed, as in the weights of the preset, probabilities would outweigh distances.
        if isinstance(affinity, dict):
            own["graph.final_affinity.power"] = 1.0
        return own

    def fit(self, X: Any, y: Any = None) -> RobustNeighbors:
        """Build the graph of the points and find the nearest neighbors of each.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points, or distances if ``metric="precomputed"``.
        y : ignored

        Returns
        -------
        self
        """
        self._check_mode()
        super().fit(X)
        n = self.n_samples_fit_ = self.graph_.shape[0]
        first = _first_rows(self.graph_, self.edges_)
        self._copies = _copies(first, self._n_listed())
        # Of edges with the same weight, the shorter one comes first.
        i, j = self.edges_[np.argsort(self.edge_distances_, kind="stable")].T
        distances = _distances(np.asarray(self.graph_[i, j]).ravel())
        between_firsts = _Pairs.joined(_Pairs(i, j, distances), _Pairs(j, i, distances)).nearest((n, n), self._n_listed())
        others = _Pairs.of(between_firsts[first]).with_copies(self._copies)
        every, zeros = np.arange(n), np.zeros(n)
        equal = _Pairs(every, first, zeros).with_copies(self._copies)
        itself = _Pairs(every, every, zeros)
        self.distances_ = _Pairs.joined(itself, equal.chosen(equal.rows != equal.columns), others).nearest((n, n), self._n_listed())
        self._check_that_every_row_has_enough()
        return self

    def _check_that_every_row_has_enough(self) -> None:
        counts = np.diff(self.distances_.indptr)
        row = int(counts.argmin())
        if counts[row] < min(self._n_listed(), self.n_samples_fit_):
            raise ParameterError(
                f"n_neighbors = {self.n_neighbors}: row {row} has only {counts[row] - 1} candidate edges; graph.candidates allows too few"
            )

    def _check_mode(self) -> None:
        if self.mode not in ("distance", "connectivity"):
            raise ParameterError(f"mode = {self.mode!r}: must be distance or connectivity")

    def _n_listed(self) -> int:
        """Number of neighbors of each point, counting itself."""
        return whole("n_neighbors", self.n_neighbors, 1) + 1

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Find the nearest neighbors of every point and return them, as ``fit(X).transform(X)``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points, or distances if ``metric="precomputed"``.
        y : ignored

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_samples, n_samples)
            Rows are sorted by distance, each point itself first, with an explicit 0.
        """
        return self._in_mode(self.fit(X).distances_.copy())

    def transform(self, X: Any) -> sp.csr_matrix:
        """The nearest known points of the given ones.

        A point equal to a known one gets that one's row. Every other point is placed by the same rules as the known ones, without
        changing them, and the neighbors are chosen among its own candidates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Points.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_queries, n_samples)
            Rows are sorted by distance.
        """
        placed = self._placed(X)
        same = placed.same_as()
        shape = (len(same), self.n_samples_fit_)
        # In each row the nearest point comes first, so of edges with the same weight the shorter one does.
        offsets, columns, weights = placed.graph()
        placed_rows = _Pairs(np.repeat(np.arange(len(same)), np.diff(offsets)), columns, _distances(weights))
        new = placed_rows.chosen((same < 0)[placed_rows.rows]).with_copies(self._copies)
        at = np.flatnonzero(same >= 0)
        known = _Pairs.of(self.distances_[same[at]])
        known = _Pairs(at[known.rows], known.columns, known.distances)
        return self._in_mode(_Pairs.joined(known, new).nearest(shape, self._n_listed()))

    def _in_mode(self, distances: sp.csr_matrix) -> sp.csr_matrix:
        self._check_mode()
        if self.mode == "distance":
            return distances
        # As in scikit-learn, a point itself is one of its neighbors here.
        connected = _Pairs.of(distances).nearest(distances.shape, self._n_listed() - 1)
        connected.data[:] = 1.0
        return connected


class _Pairs(NamedTuple):
    """Pairs of rows and columns of a matrix, with their distances."""

    rows: np.ndarray
    columns: np.ndarray
    distances: np.ndarray

    @classmethod
    def of(cls, matrix: sp.csr_matrix) -> _Pairs:
        return cls(np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices, matrix.data)

    @classmethod
    def joined(cls, *several: _Pairs) -> _Pairs:
        return cls(*(np.concatenate(parts) for parts in zip(*several, strict=True)))

    def chosen(self, which: np.ndarray) -> _Pairs:
        return _Pairs(self.rows[which], self.columns[which], self.distances[which])

    def with_copies(self, copies: _Copies | None) -> _Pairs:
        """The same distances to every copy of a column."""
        if copies is None:
            return self
        counts = np.diff(copies.offsets)[self.columns]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        columns = copies.rows[np.repeat(copies.offsets[self.columns], counts) + within]
        return _Pairs(np.repeat(self.rows, counts), columns, np.repeat(self.distances, counts))

    def nearest(self, shape: tuple[int, int], n: int) -> sp.csr_matrix:
        """A matrix of the n nearest columns of each row, nearest first; those at the same distance stay in their order."""
        order = np.lexsort((self.distances, self.rows))
        rows = self.rows[order]
        offsets = np.searchsorted(rows, np.arange(shape[0] + 1))
        kept = order[np.arange(len(order)) - offsets[rows] < n]
        indptr = np.concatenate([[0], np.cumsum(np.minimum(np.diff(offsets), n))])
        whole_number = np.int32 if len(kept) <= np.iinfo(np.int32).max else np.int64
        columns = self.columns[kept].astype(whole_number)
        return sp.csr_matrix((self.distances[kept], columns, indptr.astype(whole_number)), shape=shape)


class _Copies(NamedTuple):
    """Rows equal to each first row, itself included."""

    offsets: np.ndarray
    rows: np.ndarray


def _copies(first: np.ndarray, n: int) -> _Copies | None:
    """Up to n copies of each row that is the first of its kind; None if all rows are different."""
    rows = np.arange(len(first))
    if (first == rows).all():
        return None
    equal = _Pairs(first, rows, np.zeros(len(first))).nearest((len(first), len(first)), n)
    return _Copies(equal.indptr, equal.indices)


def _first_rows(graph: sp.csr_matrix, edges: np.ndarray) -> np.ndarray:
    """The first row equal to each row. Copies have no candidate edges, only one to that row in the graph."""
    first = np.arange(graph.shape[0])
    is_copy = np.diff(graph.indptr) > 0
    is_copy[edges.ravel()] = False
    first[is_copy] = graph.indices[graph.indptr[:-1][is_copy]]
    return first


def _distances(weights: np.ndarray) -> np.ndarray:
    """√(−ln w), finite for edges without weight."""
    distances: np.ndarray = np.sqrt(np.abs(np.log(np.clip(weights, np.finfo(float).tiny, 1.0))))
    return distances
