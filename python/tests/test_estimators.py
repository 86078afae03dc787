"""scikit-learn's own checks, and use inside scikit-learn."""

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


def different_on_purpose(estimator):
    """A weight says how much a label counts. A row of weight 0 loses its label and stays a point of the graph, and copies of a row are one point."""
    checks = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    reason = "weights belong to labels, not to points"
    return dict.fromkeys(checks, reason) if isinstance(estimator, taugraph.LabelPropagation) else {}


@parametrize_with_checks(
    [
        taugraph.RobustGraph(),
        taugraph.RobustNeighbors(),
        taugraph.RobustNeighbors(5, mode="connectivity"),
        taugraph.SpectralClustering(),
        taugraph.SpectralClustering(graph="nearest_neighbors", n_clusters=3),
        taugraph.SpectralClustering(method="agglomerate", outliers="auto"),
        taugraph.LabelPropagation(),
        taugraph.LabelPropagation(rule="poisson"),
        taugraph.LabelSpreading(),
        taugraph.SpectralEmbedding(),
        taugraph.SpectralEmbedding(graph=taugraph.RobustGraph("robust-mean", n_neighbors=4)),
        taugraph.ConsensusClustering(),
    ],
    expected_failed_checks=different_on_purpose,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_pipeline_and_grid_search(blobs):
    X, y = blobs
    graph = taugraph.RobustGraph(standardize="none")
    pipeline = make_pipeline(StandardScaler(), taugraph.LabelPropagation(graph=graph))
    grid = {"labelpropagation__graph__n_neighbors": [8, 12], "labelpropagation__rule": ["harmonic", "poisson"]}
    search = GridSearchCV(pipeline, grid, cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.95
    assert set(search.predict(X)) <= set(y)
    # The graph passed as an argument is never fitted itself.
    assert not hasattr(graph, "graph_")


def test_clone_keeps_every_parameter():
    for estimator in (
        taugraph.RobustGraph("paper", params={"graph.taus": [0.3, 0.6], "graph": {"threshold": 0.1}}),
        taugraph.SpectralClustering("auto", method="agglomerate", max_clusters=9, outliers=0.1, graph="local_scaling", stability=2),
        taugraph.RobustNeighbors(7, mode="connectivity", preset="robust-mean", standardize="zscore"),
        taugraph.LabelPropagation("poisson", priors={"a": 0.5, "b": 0.5}),
        taugraph.LabelSpreading(alpha=0.9, sizes={"a": 0.5, "b": 0.5}),
        taugraph.SpectralEmbedding(4, params={"embedding.row_normalization": "diffusion"}),
    ):
        assert clone(estimator).get_params() == estimator.get_params()
    composed = clone(taugraph.SpectralClustering(graph=taugraph.RobustGraph("paper", pca=3)))
    assert composed.get_params()["graph__pca"] == 3
    assert composed.set_params(graph__preset="robust").graph.preset == "robust"


def test_composition_equals_the_short_arguments(blobs):
    X, y = blobs
    few = np.where(np.arange(len(y)) % 30 == 0, y, -1)
    graph = taugraph.RobustGraph("robust-mean", n_neighbors=9, metric="manhattan")
    for make, results in (
        (lambda **args: taugraph.SpectralClustering(4, method="spectral", stability=2, **args).fit(X), ("labels_", "stability_", "embedding_")),
        (lambda **args: taugraph.SpectralEmbedding(3, **args).fit(X), ("embedding_",)),
        (lambda **args: taugraph.LabelPropagation(**args).fit(X, few), ("transduction_", "label_distributions_")),
    ):
        composed = make(graph=graph)
        for same in (
            make(graph="robust-mean", n_neighbors=9, metric="manhattan"),
            make(graph="robust_mean", params={"graph.candidates.k": 9, "metric": "manhattan"}),
            make(graph=taugraph.RobustGraph("robust-mean", n_neighbors=12), n_neighbors=9, metric="manhattan"),
        ):
            for name in results:
                assert (getattr(same, name) == getattr(composed, name)).all(), name
    # Parameters without an argument of their own can be set, too.
    rotated = taugraph.SpectralEmbedding(graph=taugraph.RobustGraph(pca=2, standardize="robust")).fit(X)
    same = taugraph.SpectralEmbedding(params={"preparation": {"pca": 2, "standardize": "robust"}}).fit(X)
    assert (rotated.embedding_ == same.embedding_).all()


def test_a_graph_may_have_a_seed_of_its_own():
    X, _ = taugraph.make_spirals(100, noise=0.3, random_state=1)
    preset = {"preset": "paper", "estimator": "identity"}

    def embedded(seed_of_graph, seed):
        graph = taugraph.RobustGraph(**preset, random_state=seed_of_graph)
        return taugraph.SpectralEmbedding(graph=graph, random_state=seed).fit(X).embedding_

    assert (embedded(5, 5) != embedded(4, 4)).any()
    assert np.allclose(np.abs(embedded(5, 4)), np.abs(embedded(5, 5)), atol=1e-8)


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


@pytest.mark.parametrize("graph", ["robust", "robust_mean", "local-scaling", *taugraph.BASELINES])
def test_every_graph_finds_blobs(blobs, graph):
    X, y = blobs
    model = taugraph.SpectralClustering(4, graph=graph).fit(X)
    assert taugraph.metrics.nmi(y, model.labels_) > 0.9
    assert hasattr(model, "predict") == (graph not in taugraph.BASELINES)
    assert taugraph.SpectralEmbedding(2, graph=graph).fit(X).embedding_.shape == (300, 2)
    few = np.where(np.arange(len(y)) % 30 == 0, y, -1)
    assert (taugraph.LabelPropagation(graph=graph).fit(X, few).transduction_ == y).mean() > 0.9


def test_number_of_clusters_and_stability(blobs):
    X, y = blobs
    model = taugraph.SpectralClustering(stability=4).fit(X)
    assert model.n_clusters_ == 4 and model.stability_.shape == (300,)
    assert 0.9 < model.overall_stability_ <= 1.0
    # By the eigengap: the largest one among those after 2, 3, … clusters.
    model = taugraph.SpectralClustering(method="spectral", params={"cluster.count": "eigengap"}).fit(X)
    assert model.n_clusters_ == 4 and model.evidence_ is None
    assert len(model.gaps_) >= 4 and model.gaps_[1:].argmax() + 2 == 4


def test_precomputed_graphs_and_distances(blobs):
    from sklearn.metrics import pairwise_distances

    X, y = blobs
    graph = taugraph.RobustGraph().fit(X)
    whole = taugraph.SpectralClustering(4).fit_predict(X)
    given = taugraph.SpectralClustering(4, graph="precomputed").fit_predict(graph.graph_)
    assert (whole == given).all()
    scaled = StandardScaler().fit_transform(X)
    distances = pairwise_distances(scaled)
    distances[np.diag_indices_from(distances)] = 0
    far = taugraph.SpectralClustering(4, metric="precomputed").fit_predict(distances)
    assert taugraph.metrics.nmi(y, far) == pytest.approx(taugraph.metrics.nmi(y, whole))
    near = taugraph.SpectralClustering(4, metric="precomputed").fit_predict(taugraph.knn_graph(scaled, 15))
    assert taugraph.metrics.nmi(y, near) == pytest.approx(taugraph.metrics.nmi(y, whole))
    assert not hasattr(taugraph.SpectralClustering(4, graph="precomputed"), "predict")
    with pytest.raises(taugraph.exceptions.NeedsPointsError):
        taugraph.RobustGraph(metric="precomputed").fit(distances).transform(distances[:5])


def test_few_points_get_small_neighborhoods():
    X = np.arange(6.0)[:, None] ** 2
    assert taugraph.RobustGraph().fit(X).graph_.shape == (6, 6)
    with pytest.raises(taugraph.exceptions.TooFewPointsError, match="at most 5"):
        taugraph.RobustGraph(n_neighbors=10).fit(X)
    same = np.repeat(np.arange(4.0), 5)[:, None]
    assert len(set(taugraph.SpectralClustering(2).fit_predict(same))) == 2
