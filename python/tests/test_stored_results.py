"""Results of 0.1.0, to the bit unless they are iterated to a tolerance: stored_results.json has their hashes. Probabilities of labels are those
of class masses with measure (docs/decisions/0026), without the background of 0027."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import taugraph

STORED = json.loads((Path(__file__).parent / "stored_results.json").read_text())
pytestmark = pytest.mark.filterwarnings("ignore::taugraph.exceptions.DataWarning", "ignore::sklearn.exceptions.ConvergenceWarning")


def digest(array, decimals=None):
    array = np.asarray(array)
    if decimals is not None:
        # Adding 0 makes a positive zero of a negative one.
        array = np.round(array.astype(np.float64), decimals) + 0.0
    if array.dtype.kind in "iu":
        array = array.astype(np.int64)
    text = f"{array.shape}{array.dtype.str}".encode()
    return hashlib.sha256(text + np.ascontiguousarray(array).tobytes()).hexdigest()[:24]


def digest_of_graph(graph):
    graph = sp.csr_matrix(graph)
    graph.sort_indices()
    return [digest(graph.indptr), digest(graph.indices), digest(graph.data)]


@cache
def inputs():
    """By name: an input, its groups, and the arguments of its graph."""
    X, y = taugraph.make_blobs(150, n_columns=4, n_blobs=3, random_state=2)
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    W, z = taugraph.make_blobs(120, n_columns=12, n_blobs=3, random_state=4)
    W = np.abs(W)
    counts = sp.csr_matrix(np.where(W >= np.median(W, axis=1, keepdims=True), W, 0.0))
    M, m = taugraph.make_moons(120, noise=0.05, random_state=6)
    distances = np.sqrt(((M[:, None] - M[None]) ** 2).sum(axis=2))
    return {
        "spirals": (*taugraph.make_spirals(160, noise=0.1, share=0.3, random_state=3), {}),
        "duplicates": (np.vstack([X, X[:20], X[:5]]), np.concatenate([y, y[:20], y[:5]]), {}),
        "ten rows": (*taugraph.make_blobs(10, n_columns=2, n_blobs=2, random_state=5), {}),
        "six rows": (*taugraph.make_blobs(6, n_columns=2, n_blobs=2, random_state=7), {}),
        "missing cells": (gaps, y, {}),
        "sparse": (counts, z, {"metric": "euclidean"}),
        "sparse cosine": (counts, z, {}),
        "sparse max-abs": (counts, z, {"standardize": "max-abs"}),
        "distances": (distances, m, {"metric": "precomputed"}),
        "neighbors": (taugraph.knn_graph(M, 12), m, {"metric": "precomputed"}),
    }


def few(y):
    """The first row of each group."""
    known = np.full(len(y), -1)
    first = np.unique(y, return_index=True)[1]
    known[first] = y[first]
    return known


def results(X, y, graph):
    """Everything that was stored, of a graph."""
    n_groups = len(np.unique(y))
    made = graph.fit(X)
    clusters = taugraph.SpectralClustering(n_groups, method="spectral", graph=graph, random_state=1).fit(X)
    embedding = taugraph.SpectralEmbedding(2, graph=graph, random_state=1).fit(X)
    labels = taugraph.LabelPropagation(graph=graph, params={"propagate.background": "no"}, random_state=1).fit(X, few(y))
    yield "graph", digest_of_graph(made.graph_)
    yield "scales", [digest(made.first_scales_), digest(made.local_scales_)]
    yield "probabilities of edges", [digest(made.edges_), digest(made.edge_probabilities_)]
    yield "clusters", [digest(clusters.labels_)]
    yield "embedding", [digest(embedding.embedding_, 6)]
    yield "labels", [digest(labels.transduction_), digest(labels.label_distributions_, 5)]
    if graph.metric != "precomputed":
        new = X[:30] * 1.25 if sp.issparse(X) else X[:30] + 0.01
        yield "new points", [
            *digest_of_graph(made.transform(new)),
            digest(clusters.predict(new)),
            digest(embedding.transform(new), 6),
            digest(labels.predict(new)),
            digest(labels.predict_proba(new), 5),
        ]


@pytest.mark.parametrize("name", STORED)
def test_results_are_those_of_0_1_0(name):
    kind, graph = name.split(", ")
    X, y, args = inputs()[kind]
    if graph in taugraph.BASELINES:
        labels = taugraph.SpectralClustering(len(np.unique(y)), method="spectral", graph=graph, random_state=1).fit(X).labels_
        assert {"clusters": [digest(labels)]} == STORED[name]
        return
    # What 0.1.0 called paper, and its control.
    params = {
        "paper": {"graph.estimator.schedule.max_epochs": 20},
        "threshold-control": {"graph.scale_shrinkage": "none"},
    }.get(graph)
    graph = "paper-literal" if graph == "paper" else graph
    assert dict(results(X, y, taugraph.RobustGraph(graph, params=params, random_state=1, **args))) == STORED[name]
