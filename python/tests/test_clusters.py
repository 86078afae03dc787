"""The number of clusters, layers, memberships, outliers, pairs and explanations."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import taugraph
from taugraph import exceptions


@pytest.fixture(scope="module")
def nested():
    """Eight groups in pairs: four pairs far apart, the two of a pair beside each other."""
    rng = np.random.default_rng(3)
    centers = np.array([[x, y] for x in (0.0, 40.0) for y in (0.0, 40.0)])
    centers = np.concatenate([centers, centers + [7.0, 0.0]])
    y = np.repeat(np.arange(8), 60)
    return centers[y] + rng.normal(size=(480, 2)), y


@pytest.fixture(scope="module")
def fitted(nested):
    return taugraph.SpectralClustering().fit(nested[0])


def test_one_gaussian_is_one_group():
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = taugraph.SpectralClustering().fit(X)
    assert model.n_clusters_ == 1 and set(model.labels_) == {0}
    assert model.evidence_.startswith("one group")
    assert model.count_["n_clusters"] == 1 and model.count_["evidence"] == "none"
    assert model.layers_ == [] and model.layer_resistances_.shape == (0,)
    assert (model.memberships_ == 1).all() and model.memberships_.shape == (500, 1)
    assert model.predict_layers(X[:5] + 0.01).shape == (5, 0)
    assert (model.predict(X[:5] + 0.01) == 0).all()
    assert model.explain(X)[0]["rule"] is None
    two = taugraph.SpectralClustering(min_clusters=2).fit(X)
    assert two.n_clusters_ == 2 and "because of min_clusters" in two.evidence_


def test_thirty_blobs_are_thirty_clusters():
    rng = np.random.default_rng(1)
    centers = np.array([[20.0 * i, 20.0 * j] for i in range(6) for j in range(5)])
    y = np.repeat(np.arange(30), 40)
    X = centers[y] + rng.normal(size=(1200, 2))
    for n_clusters in (None, "auto"):
        model = taugraph.SpectralClustering(n_clusters).fit(X)
        assert model.n_clusters_ == 30 and taugraph.metrics.nmi(y, model.labels_) == 1.0
    assert "30 groups" in model.evidence_ and model.count_["evidence"] == "strong"
    few = taugraph.SpectralClustering(max_clusters=10).fit(X)
    assert few.n_clusters_ == 10 and "suggest 30" in few.evidence_


def test_a_given_number_needs_no_evidence(nested):
    X, y = nested
    for method in ("auto", "spectral", "agglomerate"):
        model = taugraph.SpectralClustering(8, method=method).fit(X)
        assert taugraph.metrics.nmi(y, model.labels_) > 0.95, method
        assert model.evidence_ is None and model.count_ is None
        assert model.method_ in ("spectral", "agglomerate") and (method == "auto" or model.method_ == method)
        assert (model.choice_ is None) == (method != "auto")
        assert (model.merge_tree_ is None) == (method == "spectral")
        assert (model.embedding_ is None) == (model.method_ == "agglomerate")
    choice = taugraph.SpectralClustering(8).fit(X).choice_
    assert set(choice) == {"ratio", "modularity_agglomerated", "modularity_spectral"} and choice["ratio"] > 0


def test_layers_are_nested(fitted, nested):
    layers = fitted.layers_
    assert len(layers) >= 2 and fitted.layer_resistances_.shape == (len(layers),)
    for coarse, fine in zip(layers, layers[1:], strict=False):
        assert len(set(fine)) > len(set(coarse)) > 1
        assert len(set(zip(coarse.tolist(), fine.tolist(), strict=True))) == len(set(fine.tolist()))
    assert any(taugraph.metrics.nmi(nested[1] % 4, layer) > 0.99 for layer in layers)


def test_the_merge_tree_leads_to_one_group(fitted):
    tree = fitted.merge_tree_
    micro, merges = tree["micro_communities"], tree["merges"]
    n_micro = micro.max() + 1
    assert micro.shape == fitted.labels_.shape and merges.shape == (n_micro - 1, 2)
    assert sorted(merges.ravel()) == list(range(2 * n_micro - 2))
    assert tree["size"][-1] == len(micro)
    assert all(len(tree[name]) == len(merges) for name in ("linkage", "resistance", "size"))


def test_memberships_sum_to_one(fitted):
    assert fitted.memberships_.shape == (480, fitted.n_clusters_)
    assert np.allclose(fitted.memberships_.sum(axis=1), 1) and fitted.memberships_.min() >= 0
    assert (fitted.memberships_.argmax(axis=1) == fitted.labels_).mean() > 0.99


def test_outliers_are_marked_only_if_asked_for(nested):
    X = np.concatenate([nested[0], [[20.0, 20.0]]])
    every = taugraph.SpectralClustering(8).fit(X)
    assert every.labels_.min() == 0 and every.outlier_scores_.argmax() == 480
    share = taugraph.SpectralClustering(8, outliers=0.05).fit(X)
    is_outlier = share.labels_ == -1
    assert is_outlier.sum() == round(0.05 * 481)
    assert share.outlier_scores_[is_outlier].min() > share.outlier_scores_[~is_outlier].max()
    assert (share.labels_[~is_outlier] == every.labels_[~is_outlier]).all()
    assert (share.predict(X) == every.labels_).all() and share.n_clusters_ == 8
    apart = taugraph.SpectralClustering(8, outliers="auto").fit(X)
    assert apart.labels_[480] == -1 and (apart.labels_ == -1).mean() < 0.05
    graph = taugraph.RobustGraph().fit_transform(X)
    assert taugraph.SpectralClustering(8, graph="precomputed").fit(graph).outlier_scores_ is None
    with pytest.raises(exceptions.NeedsPointsError, match="outlier"):
        taugraph.SpectralClustering(8, graph="precomputed", outliers="auto").fit(graph)


def test_pairs_are_honored(nested):
    X, y = nested
    together = [(0, 61), (61, 130)]
    apart = np.array([[0, 5], [200, 210]])
    for n_clusters in (8, None):
        model = taugraph.SpectralClustering(n_clusters).fit(X, must_link=together, cannot_link=apart)
        labels = model.labels_
        assert labels[0] == labels[61] == labels[130] and (labels[apart[:, 0]] != labels[apart[:, 1]]).all()
        assert model.method_ == "agglomerate"
    same = taugraph.SpectralClustering(8).fit_predict(X, must_link=together, cannot_link=apart)
    assert same[0] == same[61]
    assert (taugraph.SpectralClustering(8).fit(X, must_link=[]).labels_ == taugraph.SpectralClustering(8).fit(X).labels_).all()


def test_pairs_that_contradict_are_named(nested):
    X, _ = nested
    model = taugraph.SpectralClustering(8)
    for must_link, cannot_link, rows in (
        ([(0, 3), (3, 7)], [(7, 0)], "7 and 0"),
        ([(2, 480)], None, "2 and 480"),
        (None, [(-1, 4)], "-1 and 4"),
    ):
        with pytest.raises(exceptions.BadConstraintError, match=f"rows {rows}:"):
            model.fit(X, must_link=must_link, cannot_link=cannot_link)
    for wrong in ([1, 2], [[1, 2, 3]], [[0.5, 1.0]], [["a", "b"]]):
        with pytest.raises(ValueError, match="pairs of row numbers"):
            model.fit(X, must_link=wrong)
    with pytest.raises(exceptions.ParameterError, match="cluster.method"):
        taugraph.SpectralClustering(8, method="spectral").fit(X, must_link=[(0, 1)])
    # Equal rows share a cluster.
    with pytest.raises(exceptions.BadConstraintError, match="rows 0 and 480:"):
        model.fit(np.concatenate([X, X[:1]]), cannot_link=[(0, 480)])


def test_explanations_find_the_column_that_separates():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 150)
    frame = pd.DataFrame({"noise": rng.normal(size=300), "height": 10.0 * y + rng.normal(size=300), "more": rng.normal(size=300)})
    model = taugraph.SpectralClustering(2).fit(frame)
    found = model.explain(frame)
    assert [one["size"] for one in found] == [150, 150]
    for cluster, one in enumerate(found):
        assert one["columns"][0]["column"] == "height" and abs(one["columns"][0]["standardized_difference"]) > 1.5
        assert one["columns"][0]["mean"] == pytest.approx(frame["height"][model.labels_ == cluster].mean())
        assert one["columns"][0]["mean_outside"] == pytest.approx(frame["height"][model.labels_ != cluster].mean())
        assert (model.labels_[one["typical_rows"]] == cluster).all() and len(one["typical_rows"]) == 3
        condition = one["rule"]["conditions"][0]
        assert condition["column"] == "height" and condition["operator"] in (">", "<=")
        assert one["rule"]["precision"] > 0.9 and one["rule"]["recall"] > 0.9
    # Without names columns have numbers; other columns of the same rows do as well.
    assert model.explain(frame.to_numpy())[0]["columns"][0]["column"] == 1
    assert model.explain(sp.csr_matrix(frame.to_numpy()))[0]["columns"][0]["column"] == 1
    assert model.explain(frame[["height"]].assign(empty=np.nan))[0]["columns"][0]["column"] == "height"
    with pytest.raises(exceptions.LengthError):
        model.explain(frame[:100])


@pytest.mark.parametrize("method", ["auto", "spectral", "agglomerate"])
def test_known_points_are_placed_where_they_were(nested, method, tmp_path):
    X = np.concatenate([nested[0], nested[0][:9]])
    model = taugraph.SpectralClustering(method=method).fit(X)
    layers = np.column_stack(model.layers_)
    taken = taugraph.load(model.save(tmp_path / "m.safetensors") and tmp_path / "m.safetensors")
    for placing in (model, pickle.loads(pickle.dumps(model)), taken):
        assert (placing.predict(X) == model.labels_).all()
        assert (placing.predict_layers(X) == layers).all()
        assert (placing.predict_membership(X) == model.memberships_).all()
        assert (placing.outlier_scores(X) == model.outlier_scores_).all()
        near = X + 1e-4
        assert np.allclose(placing.predict_membership(near).sum(axis=1), 1)
        assert (placing.predict(near) == model.labels_).mean() > 0.99
        assert (placing.predict_layers(near) == layers).mean() > 0.99
        assert placing.outlier_scores([[20.0, 20.0]])[0] > 2 > np.median(placing.outlier_scores(near))


def test_what_needs_the_fit_is_not_pickled(nested):
    model = taugraph.SpectralClustering(8).fit(nested[0])
    again = pickle.loads(pickle.dumps(model))
    assert (again.layers_[0] == model.layers_[0]).all() and again.evidence_ is None
    for call in (lambda: again.memberships_, lambda: again.explain(nested[0])):
        with pytest.raises(exceptions.NeedsPointsError, match="fit again"):
            call()
    # Once they are known they stay.
    assert (pickle.loads(pickle.dumps(model)).predict_membership(nested[0]) == model.memberships_).all()
    assert (pickle.loads(pickle.dumps(model)).memberships_ == model.memberships_).all()
    with pytest.raises(AttributeError):
        taugraph.SpectralClustering().memberships_  # noqa: B018


def test_threads_change_nothing(nested):
    X, _ = nested
    near = X[::3] + 0.01

    def found(n_jobs, **pairs):
        model = taugraph.SpectralClustering(outliers=0.02, stability=3, n_jobs=n_jobs).fit(X, **pairs)
        tree = model.merge_tree_
        own = [model.labels_, model.memberships_, model.outlier_scores_, model.stability_, model.cluster_stabilities_]
        new = [model.predict(near), model.predict_membership(near), model.predict_layers(near), model.outlier_scores(near)]
        rest = [model.evidence_, model.count_, model.choice_, model.method_, model.explain(X)]
        return [*own, *new, *model.layers_, model.layer_resistances_, *tree.values()], rest

    for pairs in ({}, {"must_link": [(0, 100)], "cannot_link": [(1, 2)]}):
        one, two = found(1, **pairs), found(2, **pairs)
        assert len(one[0]) == len(two[0]) and all((a == b).all() for a, b in zip(one[0], two[0], strict=True))
        assert one[1] == two[1]


def test_stability_of_clusters(nested):
    model = taugraph.SpectralClustering(8, stability=3).fit(nested[0])
    means = [model.stability_[model.labels_ == cluster].mean() for cluster in range(8)]
    assert model.cluster_stabilities_ == pytest.approx(means)
    assert taugraph.SpectralClustering(8).fit(nested[0]).cluster_stabilities_ is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "magic"},
        {"n_clusters": "many"},
        {"n_clusters": 0},
        {"min_clusters": 0},
        {"max_clusters": 1},
        {"max_clusters": 2.5},
        {"min_clusters": 5, "max_clusters": 3},
        {"outliers": 1.5},
        {"outliers": -0.1},
        {"outliers": True},
        {"outliers": "some"},
        {"outliers": float("nan")},
    ],
)
def test_arguments_are_checked(nested, wrong):
    with pytest.raises(exceptions.ParameterError, match=next(iter(wrong))):
        taugraph.SpectralClustering(**wrong).fit(nested[0])


def test_agreement_with_local_scaling_is_high_on_blobs_and_absent_for_graphs():
    X, _ = taugraph.make_spirals(300, random_state=1)
    apart = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + 20 * k for k in range(3)])
    assert taugraph.SpectralClustering(3).fit(apart).agreement_with_local_scaling() == 1.0
    found = taugraph.SpectralClustering(2).fit(X).agreement_with_local_scaling()
    assert found is not None and -1 <= found <= 1
