"""The peers of scripts/bench_large.py, each in a separate process; prints JSON.

    large_peers.py neighbors pynndescent FILE TRUTH        15 neighbors of all points
    large_peers.py neighbors faiss FILE TRUTH RECALL       with the smallest n_probe that reaches that recall
    large_peers.py cluster METHOD FILE CLUSTERS             a key of METHODS

FILE is what `bench points` writes, TRUTH what `truth` made. Two threads; compiling is not counted.
"""

import json
import sys
import time
import warnings

import numpy as np
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from bench import peak_bytes, seconds

THREADS = 2
K = 15


def read(path):
    raw = np.fromfile(path)
    n, d = int(raw[0]), int(raw[1])
    return raw[2 : 2 + n * d].reshape(n, d), raw[2 + n * d :].astype(int)


def truth(values, path, n_queries=1000):
    """A sample of points and the distance of the K-th neighbor of each, itself excluded, by all distances."""
    queries = np.random.default_rng(0).choice(len(values), min(n_queries, len(values)), replace=False)
    nearest = np.full((len(queries), K), np.inf)
    for begin in range(0, len(values), 20_000):
        distances = cdist(values[queries], values[begin : begin + 20_000])
        distances[queries[:, None] == begin + np.arange(distances.shape[1])] = np.inf
        closest = np.partition(distances, min(K, distances.shape[1]) - 1, axis=1)[:, :K]
        nearest = np.sort(np.hstack([nearest, closest]), axis=1)[:, :K]
    np.savez(path, queries=queries, radius=nearest[:, -1])


def recall(values, ids, queries, radius):
    """Share of the K neighbors that are no farther than the K-th true one; ids are those of the queries. The tolerance is that of
    the peers' single precision."""
    distances = np.linalg.norm(values[ids] - values[queries, None], axis=2)
    right = (distances <= radius[:, None] * (1 + 1e-6)) & (ids != queries[:, None]) & (ids >= 0)
    return right.mean()


def without_self(ids, rows):
    """K of K + 1 neighbors: all but the point itself, or all but the last."""
    keep = ids != rows[:, None]
    keep[keep.all(axis=1), -1] = False
    return ids[keep].reshape(len(ids), -1)[:, :K]


def descent(values):
    """pynndescent's graph of K neighbors; compiled on a few points first."""
    from pynndescent import NNDescent

    build = lambda points: NNDescent(points, n_neighbors=K + 1, n_jobs=THREADS, random_state=0).neighbor_graph
    build(values[: min(len(values), 3000)])
    return seconds(lambda: build(values))


def by_pynndescent(values, queries, radius):
    taken, (ids, _) = descent(values.astype(np.float32))
    return {"seconds": taken, "recall": recall(values, without_self(ids[queries], queries), queries, radius)}


def smallest(enough, limit):
    """The smallest sufficient number up to the limit, if more is never worse."""
    high = 1
    while high < limit and not enough(high):
        high = min(2 * high, limit)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def by_faiss(values, queries, radius, wanted):
    import faiss

    faiss.omp_set_num_threads(THREADS)
    points = np.ascontiguousarray(values, dtype=np.float32)
    n, d = points.shape
    cells = int(4 * np.sqrt(n))
    quantizer = faiss.IndexFlatL2(d)
    index = faiss.IndexIVFFlat(quantizer, d, cells)
    sample = points[np.random.default_rng(0).permutation(n)[: 256 * cells]]
    start = time.perf_counter()
    index.train(sample)
    index.add(points)
    built = time.perf_counter() - start

    def measured(probes):
        index.nprobe = probes
        return recall(values, without_self(index.search(points[queries], K + 1)[1], queries), queries, radius)

    probes = smallest(lambda probes: measured(probes) >= wanted, cells)
    reached = measured(probes)
    taken, _ = seconds(lambda: index.search(points, K + 1))
    return {"seconds": built + taken, "recall": reached, "cells": cells, "probes": probes}


def by_sklearn(solver):
    def run(values, clusters):
        model = SpectralClustering(
            clusters, affinity="nearest_neighbors", n_neighbors=K, eigen_solver=solver, assign_labels="kmeans", n_jobs=THREADS, random_state=0
        )
        return seconds(lambda: model.fit_predict(values))

    return run


def by_graphlearning(values, clusters):
    import graphlearning

    np.random.seed(0)
    return seconds(lambda: graphlearning.clustering.spectral(graphlearning.weightmatrix.knn(values, K), clusters).fit_predict())


def by_graphlearning_on_descent(values, clusters):
    import graphlearning

    np.random.seed(0)
    searched, neighbors = descent(values.astype(np.float32))
    weights = lambda: graphlearning.weightmatrix.knn(values, K, knn_data=neighbors)
    taken, found = seconds(lambda: graphlearning.clustering.spectral(weights(), clusters).fit_predict())
    return searched + taken, found


def by_sklearn_on_descent(values, clusters):
    searched, (ids, _) = descent(values.astype(np.float32))

    def rest():
        n = len(values)
        ids_only = without_self(ids, np.arange(n))
        graph = scipy.sparse.csr_matrix((np.ones(ids_only.size), ids_only.ravel(), np.arange(0, ids_only.size + 1, K)), shape=(n, n))
        model = SpectralClustering(clusters, affinity="precomputed", eigen_solver="amg", assign_labels="kmeans", n_jobs=THREADS, random_state=0)
        return model.fit_predict((graph + graph.T) / 2)

    taken, found = seconds(rest)
    return searched + taken, found


METHODS = {
    "scikit-learn, amg": by_sklearn("amg"),
    "scikit-learn, lobpcg": by_sklearn("lobpcg"),
    "graphlearning": by_graphlearning,
    "graphlearning on pynndescent": by_graphlearning_on_descent,
    "scikit-learn on pynndescent, amg": by_sklearn_on_descent,
}


def main(what, method, path, *more):
    warnings.simplefilter("ignore")
    values, labels = read(path)
    if what == "neighbors":
        sample = np.load(more[0])
        search = {"pynndescent": by_pynndescent, "faiss": by_faiss}[method]
        found = search(values, sample["queries"], sample["radius"], *map(float, more[1:]))
    else:
        taken, clusters = METHODS[method](values, int(more[0]))
        nmi, ari = normalized_mutual_info_score(labels, clusters), adjusted_rand_score(labels, clusters)
        found = {"seconds": taken, "nmi": nmi, "ari": ari}
    print(json.dumps(found | {"peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
