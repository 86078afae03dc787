"""scikit-learn's own tests of label propagation, from the installed wheel, on taugraph's estimators.

SAME lists the tests that hold, DIFFERENT those that do not, with the reason. ``adapted`` is what they need to run at all:

=======================  ============================================================================================================
scikit-learn             here
=======================  ============================================================================================================
kernel, gamma            do not exist: the graph is built by local scaling and persistence, whatever the kernel of a test
max_iter, tol            do not exist: the linear systems are solved to ``propagate.solver.tolerance``, or the fit fails
points as they are       ``standardize="none"``; by default, columns are scaled
=======================  ============================================================================================================

docs/PYTHON.md has the same table.
"""

from __future__ import annotations

import inspect
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from places import ROOT
from sklearn.datasets import make_classification
from sklearn.semi_supervised.tests import test_label_propagation as theirs

import taugraph

SAME = [
    "test_fit_transduction",
    "test_distribution",
    "test_predict",
    "test_sparse_input_types",
    "test_convergence_speed",
    "test_predict_sparse_callable_kernel",
]

DIFFERENT = {
    "test_predict_proba": "a point 1.5 away weighs 1e-20 in a Gaussian kernel with gamma=20; in units of local scales it counts",
    "test_label_spreading_closed_form": "reads a private matrix; labeled rows keep their labels, class masses are normalized: see "
    "test_closed_forms",
    "test_label_propagation_closed_form": "reads a private matrix; class masses are normalized: see test_closed_forms",
    "test_label_propagation_build_graph_normalized": 'reads a private matrix; weights of any kind are given by graph="precomputed"',
    "test_convergence_warning": "there is no max_iter that could be reached",
    "test_label_propagation_non_zero_normalizer": "equal rows are one point; two labels for it are a tie, which leaves none",
}

ALL = {name: test for name, test in vars(theirs).items() if name.startswith("test_") and inspect.isfunction(test)}


def adapted(estimator):
    """The estimator without scikit-learn's arguments that have no counterpart, on points as they are."""

    def made(*, kernel=None, gamma=None, max_iter=None, tol=None, **arguments):
        return estimator(graph=taugraph.RobustGraph(standardize="none"), **arguments)

    made.__name__ = estimator.__name__
    return made


ADAPTED = SimpleNamespace(LabelPropagation=adapted(taugraph.LabelPropagation), LabelSpreading=adapted(taugraph.LabelSpreading))


def cases(name):
    """Every set of arguments of a test."""
    several = [
        [dict(zip(mark.args[0].split(", "), values if isinstance(values, tuple) else [values], strict=True)) for values in mark.args[1]]
        for mark in getattr(ALL[name], "pytestmark", [])
        if mark.name == "parametrize"
    ]
    if "global_dtype" in inspect.signature(ALL[name]).parameters:
        several.append([{"global_dtype": np.float32}, {"global_dtype": np.float64}])
    for parts in itertools.product(*several):
        yield {key: ours(value) for part in parts for key, value in part.items()}


def ours(value):
    """Our estimator for theirs; no kernel, so that no test skips itself because of one."""
    if isinstance(value, dict):
        return {**value, "kernel": None}
    return getattr(ADAPTED, value.__name__) if inspect.isclass(value) and hasattr(ADAPTED, value.__name__) else value


@pytest.fixture(autouse=True)
def estimators_are_ours(monkeypatch):
    monkeypatch.setattr(theirs, "label_propagation", ADAPTED)


@pytest.mark.parametrize("name", SAME)
def test_what_is_the_same(name):
    for arguments in cases(name):
        ALL[name](**arguments)


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_different(name):
    """A difference that is gone belongs to SAME."""
    differs = (AssertionError, AttributeError, pytest.fail.Exception, taugraph.exceptions.UnlabeledClassError)
    with pytest.raises(differs):
        for arguments in cases(name):
            ALL[name](**arguments)
    assert f"`{name}`" in (ROOT / "docs/PYTHON.md").read_text()


def test_no_test_is_forgotten():
    assert sorted(ALL) == sorted([*SAME, *DIFFERENT])


@pytest.mark.parametrize("alpha", [None, 0.1, 0.2, 0.5, 0.9, 0.99])
def test_closed_forms(alpha):
    """The equations of scikit-learn with the same alpha, up to one factor for each class: its mass is normalized."""
    X, y = make_classification(n_samples=200, random_state=0)
    few = np.where(np.arange(200) % 3 == 0, -1, y)
    exact = {"propagate.solver.tolerance": 1e-12, "propagate.background": "no", "propagate.calibration": "no"}
    free = few < 0
    W = taugraph.RobustGraph().fit(X).graph_.toarray()
    degrees = W.sum(axis=1)
    Y = np.eye(2)[y] * ~free[:, None]
    if alpha is None:
        found = taugraph.LabelPropagation(params=exact).fit(X, few)
        T = W / degrees[:, None]
        expected = np.linalg.solve(np.eye(free.sum()) - T[np.ix_(free, free)], T[np.ix_(free, ~free)] @ Y[~free])
    else:
        found = taugraph.LabelSpreading(alpha=alpha, params=exact).fit(X, few)
        S = W / np.sqrt(np.outer(degrees, degrees))
        expected = np.linalg.solve(np.eye(200) - alpha * S, (1 - alpha) * Y)[free]
    log_factors = np.diff(np.log(found.label_distributions_[free] / expected), axis=1)
    assert np.ptp(log_factors) < 1e-8
    assert (found.transduction_[~free] == y[~free]).all()
