"""Which rows to label next: the suggested ones help more than random ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import datasets

import taugraph
from taugraph.exceptions import NeedsPointsError


def overlapping():
    """Six Gaussians of different sizes that overlap."""
    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(6), [200, 120, 80, 60, 40, 30])
    return rng.normal(size=(6, 4))[y] * 3 + rng.normal(size=(len(y), 4)), y


def wide():
    X, y = datasets.load_digits(return_X_y=True)
    return X[:900], y[:900]


SETS = {
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": wide,
    "overlapping Gaussians": overlapping,
}


def accuracy(X, y, given):
    model = taugraph.LabelPropagation().fit(X, given)
    hidden = given < 0
    return model, np.mean(model.transduction_[hidden] == y[hidden])


@pytest.mark.parametrize("name", SETS)
def test_suggestions_beat_random_choice(name):
    X, y = SETS[name]()
    n = 2 * len(np.unique(y))
    suggested, drawn = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        given = np.full(len(y), -1)
        for label in np.unique(y):
            row = rng.choice(np.flatnonzero(y == label))
            given[row] = label
        model, _ = accuracy(X, y, given)
        for rows, found in [(model.suggest(n), suggested), *((rng.choice(np.flatnonzero(given < 0), n, replace=False), drawn) for _ in range(4))]:
            more = given.copy()
            more[rows] = y[rows]
            found.append(accuracy(X, y, more)[1])
    assert np.mean(suggested) > np.mean(drawn), (np.mean(suggested), np.mean(drawn))


def test_suggestions_are_rows_without_a_label(blobs):
    import pickle

    X, y = blobs
    given = np.where(np.arange(len(y)) % 2 == 0, y, -1)
    model = taugraph.LabelPropagation().fit(X, given)
    rows = model.suggest(12)
    assert rows.dtype == np.int64 and len(set(rows.tolist())) == 12 and (given[rows] == -1).all()
    assert (model.suggest(12) == rows).all() and len(model.suggest(10_000)) == np.sum(given < 0)
    assert len(model.suggest(0)) == 0
    with pytest.raises(NeedsPointsError, match="fit again"):
        pickle.loads(pickle.dumps(model)).suggest(1)
