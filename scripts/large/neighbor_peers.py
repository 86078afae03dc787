"""Searches for neighbors of other libraries, and the recall of any search."""

import time

import numpy as np
from scipy.spatial.distance import cdist

from bench import seconds

THREADS = 2
K = 15


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
    distances = np.linalg.norm(values[ids].astype(float) - values[queries, None], axis=2)
    right = (distances <= radius[:, None] * (1 + 1e-6)) & (ids != queries[:, None]) & (ids >= 0)
    return right.mean()


def without_self(ids, rows):
    """K of K + 1 neighbors: all but the point itself, or all but the last."""
    keep = ids != rows[:, None]
    keep[keep.all(axis=1), -1] = False
    return ids[keep].reshape(len(ids), -1)[:, :K]


def smallest(enough, limit, start=1):
    """The smallest sufficient number from start up to the limit, if more is never worse."""
    high = start
    while high < limit and not enough(high):
        high = min(2 * high, limit)
    low = start - 1 if high == start else high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def descent(values, n_neighbors=K + 1, **more):
    """pynndescent's graph of neighbors; compiled on a few points first."""
    from pynndescent import NNDescent

    build = lambda points: NNDescent(points, n_neighbors=n_neighbors, n_jobs=THREADS, random_state=0, **more).neighbor_graph
    build(values[: min(len(values), 3000)])
    return seconds(lambda: build(values))


# From the cheapest on: how many neighbors are searched for, and the share of changes below which it stops.
EFFORTS = ((16, 0.02), (16, 0.001), (24, 0.001), (32, 0.001), (48, 0.001), (64, 0.001))


def by_pynndescent(values, sample, wanted):
    """As it is, or with the least effort that reaches the recall."""
    points = np.ascontiguousarray(values, dtype=np.float32)
    measured = lambda ids: recall(values, without_self(ids[sample["queries"], : K + 1], sample["queries"]), sample["queries"], sample["radius"])
    if not wanted:
        taken, (ids, _) = descent(points)
        yield {"seconds": taken, "recall": measured(ids)}
    efforts, last = iter(EFFORTS), None
    for least in sorted(wanted):
        while last is None or last["recall"] < least:
            effort = next(efforts, None)
            if effort is None:
                break
            taken, (ids, _) = descent(points, effort[0], delta=effort[1])
            last = {"seconds": taken, "recall": measured(ids), "settings": "n_neighbors {}, delta {}".format(*effort)}
        yield last


def at_recall(wanted, built, limit, query, values, sample, start):
    """For every recall the smallest setting that reaches it on the sample, and then the search for all points. The choice is not timed."""
    queries = sample["queries"]

    def measured(setting):
        return recall(values, without_self(query(setting, queries), queries), queries, sample["radius"])

    for least in wanted:
        setting = smallest(lambda setting: measured(setting) >= least, limit, start)
        taken, _ = seconds(lambda: query(setting, None))
        yield {"seconds": built + taken, "recall": measured(setting), "setting": setting}


def by_faiss_lists(values, sample, wanted):
    """IndexIVFFlat; training, adding and searching are timed."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    points = np.ascontiguousarray(values, dtype=np.float32)
    n, d = points.shape
    cells = int(4 * np.sqrt(n))
    quantizer = faiss.IndexFlatL2(d)
    index = faiss.IndexIVFFlat(quantizer, d, cells)
    some = points[np.random.default_rng(0).permutation(n)[: 256 * cells]]
    start = time.perf_counter()
    index.train(some)
    index.add(points)
    built = time.perf_counter() - start

    def query(probes, rows):
        index.nprobe = probes
        return index.search(points if rows is None else points[rows], K + 1)[1]

    for one in at_recall(wanted, built, cells, query, values, sample, 1):
        yield one | {"settings": f"{cells} lists, n_probe {one['setting']}"}


def by_faiss_hnsw(values, sample, wanted):
    """IndexHNSWFlat with its default efConstruction."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    points = np.ascontiguousarray(values, dtype=np.float32)
    index = faiss.IndexHNSWFlat(points.shape[1], 16)
    built, _ = seconds(lambda: index.add(points))

    def query(ef, rows):
        index.hnsw.efSearch = ef
        return index.search(points if rows is None else points[rows], K + 1)[1]

    for one in at_recall(wanted, built, 2048, query, values, sample, K + 1):
        yield one | {"settings": f"M 16, efSearch {one['setting']}"}


def by_usearch(values, sample, wanted):
    """A graph index with its defaults: connectivity 16, expansion 128 while adding."""
    from usearch.index import Index

    points = np.ascontiguousarray(values, dtype=np.float32)
    index = Index(ndim=points.shape[1], metric="l2sq", dtype="f32")
    built, _ = seconds(lambda: index.add(np.arange(len(points)), points, threads=THREADS))

    def query(expansion, rows):
        index.expansion_search = expansion
        asked = points if rows is None else points[rows]
        return index.search(asked, K + 1, threads=THREADS).keys.astype(np.int64)

    for one in at_recall(wanted, built, 2048, query, values, sample, K + 1):
        yield one | {"settings": f"expansion {one['setting']}"}


SEARCHES = {
    "pynndescent": by_pynndescent,
    "faiss": by_faiss_lists,
    "faiss HNSW": by_faiss_hnsw,
    "usearch": by_usearch,
}
