"""Stores the robust graph where scanpy looks for neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._graph import RobustGraph
from ._run import seed_of

__all__ = ["neighbors"]

# The strongest edge of a cell, as a share of the strongest of all. scanpy's umap cuts at 1/200, or 1/500 with few cells.
VISIBLE = 0.05


def neighbors(
    adata: Any,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    key_added: str | None = None,
    copy: bool = False,
    standardize: str = "none",
    **params: Any,
) -> Any:
    """Write the robust graph of an AnnData object as ``scanpy.pp.neighbors`` would.

    ``obsp["connectivities"]`` are the weights, ``obsp["distances"]`` the distances of the candidate edges, and
    ``uns["neighbors"]`` refers to both: ``sc.tl.leiden``, ``sc.tl.umap`` and the like run on the robust graph.
    ``sc.tl.umap`` deletes edges below a two-hundredth of the largest weight. So that this leaves no cell without
    edges, the edges of cells far from all others are lifted: the strongest of each cell to a twentieth of the largest weight.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells.
    use_rep : str, optional
        ``"X"`` or a key of ``obsm``; by default ``X_pca`` if it exists, else ``X``.
    n_pcs : int, optional
        Number of columns of the representation to use.
    key_added : str, optional
        Key to write under, as in scanpy.
    copy : bool, default=False
        Return a changed copy.
    standardize : str, default="none"
        Scaling of the columns; by default none, which suits principal components.
    **params
        Arguments of :class:`taugraph.RobustGraph`.

    Returns
    -------
    anndata.AnnData or None
    """
    adata = adata.copy() if copy else adata
    name = use_rep or ("X_pca" if "X_pca" in adata.obsm else "X")
    X = adata.X if name == "X" else adata.obsm[name]
    if n_pcs is not None:
        if not 1 <= n_pcs <= X.shape[1]:
            raise ValueError(f"n_pcs = {n_pcs}: {name} has {X.shape[1]} columns")
        X = X[:, :n_pcs]
    seed = seed_of(params.pop("random_state", 0))
    params["random_state"] = seed
    made = RobustGraph(standardize=standardize, **params).fit(X)
    n = adata.n_obs
    i, j = made.edges_.T
    upper = sp.coo_matrix((made.edge_distances_, (i, j)), shape=(n, n))
    distances = sp.csr_matrix(upper + upper.T)
    connectivities = visible(sp.csr_matrix(made.graph_))
    # scanpy counts the cell itself among its neighbors.
    n_neighbors = int(np.median(np.diff(connectivities.indptr))) + 1
    key = key_added or "neighbors"
    prefix = f"{key_added}_" if key_added else ""
    adata.obsp[f"{prefix}distances"] = distances
    adata.obsp[f"{prefix}connectivities"] = connectivities
    adata.uns[key] = {
        "connectivities_key": f"{prefix}connectivities",
        "distances_key": f"{prefix}distances",
        "params": {
            "n_neighbors": n_neighbors,
            "method": "taugraph",
            "metric": made.diagnostics_["metric"],
            "random_state": seed,
            "use_rep": name,
            **({"n_pcs": n_pcs} if n_pcs is not None else {}),
        },
    }
    return adata if copy else None


def visible(weights: sp.csr_matrix) -> sp.csr_matrix:
    """The same weights with the strongest of each row at least a share of the strongest of all, and the others of the row in proportion."""
    if weights.nnz == 0:
        return weights
    strongest = weights.max(axis=1).toarray().ravel()
    rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    # The weaker of two cells decides, so that the matrix stays symmetric.
    relative = weights.data / np.minimum(strongest[rows], strongest[weights.indices])
    lifted = np.maximum(weights.data, VISIBLE * strongest.max() * relative)
    return sp.csr_matrix((lifted, weights.indices, weights.indptr), shape=weights.shape)
