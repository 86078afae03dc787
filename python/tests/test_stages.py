"""Functions for each stage, graphs for other libraries, plots."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, balanced_accuracy_score, normalized_mutual_info_score
from sklearn.neighbors import kneighbors_graph

import taugraph

matplotlib.use("Agg")


def test_neighbors_equal_scikit_learn(blobs):
    X, _ = blobs
    ours = taugraph.knn_graph(X, 9)
    theirs = kneighbors_graph(X, 9, mode="distance")
    assert (ours.indices.reshape(-1, 9) == np.sort(theirs.indices.reshape(-1, 9), axis=1)).all()
    assert np.allclose(ours.toarray(), theirs.toarray(), rtol=1e-12)
    assert (taugraph.knn_graph(X, 9, mode="connectivity").data == 1).all()
    for metric in ("manhattan", "cosine"):
        theirs = kneighbors_graph(X, 5, mode="distance", metric=metric)
        assert np.allclose(taugraph.knn_graph(X, 5, metric=metric).toarray(), theirs.toarray(), atol=1e-12)


def test_scales(blobs):
    knn = taugraph.knn_graph(blobs[0], 10)
    ordered = np.sort(knn.data.reshape(-1, 10), axis=1)
    kth = ordered[:, 6]
    assert (taugraph.local_scales(knn) == np.maximum(kth, 0.25 * np.median(kth))).all()
    assert np.allclose(taugraph.local_scales(knn, 4, kind="mean-of-neighbors", floor=0), ordered[:, :4].mean(axis=1))
    uneven = knn.tolil()
    uneven[0] = 0
    with pytest.raises(ValueError, match="same number of neighbors"):
        taugraph.local_scales(uneven.tocsr())
    with pytest.raises(taugraph.exceptions.ParameterError, match="kth-neighbor"):
        taugraph.local_scales(knn, kind="median")


def test_quantiles_descend(blobs):
    X = blobs[0][:80]
    found = taugraph.quantile_reconstruction(X, preset="robust", params={"graph.taus": [0.2, 0.5, 0.8]})
    assert found.values.shape == (len(found.edges), 3) and (np.diff(found.values, axis=1) <= 0).all()
    assert found.similarities.min() >= 0 and found.similarities.max() <= 1
    with pytest.raises(ValueError, match="persistence"):
        taugraph.quantile_reconstruction(X, preset="robust", estimator="community")


def test_the_quantiles_of_few_points_shrink_their_neighborhoods_as_a_fit_does():
    X = taugraph.make_spirals(10, random_state=3)[0]
    found = taugraph.quantile_reconstruction(X, params={"graph.taus": [0.2, 0.8]})
    assert found.values.shape == (len(found.edges), 2)
    with pytest.raises(ValueError, match="neighbors"):
        taugraph.quantile_reconstruction(X, params={"graph.estimator.target_neighbors": 11})


def test_presets_are_not_changed_by_their_use(blobs):
    import json

    before = json.dumps(taugraph.PRESETS)
    taugraph.quantile_reconstruction(blobs[0][:80], preset="robust")
    taugraph.RobustGraph(n_neighbors=5, estimator=["neighborhood", "overlap"], params={"graph.search.recall": 0.9}).fit(blobs[0])
    taugraph.RobustGraph().fit(blobs[0][:8])
    assert json.dumps(taugraph.PRESETS) == before


def test_stochastic_graph(blobs):
    graph = taugraph.stochastic_graph(blobs[0], n_neighbors=10)
    assert (graph.probabilities != graph.probabilities.T).nnz == 0
    assert 0 < graph.probabilities.data.min() and graph.probabilities.data.max() <= 1
    assert (np.diff(graph.decay[:, 1]) <= 0).all()


def test_metrics_equal_scikit_learn():
    rng = np.random.default_rng(0)
    a, b = rng.integers(4, size=200), rng.integers(5, size=200)
    m = taugraph.metrics
    assert m.nmi(a, b) == pytest.approx(normalized_mutual_info_score(a, b))
    assert m.ari(a, b) == pytest.approx(adjusted_rand_score(a, b))
    assert m.ami(a, b) == pytest.approx(adjusted_mutual_info_score(a, b))
    c = np.where(rng.random(200) < 0.8, a, (a + 1) % 4)
    assert m.balanced_accuracy(a, c) == pytest.approx(balanced_accuracy_score(a, c))
    assert m.accuracy(a, c) == pytest.approx((a == c).mean())
    assert m.matched_accuracy(a, (a + 2) % 4) == 1.0
    with pytest.raises(taugraph.exceptions.LengthError):
        m.nmi([0, 1], [0, 1, 2])


def test_other_libraries(blobs):
    model = taugraph.RobustGraph().fit(blobs[0])
    n_edges = sp.triu(model.graph_).nnz
    nx = taugraph.convert.to_networkx(model)
    assert (nx.number_of_nodes(), nx.number_of_edges()) == (300, n_edges)
    i, j = model.graph_.nonzero()[0][0], model.graph_.nonzero()[1][0]
    assert nx[int(i)][int(j)]["weight"] == model.graph_[i, j]
    ig = taugraph.convert.to_igraph(model.graph_)
    assert (ig.vcount(), ig.ecount()) == (300, n_edges)
    assert sorted(ig.es["weight"]) == sorted(sp.triu(model.graph_).data.tolist())
    assert taugraph.convert.to_scipy(model) is model.graph_


def test_pictures(blobs, tmp_path):
    X, y = blobs
    graph = taugraph.RobustGraph().fit(X)
    clusters = taugraph.SpectralClustering(4, stability=2).fit(X)
    plot = taugraph.plot
    drawn = {
        "graph": plot.graph(graph, X, labels=clusters.labels_, least=0.2),
        "clusters": plot.clusters(clusters, X),
        "decay": plot.decay(graph),
        "scales": plot.scales(graph),
        "stability": plot.stability(clusters, X),
    }
    for name, ax in drawn.items():
        file = tmp_path / f"{name}.png"
        ax.figure.savefig(file)
        assert file.stat().st_size > 5000, name
    assert len(drawn["clusters"].get_legend().get_texts()) == 4
    assert drawn["decay"].lines[0].get_ydata().tolist() == graph.decay_[:, 1].tolist()
    with pytest.raises(ValueError, match="stability"):
        plot.stability(taugraph.SpectralClustering(2).fit(X), X)


def test_papers_datasets():
    import os

    assert len(taugraph.paper.names()) == 15
    with pytest.raises(KeyError):
        taugraph.paper.load("no-such-set")
    if not os.environ.get("TAUGRAPH_DATA"):
        pytest.skip("TAUGRAPH_DATA is not set: the paper's sets are not read")
    wine = taugraph.paper.load("wine")
    assert wine.X.shape == (178, 13) and len(set(wine.y)) == 3 and len(wine.features) == 13
    assert taugraph.metrics.nmi(wine.y, taugraph.SpectralClustering(3).fit_predict(wine.X)) > 0.7
