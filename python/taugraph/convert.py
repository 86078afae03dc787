"""Graphs for other libraries, one call each. A graph is a fitted :class:`~taugraph.RobustGraph` or a matrix of weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["to_igraph", "to_networkx", "to_scipy"]


def to_scipy(graph: Any) -> sp.csr_matrix:
    """The weights as a scipy matrix.

    Examples
    --------
    >>> import taugraph
    >>> X, _ = taugraph.make_moons(50)
    >>> to_scipy(taugraph.RobustGraph().fit(X)).shape
    (50, 50)
    """
    return graph.graph_ if hasattr(graph, "graph_") else sp.csr_matrix(graph)


def _upper(graph: Any) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    matrix = to_scipy(graph)
    upper = sp.coo_matrix(sp.triu(matrix, k=1))
    return matrix.shape[0], upper.row, upper.col, upper.data


def to_networkx(graph: Any) -> Any:
    """A ``networkx.Graph`` with the attribute ``weight``.

    Examples
    --------
    >>> import taugraph
    >>> X, _ = taugraph.make_moons(50)
    >>> to_networkx(taugraph.RobustGraph().fit(X)).number_of_nodes()
    50
    """
    import networkx as nx

    n, rows, columns, weights = _upper(graph)
    made = nx.Graph()
    made.add_nodes_from(range(n))
    made.add_weighted_edges_from(zip(rows.tolist(), columns.tolist(), weights.tolist(), strict=True))
    return made


def to_igraph(graph: Any) -> Any:
    """An ``igraph.Graph`` with the attribute ``weight``.

    Examples
    --------
    >>> import taugraph
    >>> X, _ = taugraph.make_moons(50)
    >>> to_igraph(taugraph.RobustGraph().fit(X)).vcount()
    50
    """
    import igraph as ig

    n, rows, columns, weights = _upper(graph)
    edges = list(zip(rows.tolist(), columns.tolist(), strict=True))
    return ig.Graph(n=n, edges=edges, edge_attrs={"weight": weights.tolist()})
