"""Each stage of the pipeline as a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from . import _core
from ._clustering import SpectralClustering
from ._config import config, whole
from ._graph import RobustGraph
from ._input import as_table, neighbors_of
from ._labels import LabelPropagation
from ._run import running
from .exceptions import ParameterError


class Quantiles(NamedTuple):
    """Conditional quantiles of similarities."""

    edges: np.ndarray
    """Candidate edges; among equal rows, only the first has edges."""
    similarities: np.ndarray
    """Locally scaled similarity of each edge."""
    taus: np.ndarray
    """The quantiles."""
    values: np.ndarray
    """One row for each edge, one column for each quantile."""


class StochasticGraph(NamedTuple):
    """Edges with probabilities."""

    probabilities: sp.csr_matrix
    """Probability of each edge, symmetric."""
    persistence: sp.csr_matrix
    """The highest quantile at which each edge persists, symmetric."""
    decay: np.ndarray
    """Each quantile and the number of edges that persist at it."""


def knn_graph(
    X: Any,
    n_neighbors: int = 15,
    *,
    metric: str = "auto",
    mode: str = "distance",
    params: Mapping[str, Any] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory_limit: int | None = None,
) -> sp.csr_matrix:
    """The nearest neighbors of every point as a sparse matrix.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points, taken as they are.
    n_neighbors : int, default=15
        Number of neighbors of each point, not counting itself.
    metric : {"auto", "euclidean", "manhattan", "cosine"}, default="auto"
        Distance; ``auto`` is ``euclidean``.
    mode : {"distance", "connectivity"}, default="distance"
        Distances, or ones.
    params : dict, optional
        Parameters of the search: ``{"graph.search.method": "exact"}`` or ``{"graph.search.recall": 0.9}``.
    random_state, n_jobs, verbose, memory_limit
        Arguments of the run: see :class:`RobustGraph`.

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n_samples, n_samples)

    Examples
    --------
    >>> import numpy as np, taugraph
    >>> taugraph.knn_graph(np.arange(5.0)[:, None], 2).toarray()[0].tolist()
    [0.0, 1.0, 2.0, 0.0, 0.0]
    """
    if mode not in ("distance", "connectivity"):
        raise ParameterError(f"mode = {mode!r}: must be distance or connectivity")
    X = as_table(X)
    k, made = whole("n_neighbors", n_neighbors, 1), config("robust", {"metric": metric}, params)
    with running(random_state, n_jobs, verbose, memory_limit) as run:
        ids, distances, _ = _core.neighbors(X, k, made, run)
    data = distances.ravel() if mode == "distance" else np.ones(ids.size)
    indptr = np.arange(0, ids.size + 1, ids.shape[1], dtype=np.int64)
    graph = sp.csr_matrix((data, ids.ravel().astype(np.int32), indptr), shape=(len(X), len(X)))
    graph.sort_indices()
    return graph


def local_scales(knn: sp.spmatrix, k: int = 7, *, kind: str = "kth-neighbor", floor: float = 0.25) -> np.ndarray:
    """First local scales from :func:`knn_graph`.

    Parameters
    ----------
    knn : sparse matrix of shape (n_samples, n_samples)
        Distances to the same number of neighbors in every row.
    k : int, default=7
        Which neighbor, or how many.
    kind : {"kth-neighbor", "mean-of-neighbors"}, default="kth-neighbor"
        Distance to the k-th neighbor, or mean over k neighbors.
    floor : float, default=0.25
        Smallest scale, as a fraction of the median.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np, taugraph
    >>> taugraph.local_scales(taugraph.knn_graph(np.arange(5.0)[:, None], 2), 2).tolist()
    [2.0, 1.0, 1.0, 1.0, 2.0]
    """
    scale = {"kind": kind, "k": whole("k", k, 1)}
    made = config("robust", {"graph.first_scale": scale, "graph.scale_floor": floor})
    return _core.scales_of_neighbors(*neighbors_of(knn), made)


def quantile_reconstruction(
    X: Any,
    preset: str = "paper",
    *,
    n_neighbors: int | None = None,
    metric: str = "auto",
    estimator: str | Sequence[str] | Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory_limit: int | None = None,
) -> Quantiles:
    """Conditional quantiles of the similarities on the candidate edges.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points, taken as they are.
    preset, n_neighbors, metric, estimator, params
        The graph: see :class:`RobustGraph`.
    random_state, n_jobs, verbose, memory_limit
        Arguments of the run: see :class:`RobustGraph`.

    Returns
    -------
    Quantiles

    Examples
    --------
    >>> import taugraph
    >>> X, y = taugraph.make_spirals(60, random_state=1)
    >>> found = taugraph.quantile_reconstruction(X, estimator="factorization", params={"graph.taus": [0.25, 0.5, 0.75]})
    >>> found.values.shape == (len(found.edges), 3)
    True
    """
    X = as_table(X)
    made = RobustGraph(preset, n_neighbors=n_neighbors, metric=metric, estimator=estimator, params=params)._config()
    # By default some estimators give only the persistence of edges.
    settings = made.get("graph.estimator")
    if isinstance(settings, dict) and "reconstructions" in settings:
        made.set("graph.estimator.reconstructions", "yes")
    with running(random_state, n_jobs, verbose, memory_limit) as run:
        edges, similarities, values = _core.quantiles(X, made, run)
    if values is None:
        raise ParameterError("graph.estimator: this estimator gives only the persistence of edges, not their quantiles")
    return Quantiles(edges, similarities, np.asarray(made.get("graph.taus")), values)


def stochastic_graph(X: Any, preset: str = "robust", **params: Any) -> StochasticGraph:
    """Probability and persistence of every candidate edge.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    preset, **params
        Arguments of :class:`RobustGraph`.

    Returns
    -------
    StochasticGraph

    Examples
    --------
    >>> import taugraph
    >>> X, y = taugraph.make_spirals(200, random_state=1)
    >>> graph = taugraph.stochastic_graph(X)
    >>> graph.probabilities.shape, len(graph.decay)
    ((200, 200), 9)
    """
    made = RobustGraph(preset, **params).fit(X)
    n = made.graph_.shape[0]
    i, j = made.edges_.T

    def symmetric(values: np.ndarray) -> sp.csr_matrix:
        upper = sp.coo_matrix((values, (i, j)), shape=(n, n))
        return sp.csr_matrix(upper + upper.T)

    return StochasticGraph(symmetric(made.edge_probabilities_), symmetric(made.edge_persistence_), made.decay_)


def spectral_clustering(graph: Any, n_clusters: int | str | None = None, **params: Any) -> np.ndarray:
    """Clusters of a graph.

    Parameters
    ----------
    graph : sparse matrix or array of shape (n_samples, n_samples)
        Weights, symmetric.
    n_clusters : int or "auto", optional
        Number of clusters; found by default.
    **params
        Arguments of :class:`SpectralClustering`.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import taugraph
    >>> X, y = taugraph.make_spirals(300, random_state=1)
    >>> labels = taugraph.spectral_clustering(taugraph.RobustGraph().fit_transform(X), 2)
    >>> float(taugraph.metrics.nmi(y, labels))
    1.0
    """
    return SpectralClustering(n_clusters, graph="precomputed", **params).fit(graph).labels_


def propagate(graph: Any, labels: Any, rule: str = "harmonic", **params: Any) -> tuple[np.ndarray, np.ndarray]:
    """Propagates labels over a graph.

    Parameters
    ----------
    graph : sparse matrix or array of shape (n_samples, n_samples)
        Weights, symmetric.
    labels : array-like of shape (n_samples,)
        Labels; -1, ``None`` or NaN for nodes without one.
    rule : str, default="harmonic"
        How labels spread.
    **params
        Arguments of :class:`LabelPropagation`.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Where no label reaches, -1 for numeric labels and ``None`` for others.
    probabilities : ndarray of shape (n_samples, n_classes)
        Probability of each class, in the order of the sorted labels.

    Examples
    --------
    >>> import numpy as np, taugraph
    >>> path = np.diag(np.ones(3), 1)
    >>> labels, probabilities = taugraph.propagate(path + path.T, ["a", None, None, "b"])
    >>> labels.tolist()
    ['a', 'a', 'b', 'b']
    """
    spread = LabelPropagation(rule, graph="precomputed", **params).fit(graph, labels)
    return spread.transduction_, spread.label_distributions_
