"""Robust neighbors in scikit-learn's pipelines and in scanpy."""

from __future__ import annotations

import pickle
import warnings

import anndata
import numpy as np
import pytest
import scanpy as sc
import scipy.sparse as sp
from sklearn.cluster import DBSCAN, SpectralClustering
from sklearn.exceptions import EfficiencyWarning
from sklearn.manifold import TSNE, Isomap
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer, LocalOutlierFactor
from sklearn.pipeline import make_pipeline

import taugraph
from taugraph import RobustNeighbors
from taugraph.exceptions import ParameterError


@pytest.fixture(autouse=True)
def rows_are_sorted():
    """scikit-learn warns about matrices whose rows are not sorted by distance."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", EfficiencyWarning)
        yield


def listed(matrix):
    """Columns and values, row by row, in the order in which they are stored."""
    n = matrix.shape[0]
    return matrix.indices.reshape(n, -1), matrix.data.reshape(n, -1)


def test_the_form_is_that_of_scikit_learn(blobs):
    X, _ = blobs
    for mode in ("distance", "connectivity"):
        ours = RobustNeighbors(7, mode=mode).fit_transform(X)
        theirs = KNeighborsTransformer(mode=mode, n_neighbors=7).fit_transform(X)
        assert type(ours) is type(theirs) and ours.shape == theirs.shape and ours.dtype == theirs.dtype
        assert (ours.indptr == theirs.indptr).all()
        columns, values = listed(ours)
        assert (columns[:, 0] == np.arange(300)).all()
        if mode == "distance":
            assert (values[:, 0] == 0).all() and (values[:, 1] > 0).all() and (np.diff(values, axis=1) >= 0).all()
        else:
            assert (values == 1).all()


def test_distances_are_those_of_the_definition(blobs):
    X, _ = blobs
    model = RobustNeighbors().fit(X)
    (i, j), sigma = model.edges_.T, model.local_scales_
    expected = np.full((300, 300), np.inf)
    weights = model.edge_probabilities_ * np.exp(-(model.edge_distances_**2) / (sigma[i] * sigma[j]))
    expected[i, j] = expected[j, i] = np.sqrt(-np.log(np.maximum(weights, 1e-6)))
    np.fill_diagonal(expected, 0)
    _, values = listed(model.distances_)
    assert np.allclose(values, np.sort(expected, axis=1)[:, :11])
    # In any units.
    assert np.allclose(listed(RobustNeighbors().fit(1000 * X).distances_)[1], values)


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_known_points_keep_their_rows_and_new_ones_have_as_many(blobs, mode):
    X, _ = blobs
    model = RobustNeighbors(mode=mode)
    known = model.fit_transform(X)
    again = model.transform(X)
    assert (again.indices == known.indices).all() and (again.data == known.data).all()
    mixed = model.transform(np.vstack([X[:1], X[:1] + 1e-3, X[1:2]]))
    columns, values = listed(mixed)
    assert columns.shape[1] == len(listed(known)[0][0]) and mixed.shape == (3, 300)
    assert (columns[[0, 2]] == listed(known)[0][:2]).all() and (np.diff(values, axis=1) >= 0).all()
    assert columns[1, 0] == 0
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.transform(X[:5] + 1e-3) != model.transform(X[:5] + 1e-3)).nnz == 0


def test_equal_rows_are_neighbors_at_distance_0(blobs):
    X = np.vstack([blobs[0], blobs[0][:2], blobs[0][:1]])
    model = RobustNeighbors().fit(X)
    columns, values = listed(model.distances_)
    assert (columns[:, 0] == np.arange(303)).all()
    for row in (0, 300, 302):
        assert set(columns[row, :3]) == {0, 300, 302} and (values[row, :3] == 0).all() and (values[row, 3:] > 0).all()
    # Whoever is near one of them is equally near all.
    row = next(row for row in range(2, 300) if 0 in columns[row, :-2])
    at = columns[row].tolist().index(0)
    assert columns[row, at : at + 3].tolist() == [0, 300, 302] and np.ptp(values[row, at : at + 3]) == 0
    assert (model.transform(X) != model.distances_).nnz == 0
    # More copies than neighbors.
    same = np.repeat(np.arange(4.0), 25)[:, None]
    columns, values = listed(RobustNeighbors().fit_transform(same))
    assert (columns[:, 0] == np.arange(100)).all() and (values == 0).all()


def test_few_points_and_wrong_arguments(blobs):
    X, _ = blobs
    assert RobustNeighbors().fit_transform(X[:6]).nnz == 36
    assert listed(RobustNeighbors(40).fit_transform(X))[0].shape == (300, 41)
    with pytest.raises(taugraph.exceptions.TooFewPointsError, match="at most 5"):
        RobustNeighbors(40).fit(X[:6])
    with pytest.raises(ParameterError, match="mode = 'weights'"):
        RobustNeighbors(mode="weights").fit(X)
    with pytest.raises(ParameterError, match="n_neighbors = 0"):
        RobustNeighbors(0).fit(X)
    with pytest.raises(ParameterError, match="candidate edges"):
        RobustNeighbors(params={"graph.candidates.symmetrize": "mutual"}).fit(X)


@pytest.mark.parametrize("preset", taugraph.PRESETS)
def test_every_preset(blobs, preset):
    X = blobs[0][::3]
    quick = {"graph.estimator": "identity"} if preset.startswith("paper") else None
    model = RobustNeighbors(5, preset=preset, params=quick)
    assert listed(model.fit_transform(X))[0].shape == (100, 6)
    assert listed(model.transform(X + 1e-3))[0].shape == (100, 6)


def test_distances_and_sparse_points(blobs):
    from sklearn.metrics import pairwise_distances

    X, _ = blobs
    distances = pairwise_distances(X)
    found = RobustNeighbors(metric="precomputed").fit_transform(distances)
    expected = RobustNeighbors().fit_transform(X)
    assert (found.indices == expected.indices).mean() > 0.99
    sparse = sp.csr_matrix(np.maximum(X, 0) + np.eye(*X.shape))
    model = RobustNeighbors().fit(sparse)
    assert listed(model.distances_)[0].shape == (300, 11) and model.transform(sparse[:4]).shape == (4, 300)


def test_estimators_of_scikit_learn_accept_it(blobs):
    X, y = blobs
    clusters = make_pipeline(RobustNeighbors(), SpectralClustering(4, affinity="precomputed_nearest_neighbors", random_state=0))
    assert taugraph.metrics.nmi(y, clusters.fit_predict(X)) > 0.9
    moons, halves = taugraph.make_moons(400, noise=0.05, random_state=0)
    for unit in (1, 1000):
        density = make_pipeline(RobustNeighbors(), DBSCAN(eps=1.5, metric="precomputed"))
        assert taugraph.metrics.nmi(halves, density.fit_predict(unit * moons)) > 0.95
    moon = moons[halves == 0]
    unrolled = make_pipeline(RobustNeighbors(), Isomap(metric="precomputed")).fit(moon)
    assert unrolled.transform(moon[:3] + 1e-3).shape == (3, 2)
    assert make_pipeline(RobustNeighbors(21), LocalOutlierFactor(20, metric="precomputed")).fit_predict(X).shape == (300,)
    assert make_pipeline(RobustNeighbors(61), TSNE(metric="precomputed", init="random", perplexity=20)).fit_transform(X).shape == (300, 2)


def test_cross_validation_places_new_points(blobs):
    X, y = blobs
    pipeline = make_pipeline(RobustNeighbors(), KNeighborsClassifier(metric="precomputed"))
    grid = {"robustneighbors__n_neighbors": [8, 16], "kneighborsclassifier__weights": ["uniform", "distance"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.95 and set(search.predict(X + 1e-3)) <= set(y)


@pytest.mark.parametrize("method", ["umap", "gauss"])
def test_scanpy_accepts_it(blobs, method):
    X, y = blobs
    cells = anndata.AnnData(X.astype(np.float32))
    sc.pp.neighbors(cells, transformer=RobustNeighbors(15), method=method, use_rep="X")
    assert cells.uns["neighbors"]["params"]["n_neighbors"] == 15
    expected = RobustNeighbors(15).fit_transform(cells.X)
    assert (cells.obsp["distances"] != expected).nnz == 0
    sc.tl.leiden(cells, resolution=0.1, flavor="igraph", n_iterations=2, directed=False)
    assert taugraph.metrics.nmi(y, cells.obs["leiden"].astype(int)) > 0.8
    sc.tl.umap(cells)
    assert np.isfinite(cells.obsm["X_umap"]).all()
