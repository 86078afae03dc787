"""Real scanpy on our graph."""

from __future__ import annotations

import anndata
import numpy as np
import pytest
import scanpy as sc

import taugraph
import taugraph.scanpy


@pytest.fixture
def cells(blobs):
    X, y = blobs
    adata = anndata.AnnData(X.astype(np.float32))
    adata.obs["true"] = y.astype(str)
    return adata


def test_leiden_and_umap_run_on_it(cells):
    sc.pp.pca(cells, n_comps=4)
    assert taugraph.scanpy.neighbors(cells) is None
    assert cells.uns["neighbors"]["params"]["method"] == "taugraph" and cells.uns["neighbors"]["params"]["use_rep"] == "X_pca"
    expected = taugraph.RobustGraph(standardize="none").fit(cells.obsm["X_pca"])
    weights = cells.obsp["connectivities"]
    assert (weights.indices == expected.graph_.indices).all() and (weights.data >= expected.graph_.data).all()
    assert (weights != weights.T).nnz == 0 and weights.max() == expected.graph_.max()
    distances = cells.obsp["distances"]
    assert distances.shape == (300, 300) and (distances != distances.T).nnz == 0 and distances.data.min() > 0
    sc.tl.leiden(cells, resolution=0.3, flavor="igraph", n_iterations=2, directed=False)
    assert taugraph.metrics.nmi(cells.obs["true"], cells.obs["leiden"].astype(str)) > 0.7
    sc.tl.umap(cells)
    assert cells.obsm["X_umap"].shape == (300, 2) and np.isfinite(cells.obsm["X_umap"]).all()
    sc.tl.diffmap(cells)


def test_keys_and_copies(cells):
    changed = taugraph.scanpy.neighbors(cells, use_rep="X", key_added="robust", copy=True, n_neighbors=10)
    assert "robust" in changed.uns and "robust_connectivities" in changed.obsp and "robust" not in cells.uns
    sc.tl.leiden(changed, neighbors_key="robust", flavor="igraph", n_iterations=2, directed=False)


def test_no_cell_loses_all_edges_to_umap():
    """umap deletes weak edges in place; what runs after it needs every cell."""
    cells = sc.datasets.pbmc68k_reduced()
    taugraph.scanpy.neighbors(cells)
    sc.tl.umap(cells)
    left = cells.obsp["connectivities"].copy()
    left.eliminate_zeros()
    assert np.diff(left.indptr).min() > 0
    sc.tl.diffmap(cells)
    sc.tl.leiden(cells, flavor="igraph", n_iterations=2, directed=False)
    sc.tl.paga(cells)
    assert np.isfinite(cells.obsm["X_diffmap"]).all() and cells.obs["leiden"].nunique() > 3


def test_files_keep_it(cells, tmp_path):
    taugraph.scanpy.neighbors(cells, use_rep="X", n_pcs=3)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert (again.obsp["connectivities"] != cells.obsp["connectivities"]).nnz == 0
