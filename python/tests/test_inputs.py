"""The same points in every form give the same bits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

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


def test_single_precision_has_the_bits_of_double_unless_it_is_scaled(blobs):
    X, _ = blobs
    narrow = X.astype(np.float32)
    wide = narrow.astype(np.float64)
    plain = {"preparation.standardize": "none"}
    a = taugraph.RobustGraph(params=plain).fit(narrow)
    b = taugraph.RobustGraph(params=plain).fit(wide)
    assert (a.graph_ != b.graph_).nnz == 0 and (a.local_scales_ == b.local_scales_).all()
    c = taugraph.RobustGraph(params={"preparation.precision": "double"}).fit(narrow)
    d = taugraph.RobustGraph().fit(wide)
    assert (c.graph_ != d.graph_).nnz == 0
    rounded = taugraph.RobustGraph().fit(narrow)
    assert np.allclose(rounded.local_scales_, d.local_scales_, rtol=1e-5)
    for points in (narrow, wide):
        assert (rounded.transform(points) != rounded.graph_).nnz == 0


def test_what_single_precision_holds_is_not_widened(blobs):
    from taugraph._input import as_points

    X, _ = blobs
    whole = np.round(X).astype(np.int8)
    for narrow in (X.astype(np.float32), X.astype(np.float16), whole, whole.astype(np.uint8), whole > 0):
        taken = as_points(taugraph.RobustGraph(), narrow, reset=True, allow_nan=True)
        assert taken.dtype == np.float32 and (taken == narrow.astype(np.float64)).all()
        assert np.shares_memory(taken, narrow) == (narrow.dtype == np.float32)
    frame = pd.DataFrame(X.astype(np.float32)).assign(flag=True)
    assert as_points(taugraph.RobustGraph(), frame.set_axis(list("abcdef"), axis=1), reset=True, allow_nan=True).dtype == np.float32
    for precise in (X, whole.astype(np.int16), whole.astype(np.int64)):
        assert as_points(taugraph.RobustGraph(), precise, reset=True, allow_nan=True).dtype == np.float64


def with_lists(X):
    flat = pa.array(X.ravel())
    fixed = pa.FixedSizeListArray.from_arrays(flat, X.shape[1])
    yield "fixed-size lists", pa.table({"v": fixed})
    yield "lists", pa.table({"v": fixed.cast(pa.list_(flat.type))})
    yield "large lists in chunks", pa.concat_tables([pa.table({"v": fixed[:50].cast(pa.large_list(flat.type))}), pa.table({"v": fixed[50:].cast(pa.large_list(flat.type))})])
    yield "polars lists", pl.DataFrame({"v": X.tolist()}, schema={"v": pl.List(pl.Float64)})
    yield "polars arrays", pl.DataFrame({"v": pl.Series(X)})
    yield "pandas", pd.DataFrame({"v": list(X)})
    yield "pandas with Arrow", pa.table({"v": fixed}).to_pandas(types_mapper=pd.ArrowDtype)


def test_lists_are_blocks_of_columns(blobs, expected):
    X, _ = blobs
    for name, form in with_lists(X):
        found = taugraph.RobustGraph().fit(form)
        assert list(found.feature_names_in_) == [f"v[{i}]" for i in range(5)], name
        assert (found.graph_ != expected.graph_).nnz == 0, name
        assert (found.transform(form) != expected.graph_).nnz == 0, name


def test_lists_that_are_missing_ragged_or_text(blobs):
    from taugraph._input import unwrapped

    rows = [[1.0, 2.0], None, [3.0, None], [5.0, 6.0]]
    expected = np.array([[1, 2], [np.nan, np.nan], [3, np.nan], [5, 6]])
    for form in (pa.table({"v": rows}), pl.DataFrame({"v": rows}), pd.DataFrame({"v": rows})):
        values, names = unwrapped(form)
        assert names == ["v[0]", "v[1]"] and np.array_equal(values, expected, equal_nan=True)
    mixed, names = unwrapped(pa.table({"a": pa.array([1, 2], pa.int8()), "v": pa.array([[1.5], [2.5]], pa.list_(pa.float32()))}))
    assert names == ["a", "v[0]"] and mixed.dtype == np.float32 and mixed.tolist() == [[1, 1.5], [2, 2.5]]
    ragged = [[1.0, 2.0], [1.0], [2.0, 3.0]]
    for form in (pa.table({"v": ragged}), pl.DataFrame({"v": ragged}), pd.DataFrame({"v": ragged})):
        with pytest.raises(ValueError, match=r"column 'v', row 1: the list has 1 numbers, but the first one has 2"):
            taugraph.RobustGraph().fit(form)
    with pytest.raises(TypeError, match="not numbers"):
        taugraph.RobustGraph().fit(pa.table({"v": [["a"], ["b"]]}))


def test_points_are_not_copied_before_they_are_prepared(blobs):
    from taugraph._input import as_points

    X, _ = blobs
    assert np.shares_memory(as_points(taugraph.RobustGraph(), X, reset=True, allow_nan=True), X)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_array])
def test_sparse_points(index, kind):
    rng = np.random.default_rng(0)
    dense = rng.random((120, 30)) * (rng.random((120, 30)) < 0.2) + np.eye(120, 30)
    matrix = kind(dense)
    if hasattr(matrix, "indices"):
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    for metric in ("euclidean", "cosine"):
        a = taugraph.RobustGraph(metric=metric).fit(matrix)
        b = taugraph.RobustGraph(metric=metric, standardize="none").fit(dense)
        assert np.allclose(a.graph_.toarray(), b.graph_.toarray(), atol=1e-9)
    # The defaults are the library's choice: cosine, unscaled.
    assert (taugraph.RobustGraph().fit(matrix).graph_ != a.graph_).nnz == 0
    labels = taugraph.SpectralClustering(3).fit(matrix)
    assert (labels.predict(matrix) == labels.labels_).all()
    # A row of zeros has no cosine.
    with_zeros = sp.vstack([sp.csr_matrix(dense), sp.csr_matrix((1, 30))])
    with pytest.raises(taugraph.exceptions.ZeroRowError):
        taugraph.RobustGraph(metric="cosine").fit(with_zeros)
    with pytest.warns(taugraph.exceptions.DataWarning, match="1 rows are all zero"):
        left_open = taugraph.RobustGraph().fit(with_zeros)
    assert left_open.diagnostics_["metric"] == "euclidean"
    assert (left_open.graph_ != taugraph.RobustGraph(metric="euclidean").fit(with_zeros).graph_).nnz == 0


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


def test_sparse_predictions_are_scaled_as_the_graph_is():
    rng = np.random.default_rng(0)

    def made(y):
        return np.column_stack([y + 0.05 * rng.random(len(y)) + 0.1, 1000 * rng.random(len(y)), 0.2 * rng.random(len(y))])

    y, z = np.repeat([0, 1], 150), np.repeat([0, 1], 50)
    X, Q = made(y), made(z)
    for matrix, query in ((X, Q), (sp.csr_matrix(X), sp.csr_matrix(Q))):
        graph = taugraph.RobustGraph(standardize="max_abs", metric="euclidean")
        assert taugraph.LabelPropagation(graph=graph).fit(matrix, y).score(query, z) == 1.0


def test_neighborhoods_shrink_only_if_they_were_not_asked_for(blobs):
    from sklearn.neighbors import kneighbors_graph

    X = blobs[0][::8]
    assert taugraph.RobustGraph(n_neighbors=3).fit(X[:10]).graph_.shape == (10, 10)
    with pytest.raises(taugraph.exceptions.TooFewPointsError):
        taugraph.RobustGraph(params={"graph.candidates.k": 500}).fit(X)
    near = kneighbors_graph(X, 8, mode="distance")
    assert taugraph.RobustGraph(metric="precomputed").fit(near).graph_.shape == (len(X), len(X))
    assert taugraph.RobustGraph(metric="precomputed", n_neighbors=8).fit(near).graph_.nnz > 0
    with pytest.raises(ValueError):
        taugraph.RobustGraph(metric="precomputed", n_neighbors=12).fit(near)
    # Four distinct points once the empty column is filled.
    filled = np.column_stack([np.repeat([0.0, 1, 2, 3], 10), np.where(np.arange(40) % 2, np.nan, 5.0)])
    assert len(set(taugraph.SpectralClustering(2).fit_predict(filled))) == 2
    assert len(set(taugraph.SpectralClustering(2, graph="nearest_neighbors").fit_predict(filled[:, :1]))) == 2
    with pytest.raises(taugraph.exceptions.TooFewPointsError):
        taugraph.SpectralClustering(2, graph="nearest_neighbors", n_neighbors=10).fit(filled[:, :1])


def test_baselines_prepare_their_points_as_the_robust_graph_does(blobs):
    """Scaled, filled and rotated columns: by hand before, or by the estimator."""
    X, _ = blobs
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    filled = np.where(np.isnan(gaps), np.nanmedian(gaps, axis=0), gaps)
    scaled = (filled - filled.mean(axis=0)) / filled.std(axis=0)
    rotated = PCA(2, svd_solver="full").fit_transform(scaled)

    def labels(points, **params):
        return taugraph.SpectralClustering(3, graph="nearest_neighbors", params=params).fit_predict(points)

    none = {"preparation.standardize": "none"}
    assert (labels(gaps) == labels(scaled, **none)).all()
    assert (labels(gaps, **{"preparation.pca": 2}) == labels(rotated, **none)).all()
    with pytest.raises(ValueError, match="NaN"):
        labels(gaps, **{"preparation.missing": "error"})


def test_numbers_of_every_kind(blobs):
    X, y = blobs
    taugraph.RobustGraph(n_neighbors=np.int64(9), memory_limit=1e9, params={"graph.scale_floor": np.float32(0.25)}).fit(X)
    taugraph.LabelPropagation("greedy_walk", params={"propagate.rule.pairs": np.int64(5)}).fit(X, y)
    embedded = {"laplacian": "random_walk", "row_normalization": "unit_length"}
    taugraph.SpectralEmbedding(np.int32(2), params={"embedding": embedded}).fit(X)
    taugraph.RobustGraph(estimator={"kind": "neighborhood", "pool": 9}, params={"graph.taus": np.array([0.2, 0.6])}).fit(X)
    wrong = [
        lambda: taugraph.SpectralEmbedding(2.7).fit(X),
        lambda: taugraph.SpectralEmbedding(0).fit(X),
        lambda: taugraph.SpectralEmbedding(300).fit(X),
        lambda: taugraph.SpectralClustering(stability=-1).fit(X),
        lambda: taugraph.SpectralClustering(stability="3").fit(X),
        lambda: taugraph.SpectralClustering(graph="magic").fit(X),
        lambda: taugraph.SpectralClustering(graph=None).fit(X),
        lambda: taugraph.SpectralClustering(3, graph="rbf", params={"graph.threshold": 0.5}).fit(X),
        lambda: taugraph.SpectralClustering(3, graph="rbf", n_neighbors=5).fit(X),
        lambda: taugraph.RobustGraph("magic").fit(X),
        lambda: taugraph.RobustGraph(metric="magic").fit(X),
        lambda: taugraph.RobustGraph(params=[1, 2]).fit(X),
        lambda: taugraph.RobustGraph(params={"preset": "paper"}).fit(X),
        lambda: taugraph.RobustGraph(params={"seed": 3}).fit(X),
        lambda: taugraph.RobustGraph(params={"graph.threshold": float("nan")}).fit(X),
        lambda: taugraph.RobustGraph(params={"graph.threshold": object()}).fit(X),
        lambda: taugraph.LabelPropagation("magic").fit(X, y),
        lambda: taugraph.make_spirals(10, density="magic"),
        lambda: taugraph.ConsensusClustering(-1).fit(X),
        lambda: taugraph.knn_graph(X, 2.7),
        lambda: taugraph.make_moons(-1),
        lambda: taugraph.RobustGraph(memory_limit="1GB").fit(X),
        lambda: taugraph.RobustGraph(random_state=2**64).fit(X),
        lambda: taugraph.RobustGraph(n_jobs=2.5).fit(X),
    ]
    for at, call in enumerate(wrong):
        with pytest.raises(ValueError):
            call()
            pytest.fail(f"case {at} was accepted")


def test_bad_distances():
    with pytest.raises(taugraph.exceptions.LengthError):
        taugraph.RobustGraph(metric="precomputed").fit(np.ones((4, 3)))
    with pytest.raises(taugraph.exceptions.LengthError):
        taugraph.RobustGraph(metric="precomputed").fit(sp.csr_matrix(np.ones((4, 3))))
    with pytest.raises(taugraph.exceptions.BadDistanceError):
        taugraph.RobustGraph(metric="precomputed").fit(sp.csr_matrix(-np.ones((4, 4))))
    with pytest.raises(ValueError, match="same number of neighbors"):
        taugraph.RobustGraph(metric="precomputed").fit(sp.csr_matrix((4, 4)))


def test_a_failed_fit_leaves_the_last_one(blobs):
    X, _ = blobs
    model = taugraph.SpectralClustering(4).fit(X)
    labels = model.labels_
    with pytest.raises(ValueError):
        model.fit(np.ones((20, 5)))
    assert (model.predict(X) == labels).all()


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
        taugraph.RobustGraph(params={"graph.threshold": 2}).fit(blobs[0])
    with pytest.raises(taugraph.exceptions.UnknownParameterError, match="no_such"):
        taugraph.RobustGraph(params={"graph.no_such": 1}).fit(blobs[0])
    with pytest.raises(taugraph.exceptions.ParameterOfOtherError, match="belongs to graph.estimator = community"):
        taugraph.RobustGraph(params={"graph.estimator.floor": 0.1}).fit(blobs[0])
    with pytest.raises(taugraph.exceptions.ParameterError, match="estimator"):
        taugraph.RobustGraph(estimator="magic").fit(blobs[0])
    with pytest.raises(taugraph.exceptions.MemoryError, match="available"):
        taugraph.RobustGraph(memory_limit=1000).fit(blobs[0])


def test_masked_cells_are_missing(blobs):
    X = blobs[0].copy()
    masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
    masked.mask[7, 2] = True
    masked.data[7, 2] = 1e6
    holes = X.copy()
    holes[7, 2] = np.nan
    for missing in ("median", "error"):
        fit = lambda form, missing=missing: taugraph.RobustGraph(missing=missing).fit(form).graph_
        if missing == "error":
            with pytest.raises(ValueError, match="NaN"):
                fit(masked)
        else:
            assert (fit(masked) != fit(holes)).nnz == 0


def test_dates_are_not_numbers(blobs):
    days = np.arange(300).astype("datetime64[D]")
    frame = pd.DataFrame({"x": blobs[0][:, 0], "day": days})
    for form in (days[:, None], days[:, None] - days[0], frame, pl.from_pandas(frame), pa.table({"day": days})):
        with pytest.raises(TypeError, match="dates"):
            taugraph.RobustGraph().fit(form)


@pytest.mark.parametrize(
    "broken",
    [
        {"indptr": [0, 1, 2, 3, 4, 10**6]},
        {"indptr": [0, 10**6, 2, 3, 4, 5]},
        {"indptr": [-3, 1, 2, 3, 4, 5]},
        {"indptr": [0, 1, 5]},
        {"indices": [0, 1, 2, 3, 10**8]},
        {"indices": [0, 1, 2, 3, -5]},
    ],
    ids=str,
)
def test_broken_sparse_matrices_are_refused(broken):
    """scipy's own routines read wherever the indices point."""
    for make in (sp.csr_matrix, sp.csc_matrix, sp.csr_array):
        matrix = make(np.eye(5))
        for name, values in broken.items():
            setattr(matrix, name, np.asarray(values, dtype=np.int32))
        for fit in (
            lambda m: taugraph.RobustGraph().fit(m),
            lambda m: taugraph.SpectralClustering(2, graph="precomputed").fit(m),
            lambda m: taugraph.RobustGraph(metric="precomputed").fit(m),
        ):
            with pytest.raises(ValueError, match="broken|index|indptr"):
                fit(matrix)
    entries = sp.coo_matrix(np.eye(5))
    entries.row[2] = 10**8
    with pytest.raises(ValueError, match="outside"):
        taugraph.RobustGraph().fit(entries)


def test_a_graph_without_edges_says_nothing():
    empty = sp.csr_matrix((5, 5))
    for method in ("auto", "spectral", "agglomerate"):
        for count in ("boundaries", "eigengap"):
            with pytest.raises(taugraph.exceptions.NoEdgesError, match="no edges"):
                taugraph.SpectralClustering(graph="precomputed", method=method, params={"cluster.count": count}).fit(empty)
    separately = taugraph.SpectralClustering(5, graph="precomputed", params={"cluster.components": "separately"}).fit(empty)
    assert sorted(separately.labels_) == [0, 1, 2, 3, 4]
