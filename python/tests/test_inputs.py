"""The same points in every form give the same bits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import taugraph


class OnlyStream:
    """Arrow data that offers nothing but the PyCapsule interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def expected(blobs):
    return taugraph.RobustGraph().fit(blobs[0])


def forms(X):
    names = [f"x{i}" for i in range(X.shape[1])]
    table = pa.table({name: X[:, i] for i, name in enumerate(names)})
    yield "lists", X.tolist()
    yield "Fortran order", np.asfortranarray(X)
    yield "strided", np.repeat(X, 2, axis=0)[::2]
    yield "read-only", (lambda a: (a.setflags(write=False), a)[1])(X.copy())
    yield "pandas", pd.DataFrame(X, columns=names)
    yield "polars", pl.DataFrame({name: X[:, i] for i, name in enumerate(names)})
    yield "arrow", table
    yield "record batch", table.to_batches()[0]
    yield "capsule", OnlyStream(table)


def test_every_form(blobs, expected):
    X, _ = blobs
    for name, form in forms(X):
        found = taugraph.RobustGraph().fit(form)
        assert (found.graph_ != expected.graph_).nnz == 0, name
        assert (found.local_scales_ == expected.local_scales_).all(), name
        if name in ("pandas", "polars", "arrow", "capsule"):
            assert list(found.feature_names_in_) == [f"x{i}" for i in range(5)], name
            assert (found.transform(form) != expected.graph_).nnz == 0
        if name == "arrow":
            with pytest.raises(ValueError, match="names should match"):
                found.transform(form.rename_columns(list("abcde")))
            with pytest.raises(ValueError, match="expecting 5 features"):
                found.transform(form.select(["x0"]))


def test_single_precision_is_widened(blobs):
    X, _ = blobs
    narrow = X.astype(np.float32)
    a = taugraph.RobustGraph().fit(narrow)
    b = taugraph.RobustGraph().fit(narrow.astype(np.float64))
    assert (a.graph_ != b.graph_).nnz == 0


def test_points_are_not_copied_before_they_are_prepared(blobs):
    from taugraph._input import as_points

    X, _ = blobs
    assert np.shares_memory(as_points(taugraph.RobustGraph(), X, reset=True), X)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_array])
def test_sparse_points(index, kind):
    rng = np.random.default_rng(0)
    dense = rng.random((120, 30)) * (rng.random((120, 30)) < 0.2) + np.eye(120, 30)
    matrix = kind(dense)
    if hasattr(matrix, "indices"):
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    a = taugraph.RobustGraph().fit(matrix)
    b = taugraph.RobustGraph(standardize="none").fit(dense)
    assert np.allclose(a.graph_.toarray(), b.graph_.toarray(), atol=1e-9)
    labels = taugraph.SpectralClustering(3, metric="cosine").fit(matrix)
    assert (labels.predict(matrix) == labels.labels_).all()


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_graphs(blobs, expected, index):
    graph = expected.graph_.copy()
    graph.indices, graph.indptr = graph.indices.astype(index), graph.indptr.astype(index)
    one = taugraph.spectral_clustering(graph, 4)
    assert (one == taugraph.spectral_clustering(graph.tocsc(), 4)).all()
    assert (one == taugraph.spectral_clustering(graph.toarray(), 4)).all()
    shuffled = graph.tocoo()
    order = np.random.default_rng(1).permutation(shuffled.nnz)
    mixed = sp.coo_matrix((shuffled.data[order], (shuffled.row[order], shuffled.col[order])), shape=graph.shape)
    assert (one == taugraph.spectral_clustering(mixed, 4)).all()


def test_missing_cells(blobs):
    X = blobs[0].copy()
    X[3, 2] = np.nan
    found = taugraph.RobustGraph().fit(X)
    assert found.diagnostics_["preparation"]["imputed_cells"] == 1
    with pytest.raises(ValueError, match="NaN"):
        taugraph.RobustGraph(missing="error").fit(X)


def test_bad_input_is_refused(blobs):
    X = blobs[0].copy()
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        taugraph.RobustGraph().fit(X)
    with pytest.raises(taugraph.exceptions.NoVaryingColumnError):
        taugraph.RobustGraph().fit(np.ones((10, 2)))
    with pytest.raises(taugraph.exceptions.TooManyClustersError):
        taugraph.SpectralClustering(99).fit(np.arange(40.0)[:, None] // 2)
    with pytest.raises(taugraph.exceptions.NotSymmetricError, match=r"entry \(0, 1\)"):
        taugraph.spectral_clustering(np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 1.0], [0.0, 1.0, 0.0]]), 2)
    with pytest.raises(taugraph.exceptions.LengthError):
        taugraph.spectral_clustering(np.ones((3, 4)), 2)
    with pytest.raises(taugraph.exceptions.ParameterError, match="threshold"):
        taugraph.RobustGraph(threshold=2).fit(blobs[0])
    with pytest.raises(taugraph.exceptions.ParameterError, match="no_such"):
        taugraph.RobustGraph(graph_params={"no_such": 1}).fit(blobs[0])
    with pytest.raises(taugraph.exceptions.ParameterError, match="estimator"):
        taugraph.RobustGraph(estimator="magic").fit(blobs[0])
    with pytest.raises(taugraph.exceptions.MemoryError, match="available"):
        taugraph.RobustGraph(memory_limit=1000).fit(blobs[0])
