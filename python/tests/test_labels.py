"""Labels of any type, missing labels of any type, and nothing silently becomes class 0."""

from __future__ import annotations

import numpy as np
import pytest

import taugraph
from taugraph.exceptions import FewClassesError, ParameterError


def few(y, rows, gap, dtype=object):
    labels = np.full(len(y), gap, dtype=dtype)
    labels[rows] = np.asarray(y)[rows]
    return labels


@pytest.mark.parametrize("rule", ["harmonic", "poisson", "consistency", "kernel-cosine", "nearest_in_kernel", "greedy_walk"])
def test_every_rule_from_one_example_each(spirals, rule):
    X, y = taugraph.make_spirals(300, random_state=1)
    model = taugraph.LabelPropagation(rule).fit(X, few(y, [0, 299], -1, int))
    assert taugraph.metrics.accuracy(y, model.transduction_) > 0.9
    assert model.label_distributions_.shape == (300, 2) and model.margin_.shape == (300,)
    assert not model.abstained_.any()


@pytest.mark.parametrize("gap", [None, np.nan, -1])
def test_names_and_gaps(blobs, gap):
    X, y = blobs
    names = np.array(["north", "east", "south", "west"], dtype=object)[y]
    rows = [int(np.flatnonzero(y == k)[0]) for k in range(4)]
    model = taugraph.LabelPropagation().fit(X, few(names, rows, gap))
    assert list(model.classes_) == ["east", "north", "south", "west"]
    assert (model.transduction_ == names).mean() > 0.95
    assert (model.predict(X[:20] + 1e-6) == names[:20]).mean() > 0.9
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_labels_of_every_kind(blobs):
    import pandas as pd

    X, y = blobs
    rows = [int(np.flatnonzero(y == k)[0]) for k in range(4)]
    expected = taugraph.LabelPropagation().fit(X, few(y, rows, -1, int)).transduction_
    names = np.array(["a", "b", "c", "d"])
    for gap in (-1, None, float("nan"), pd.NA, pd.NaT, np.float32("nan"), -1.0):
        mixed = [str(names[k]) if row in rows else gap for row, k in enumerate(y)]
        for form in (mixed, np.array(mixed, dtype=object), pd.Series(mixed, dtype=object)):
            found = taugraph.LabelPropagation().fit(X, form)
            assert list(found.classes_) == ["a", "b", "c", "d"] and (found.transduction_ == names[expected]).all(), gap
        numbers = np.array([int(k) if row in rows else gap for row, k in enumerate(y)], dtype=object)
        assert (taugraph.LabelPropagation().fit(X, numbers).transduction_ == expected).all(), gap
    known = pd.Series([names[k] if row in rows else None for row, k in enumerate(y)], dtype="string")
    assert (taugraph.LabelPropagation().fit(X, known).transduction_ == names[expected]).all()
    two = pd.Series([bool(k % 2) if row in rows else None for row, k in enumerate(y)], dtype="boolean")
    assert taugraph.LabelPropagation().fit(X, two).classes_.dtype == bool
    with pytest.raises(TypeError, match="all names"):
        taugraph.LabelPropagation().fit(X, ["a", 1, *[None] * 298])


def test_labels_that_are_not_there_can_be_scored(blobs):
    X, y = blobs
    names = np.array(["a", "b", "c", "d"])[y]
    model = taugraph.LabelPropagation().fit(X, names)
    assert model.score(X, names) == 1.0
    assert taugraph.metrics.accuracy(["a", "b"], np.array(["a", None], dtype=object)) == 0.5
    assert taugraph.metrics.accuracy([0, 1], ["0", "1"]) == 0.0
    assert taugraph.metrics.nmi(["a", "b", "b"], np.array(["x", None, None], dtype=object)) == 1.0


def test_floats_with_nan(blobs):
    X, y = blobs
    rows = [int(np.flatnonzero(y == k)[0]) for k in range(4)]
    model = taugraph.LabelPropagation().fit(X, few(y, rows, np.nan, float))
    assert model.transduction_.dtype == float and (model.transduction_ == y).mean() > 0.95


def test_what_no_example_reaches_has_no_label():
    path = np.diag(np.ones(5), 1)
    path[2, 3] = 0
    graph = path + path.T
    labels, probabilities = taugraph.propagate(graph, [0, -1, 1, -1, -1, -1])
    assert labels.tolist()[3:] == [-1, -1, -1] and (probabilities[3:] == 0).all()
    names, _ = taugraph.propagate(graph, ["a", None, "b", None, None, None])
    assert names.tolist()[3:] == [None, None, None]
    model = taugraph.LabelPropagation(graph="precomputed").fit(graph, ["a", None, "b", None, None, None])
    assert model.abstained_.tolist() == [False] * 3 + [True] * 3 and model.margin_[3:].tolist() == [0, 0, 0]


def test_everything_labeled_stays_as_it_is(blobs):
    X, y = blobs
    for rule in ("harmonic", "poisson", "consistency", "kernel-cosine", "nearest-in-kernel"):
        model = taugraph.LabelPropagation(rule).fit(X, y)
        assert (model.transduction_ == y).all(), rule
        assert (model.predict(X) == y).all()
    names = np.array(["north", "east", "south", "west"])[y]
    for labels in (y.astype(np.int8), y.astype(float), names):
        for estimator in (taugraph.LabelPropagation(), taugraph.LabelSpreading()):
            found = estimator.fit(X, labels).transduction_
            assert found.dtype == labels.dtype and (found == labels).all()
            assert (estimator.label_distributions_ == (labels[:, None] == estimator.classes_)).all()


def test_label_spreading_is_the_rule_consistency(blobs):
    X, y = blobs
    labels = np.where(np.arange(len(y)) % 30 == 0, y, -1)
    for alpha in (0.2, 0.9):
        spread = taugraph.LabelSpreading(alpha=alpha).fit(X, labels)
        same = taugraph.LabelPropagation("consistency", params={"propagate.rule.alpha": alpha}).fit(X, labels)
        assert (spread.label_distributions_ == same.label_distributions_).all()
        assert (spread.predict_proba(X + 1e-3) == same.predict_proba(X + 1e-3)).all()
    assert taugraph.LabelSpreading().alpha == 0.2
    with pytest.raises(ParameterError, match="alpha = 1"):
        taugraph.LabelSpreading(alpha=1).fit(X, labels)
    with pytest.raises(ValueError, match="This LabelSpreading estimator requires y"):
        taugraph.LabelSpreading().fit(X, None)


def test_priors_sizes_and_soft_clamping(blobs):
    X, y = blobs
    rows = [int(np.flatnonzero(y == k)[0]) for k in range(4)]
    labels = few(y, rows, -1, int)
    shares = {k: float((y == k).mean()) for k in range(4)}
    sized = taugraph.LabelPropagation(sizes=shares, params={"propagate.clamping": {"kind": "soft", "strength": 5.0}}).fit(X, labels)
    assert (sized.transduction_ == y).mean() > 0.9
    assert taugraph.LabelPropagation(priors=shares).fit(X, labels).transduction_.shape == y.shape
    with pytest.raises(ParameterError, match="no row has the label 9"):
        taugraph.LabelPropagation(priors={**shares, 9: 0.1}).fit(X, labels)
    graph = taugraph.RobustGraph().fit_transform(X)
    assert (taugraph.propagate(graph, labels, priors=shares)[0] == taugraph.LabelPropagation(priors=shares).fit(X, labels).transduction_).all()
    with pytest.raises(ParameterError, match="dict of label"):
        taugraph.propagate(graph, labels, priors=[0.25] * 4)
    with pytest.raises(ParameterError, match="label 3 is missing"):
        taugraph.LabelPropagation(priors={k: 1.0 for k in range(3)}).fit(X, labels)


def test_one_class_is_not_enough(blobs):
    X, y = blobs
    for estimator in (taugraph.LabelPropagation(), taugraph.LabelSpreading()):
        for labels, n_classes in ((few(y, [0], -1, int), 1), (np.zeros(len(y), dtype=int), 1), (np.full(len(y), -1), 0)):
            with pytest.raises(FewClassesError, match=f"{n_classes} class"):
                estimator.fit(X, labels)
    with pytest.raises(ValueError, match="requires y"):
        taugraph.LabelPropagation().fit(X, None)


def test_weights_of_labels(blobs):
    X, y = blobs
    given = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    plain = taugraph.LabelPropagation().fit(X, given)
    ones = taugraph.LabelPropagation().fit(X, given, sample_weight=np.ones(len(y)))
    assert (ones.label_distributions_ == plain.label_distributions_).all()
    # Weights of rows without a label do not matter; a weight of 0 takes a label away, and with all of them the class.
    weights = np.where(given >= 0, 1.0, 7.0)
    assert (taugraph.LabelPropagation().fit(X, given, weights).label_distributions_ == plain.label_distributions_).all()
    without = taugraph.LabelPropagation().fit(X, np.where(given == 2, -1, given))
    zero = taugraph.LabelPropagation().fit(X, given, np.where(given == 2, 0.0, 1.0))
    assert list(zero.classes_) == list(without.classes_) == [0, 1, 3]
    assert (zero.label_distributions_ == without.label_distributions_).all()
    # Two rows with the same neighbors and different labels: the heavier one has more of the rows between.
    line = np.linspace(0, 1, 41)[:, None]
    ends = np.full(41, -1)
    ends[[0, 40]] = 0, 1
    heavy = np.ones(41)
    heavy[40] = 10
    for rule in ("harmonic", "poisson", "consistency"):
        even = taugraph.LabelPropagation(rule).fit(line, ends).label_distributions_[:, 1]
        more = taugraph.LabelPropagation(rule).fit(line, ends, heavy).label_distributions_[:, 1]
        assert more.mean() > even.mean(), rule
    with pytest.raises(ParameterError, match="different weights"):
        taugraph.LabelPropagation("kernel-cosine").fit(line, ends, heavy)
    for wrong, message in [(-1.0, "not negative"), (np.nan, "finite"), (np.inf, "finite")]:
        heavy[40] = wrong
        with pytest.raises(ParameterError, match=message):
            taugraph.LabelPropagation().fit(line, ends, heavy)
    with pytest.raises(ValueError, match="inconsistent"):
        taugraph.LabelPropagation().fit(line, ends, np.ones(40))


def test_probabilities_are_calibrated_on_labeled_rows():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 300)
    X = rng.normal(size=(600, 3)) + y[:, None]
    given = np.where(rng.random(600) < 0.3, y, -1)
    model = taugraph.LabelPropagation().fit(X, given)
    raw = taugraph.LabelPropagation(params={"propagate.calibration": "no"}).fit(X, given)
    assert model.temperature_ > 0 and raw.temperature_ is None
    assert (model.transduction_ == raw.transduction_).all()
    hidden = given < 0
    powers = raw.label_distributions_[hidden] ** (1 / model.temperature_)
    assert np.allclose(model.label_distributions_[hidden], powers / powers.sum(1, keepdims=True))
    loss = lambda found: -np.log(found.label_distributions_[hidden][np.arange(hidden.sum()), y[hidden]].clip(1e-6)).mean()
    assert loss(model) < loss(raw)
    few = np.full(600, -1)
    few[[0, 599]] = 0, 1
    assert taugraph.LabelPropagation().fit(X, few).temperature_ is None
