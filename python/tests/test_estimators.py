"""scikit-learn's own checks, and life inside scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import taugraph


@parametrize_with_checks(
    [
        taugraph.RobustGraph(),
        taugraph.SpectralClustering(),
        taugraph.SpectralClustering(affinity="nearest_neighbors", n_clusters=3),
        taugraph.LabelPropagation(),
        taugraph.LabelPropagation(rule="poisson"),
        taugraph.SpectralEmbedding(),
        taugraph.ConsensusClustering(),
    ],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_pipeline_and_grid_search(blobs):
    X, y = blobs
    pipeline = make_pipeline(StandardScaler(), taugraph.LabelPropagation(standardize="none"))
    search = GridSearchCV(pipeline, {"labelpropagation__n_neighbors": [8, 12]}, cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.95
    assert set(search.predict(X)) <= set(y)


def test_clone_keeps_every_parameter():
    for estimator in (
        taugraph.RobustGraph("paper", taus=[0.3, 0.6], graph_params={"threshold": 0.1}),
        taugraph.SpectralClustering(3, affinity="local_scaling", stability=2),
        taugraph.LabelPropagation("poisson", priors={"a": 0.5, "b": 0.5}),
        taugraph.SpectralEmbedding(4, rows="diffusion"),
    ):
        assert clone(estimator).get_params() == estimator.get_params()


def test_set_output_gives_frames(blobs):
    X, _ = blobs
    frame = taugraph.SpectralEmbedding(3).set_output(transform="pandas").fit_transform(pd.DataFrame(X))
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["spectralembedding0", "spectralembedding1", "spectralembedding2"]


def test_transform_knows_what_it_has_seen(blobs):
    X, _ = blobs
    model = taugraph.RobustGraph().fit(X)
    assert (model.transform(X[:40]) != model.graph_[:40]).nnz == 0
    new = model.transform(X[:40] + 1e-3)
    assert new.shape == (40, 300) and new.nnz > 40 and new.data.min() > 0
    mixed = model.transform(np.vstack([X[:2], X[:1] + 1e-3]))
    assert (mixed[:2] != model.graph_[:2]).nnz == 0 and mixed[2].nnz > 1


def test_predict_is_close_to_what_was_fitted(blobs):
    X, y = blobs
    clusters = taugraph.SpectralClustering(4).fit(X)
    assert (clusters.predict(X) == clusters.labels_).all()
    assert (clusters.predict(X + 1e-6) == clusters.labels_).mean() > 0.99
    embedding = taugraph.SpectralEmbedding(3).fit(X)
    assert (embedding.transform(X) == embedding.embedding_).all()
    near = embedding.transform(X + 1e-6)
    assert np.abs(near - embedding.embedding_).max() < 0.1 * np.abs(embedding.embedding_).max()


@pytest.mark.parametrize("affinity", ["robust", "robust_mean", "local-scaling", "nearest_neighbors", "rbf", "path_based"])
def test_every_affinity_finds_blobs(blobs, affinity):
    X, y = blobs
    labels = taugraph.SpectralClustering(4, affinity=affinity).fit_predict(X)
    assert taugraph.metrics.nmi(y, labels) > 0.9


def test_number_of_clusters_and_stability(blobs):
    X, y = blobs
    model = taugraph.SpectralClustering(stability=4).fit(X)
    assert model.n_clusters_ == 4 and model.stability_.shape == (300,)
    assert 0.9 < model.overall_stability_ <= 1.0
    assert model.gaps_.argmax() + 1 == 4 or model.n_clusters_ == 4


def test_precomputed_graphs_and_distances(blobs):
    from sklearn.metrics import pairwise_distances

    X, y = blobs
    graph = taugraph.RobustGraph().fit(X)
    whole = taugraph.SpectralClustering(4).fit_predict(X)
    given = taugraph.SpectralClustering(4, affinity="precomputed").fit_predict(graph.graph_)
    assert (whole == given).all()
    scaled = StandardScaler().fit_transform(X)
    distances = pairwise_distances(scaled)
    distances[np.diag_indices_from(distances)] = 0
    far = taugraph.SpectralClustering(4, metric="precomputed").fit_predict(distances)
    assert taugraph.metrics.nmi(y, far) == pytest.approx(taugraph.metrics.nmi(y, whole))
    near = taugraph.SpectralClustering(4, metric="precomputed").fit_predict(taugraph.knn_graph(scaled, 15))
    assert taugraph.metrics.nmi(y, near) == pytest.approx(taugraph.metrics.nmi(y, whole))
    assert not hasattr(taugraph.SpectralClustering(4, affinity="precomputed"), "predict")
    with pytest.raises(taugraph.exceptions.NeedsPointsError):
        taugraph.RobustGraph(metric="precomputed").fit(distances).transform(distances[:5])


def test_few_points_get_small_neighborhoods():
    X = np.arange(6.0)[:, None] ** 2
    assert taugraph.RobustGraph().fit(X).graph_.shape == (6, 6)
    with pytest.raises(taugraph.exceptions.TooFewPointsError, match="at most 5"):
        taugraph.RobustGraph(n_neighbors=10).fit(X)
    same = np.repeat(np.arange(4.0), 5)[:, None]
    assert len(set(taugraph.SpectralClustering(2).fit_predict(same))) == 2
