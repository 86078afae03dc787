"""Writes the reference values that tests/reference.rs compares with: numpy, scipy and scikit-learn are the reference.

    make reference
"""

import pathlib

import numpy as np
import scipy.linalg
import scipy.sparse.csgraph
import sklearn.datasets
from scipy.optimize import linear_sum_assignment
from sklearn import decomposition, impute, metrics, neighbors, preprocessing

OUT = pathlib.Path(__file__).parent.parent / "crates" / "taugraph" / "tests" / "reference"


def line(values):
    """Numbers with all their digits."""
    return " ".join(repr(float(v)) if isinstance(v, (float, np.floating)) else str(int(v)) for v in values)


def write(name, rows):
    (OUT / name).write_text("\n".join(rows) + "\n")


def matched_accuracy(truth, clusters):
    table = metrics.cluster.contingency_matrix(truth, clusters)
    return table[linear_sum_assignment(-table)].sum() / len(truth)


def metric_cases():
    """Labels, labels, then nmi ari ami matched-accuracy balanced-accuracy."""
    rng = np.random.default_rng(0)
    cases = [([0] * 6, [0] * 6), (list(range(6)), list(range(6))), ([0] * 6, list(range(6))), ([0, 1] * 3, [0, 0, 1, 1, 0, 1])]
    for n, a, b in [(20, 2, 2), (50, 3, 5), (200, 4, 4), (500, 10, 7), (1000, 30, 30), (300, 2, 40)]:
        truth = rng.integers(a, size=n)
        noisy = np.where(rng.random(n) < 0.6, truth % b, rng.integers(b, size=n))
        cases += [(truth, noisy), (truth, rng.integers(b, size=n))]
    rows = []
    for truth, found in cases:
        values = [
            metrics.normalized_mutual_info_score(truth, found),
            metrics.adjusted_rand_score(truth, found),
            metrics.adjusted_mutual_info_score(truth, found),
            matched_accuracy(truth, found),
            np.mean([np.mean(np.asarray(found)[np.asarray(truth) == c] == c) for c in np.unique(truth)]),
        ]
        rows += [line(truth), line(found), line(map(np.float64, values))]
    write("metrics.txt", rows)


def eigen_cases():
    """Edges as i j w triples on a line; all eigenvalues of the symmetric and of the unnormalized Laplacian."""
    rows = []
    points, _ = sklearn.datasets.make_moons(400, noise=0.06, random_state=0)
    blobs, _ = sklearn.datasets.make_blobs(350, n_features=4, centers=5, random_state=1)
    for data, k in [(points, 8), (blobs, 12), (points[:60], 4)]:
        graph = neighbors.kneighbors_graph(data, k, mode="distance")
        graph.data = np.exp(-(graph.data**2) / np.median(graph.data) ** 2)
        dense = graph.maximum(graph.T).toarray()
        degrees = dense.sum(axis=1)
        half = 1 / np.sqrt(degrees)
        symmetric = np.eye(len(dense)) - half[:, None] * dense * half
        i, j = np.nonzero(np.triu(dense))
        triples = [v for a, b in zip(i, j) for v in (a, b, np.float64(dense[a, b]))]
        rows += [line(triples)]
        rows += [line(scipy.linalg.eigvalsh(matrix)) for matrix in (symmetric, np.diag(degrees) - dense)]
    write("eigen.txt", rows)


def kernel_cases():
    """Edges of a connected graph as i j w triples on a line; K = pinv(L_sym) row by row."""
    points, _ = sklearn.datasets.make_moons(60, noise=0.1, random_state=2)
    graph = neighbors.kneighbors_graph(points, 7, mode="distance")
    graph.data = np.exp(-(graph.data**2) / np.median(graph.data) ** 2)
    dense = graph.maximum(graph.T).toarray()
    assert scipy.sparse.csgraph.connected_components(dense)[0] == 1
    half = 1 / np.sqrt(dense.sum(axis=1))
    i, j = np.nonzero(np.triu(dense))
    triples = [v for a, b in zip(i, j) for v in (a, b, np.float64(dense[a, b]))]
    kernel = np.linalg.pinv(np.eye(len(dense)) - half[:, None] * dense * half, hermitian=True)
    write("kernel.txt", [line(triples), line(kernel.ravel())])


def preparation_cases():
    """A table with missing cells, then the results of scikit-learn's scalers, then PCA variances."""
    rng = np.random.default_rng(3)
    table = rng.normal(size=(40, 5)) * [1, 10, 0.1, 5, 1] + [0, 3, -2, 100, 1e3]
    table[rng.random(table.shape) < 0.1] = np.nan
    filled = impute.SimpleImputer(strategy="median").fit_transform(table)
    rows = [" ".join("NaN" if np.isnan(v) else repr(float(v)) for v in table.ravel())]
    for scaler in (preprocessing.StandardScaler(), preprocessing.MinMaxScaler()):
        rows.append(line(scaler.fit_transform(filled).ravel()))
    standard = preprocessing.StandardScaler().fit_transform(filled)
    rows.append(line(decomposition.PCA(3, svd_solver="full").fit(standard).explained_variance_ratio_))
    write("preparation.txt", rows)


def neighbor_cases():
    """Points, then ids and distances of the 6 nearest neighbors, for each metric."""
    rng = np.random.default_rng(5)
    rows = []
    for d in (2, 9):
        data = rng.normal(size=(50, d))
        rows.append(line(data.ravel()))
        for metric in ("euclidean", "manhattan", "cosine"):
            index = neighbors.NearestNeighbors(n_neighbors=6, metric=metric, algorithm="brute").fit(data)
            distances, ids = index.kneighbors()
            rows += [line(ids.ravel()), line(distances.ravel())]
    write("neighbors.txt", rows)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    metric_cases()
    eigen_cases()
    kernel_cases()
    preparation_cases()
    neighbor_cases()
