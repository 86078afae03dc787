"""The Python package compared with the Rust library, scikit-learn and graphlearning."""

import time
import warnings

import graphlearning as gl
import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.metrics import normalized_mutual_info_score
from sklearn.semi_supervised import LabelSpreading

import taugraph
from performance_page import machine

SIZES = (1000, 2000, 5000, 10_000, 20_000)
ROUNDS = 7


def seconds(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def overhead(points, bench, row):
    """The same clustering from a Rust program and from Python, alternating: shortest times, and the ratio of the medians."""
    n, clusters = 20_000, 10
    path, values, _ = points("mixture", n)
    values = np.ascontiguousarray(values)
    model = taugraph.SpectralClustering(clusters, params={"preparation.standardize": "none"}, random_state=1)
    rust, python = [], []
    for _ in range(ROUNDS):
        rust.append(float(bench("cluster", path, "robust", clusters, "none")["seconds"]))
        python.append(seconds(lambda: model.fit(values))[0])
    over = np.median(np.divide(python, rust)) - 1
    reached = "" if over < 0.03 else "**missed**"
    return row(f"{n:,}", f"{min(rust):.3f}", f"{min(python):.3f}", f"{100 * over:+.1f} %", reached)


def one_each(y):
    few = np.full(len(y), -1)
    firsts = [np.flatnonzero(y == label)[0] for label in np.unique(y)]
    few[firsts] = y[firsts]
    return few


def graphlearning_clusters(X, k):
    graph = gl.weightmatrix.knn(X, 15)
    return gl.clustering.spectral(graph, num_clusters=k, method="NgJordanWeiss").fit_predict()


def graphlearning_labels(X, few):
    known = np.flatnonzero(few >= 0)
    return gl.ssl.laplace(gl.weightmatrix.knn(X, 15)).fit_predict(known, few[known])


def clusters(points, row):
    for n in SIZES:
        _, X, y = points("mixture", n)
        X = np.ascontiguousarray(X)
        peers = {
            "scikit-learn": lambda: SpectralClustering(10, affinity="nearest_neighbors", n_neighbors=15, random_state=0).fit_predict(X),
            "graphlearning": lambda: graphlearning_clusters(X, 10),
        }
        yield compared(f"clusters, {n:,}", lambda: taugraph.SpectralClustering(10, params={"preparation.standardize": "none"}).fit_predict(X), peers,
                       lambda found: normalized_mutual_info_score(y, found), row)


def labels(points, row):
    for n in SIZES:
        _, X, y = points("mixture", n)
        X, few = np.ascontiguousarray(X), one_each(y)
        peers = {
            "scikit-learn": lambda: LabelSpreading(kernel="knn", n_neighbors=15).fit(X, few).transduction_,
            "graphlearning": lambda: graphlearning_labels(X, few),
        }
        yield compared(f"labels, {n:,}", lambda: taugraph.LabelPropagation(params={"preparation.standardize": "none"}).fit(X, few).transduction_, peers,
                       lambda found: np.mean(found == y), row)


def compared(what, own, peers, quality, row):
    """Shortest of three alternating runs each."""
    times = {name: [] for name in ("taugraph", *peers)}
    found = {}
    for _ in range(3):
        for name, work in {"taugraph": own, **peers}.items():
            taken, found[name] = seconds(work)
            times[name].append(taken)
    best = {name: min(taken) for name, taken in times.items()}
    cells = [f"{best['taugraph']:.3f}", f"{quality(found['taugraph']):.3f}"]
    for name in peers:
        cells += [f"{best[name]:.3f}", f"{quality(found[name]):.3f}", f"{best['taugraph'] / best[name]:.2f}"]
    return row(what, *cells)


def section(points, bench, row):
    warnings.filterwarnings("ignore")
    return [
        "The same clustering (10-d mixture, preset `robust`) by a Rust program and by `taugraph.SpectralClustering`, from the points in memory to",
        f"the labels; in Python including everything that prediction needs. Shortest of {ROUNDS} turns, and the median of their ratios. Goal: less than 3 % more.",
        "",
        "| points | Rust s | Python s | overhead | goal |",
        "|---|---|---|---|---|",
        overhead(points, bench, row),
        "",
        "Clusters compared with `SpectralClustering(affinity=\"nearest_neighbors\", n_neighbors=15)` of scikit-learn and spectral clustering of graphlearning (15",
        "neighbors); labels from one labeled point per class compared with `LabelSpreading(kernel=\"knn\", n_neighbors=15)` and Laplace learning. Shortest of three.",
        "",
        "| what | taugraph s | NMI or accuracy | scikit-learn s | its | ratio | graphlearning s | its | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
        *clusters(points, row),
        *labels(points, row),
        "",
        machine("taugraph", "numpy", "scikit-learn", "graphlearning") + ".",
    ]
