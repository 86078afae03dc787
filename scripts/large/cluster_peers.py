"""Clusterings of other libraries: seconds and labels of each."""

import numpy as np
import scipy.sparse
from sklearn.cluster import SpectralClustering

from bench import seconds
from large.neighbor_peers import K, THREADS, descent, without_self


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


def by_evoc(values):
    """Finds the number of clusters; compiled on a few points first."""
    import evoc

    build = lambda points: evoc.EVoC(random_state=0).fit_predict(points)
    points = np.ascontiguousarray(values, dtype=np.float32)
    build(points[: min(len(points), 5000)])
    return seconds(lambda: build(points))
