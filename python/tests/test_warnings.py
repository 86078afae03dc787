"""The library's warnings about a fit become Python warnings, by kind."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import taugraph
from taugraph.exceptions import DataWarning


def test_nothing_is_said_where_there_is_nothing_to_say(spirals):
    X, y = spirals
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for estimator in (taugraph.RobustGraph(), taugraph.SpectralClustering(), taugraph.LabelPropagation(), taugraph.SpectralEmbedding()):
            estimator.fit(X, y)


@pytest.mark.parametrize("graph", ["robust", "nearest-neighbors"])
def test_data(blobs, graph):
    X = pd.DataFrame(blobs[0], columns=list("vwxyz")).assign(same=1.0, empty=np.nan)
    X.loc[3, "w"] = np.nan
    with pytest.warns(DataWarning) as said:
        taugraph.SpectralClustering(4, graph=graph).fit(X)
    texts = [str(one.message) for one in said if one.category is DataWarning]
    assert "dropped constant columns: same" in texts and "dropped empty columns: empty" in texts
    assert "1 missing cells were filled with the median of their column: w" in texts
    assert all(one.filename == __file__ for one in said)


def test_few_points():
    X = np.arange(6.0)[:, None] ** 2
    with pytest.warns(DataWarning, match="few points .6.: graph.candidates.k is 5 instead of 15"):
        taugraph.RobustGraph().fit(X)
    with pytest.warns(DataWarning, match="graph.candidates.k is 5 instead of 10"):
        taugraph.SpectralClustering(2, graph="nearest-neighbors").fit(X)


def test_training(spirals):
    with pytest.warns(ConvergenceWarning, match="still improving"):
        taugraph.RobustGraph("paper-literal", params={"graph.estimator.schedule.max_epochs": 2}).fit(spirals[0][:60])


def test_components():
    X = np.concatenate([np.arange(30.0), 1e4 + np.arange(30.0)])[:, None]
    with pytest.warns(DataWarning, match="2 connected components, which were joined"):
        taugraph.RobustGraph().fit(X)


def test_the_handle_of_the_library_is_kept_and_not_pickled(blobs):
    model = taugraph.SpectralClustering(4, stability=2).fit(blobs[0])
    assert (model._fitted.labels() == model.labels_).all()
    again = pickle.loads(pickle.dumps(model))
    assert again._fitted is None and (again.predict(blobs[0]) == model.labels_).all()
