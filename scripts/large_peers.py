"""The peers of scripts/bench_large.py, each in a separate process; prints JSON.

    large_peers.py neighbors METHOD FILE TRUTH [RECALL …]   15 neighbors of all points; a key of SEARCHES, for each recall the least effort that
                                                            reaches it
    large_peers.py cluster METHOD FILE CLUSTERS             a key of METHODS
    large_peers.py evoc FILE                                which finds the number of clusters

FILE is what `bench points` writes, or NPY with NAME-labels.npy beside it, TRUTH what `truth` made. Two threads; compiling is not counted.
"""

import json
import pathlib
import sys
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from bench import peak_bytes


def read(path):
    path = pathlib.Path(path)
    if path.suffix == ".npy":
        beside = path.with_name(f"{path.stem}-labels.npy")
        return np.load(path), np.load(beside) if beside.exists() else None
    raw = np.fromfile(path)
    n, d = int(raw[0]), int(raw[1])
    return raw[2 : 2 + n * d].reshape(n, d), raw[2 + n * d :].astype(int)


def clustered(taken, clusters, labels):
    nmi, ari = normalized_mutual_info_score(labels, clusters), adjusted_rand_score(labels, clusters)
    count = len(np.unique(clusters[clusters >= 0]))
    return {"seconds": taken, "nmi": nmi, "ari": ari, "clusters": count, "noise": float(np.mean(clusters < 0))}


def main(what, *words):
    # Only what is asked for, so that its memory is that of the peer.
    warnings.simplefilter("ignore")
    if what == "neighbors":
        from large.neighbor_peers import SEARCHES

        method, path, sample, *wanted = words
        values, _ = read(path)
        found = {"found": []}
        for of_recall in SEARCHES[method](values, np.load(sample), [float(least) for least in wanted]):
            found["found"].append(of_recall)
            print(json.dumps(found), flush=True)
    elif what == "cluster":
        from large.cluster_peers import METHODS

        method, path, clusters = words
        values, labels = read(path)
        found = clustered(*METHODS[method](values, int(clusters)), labels)
    else:
        from large.cluster_peers import by_evoc

        values, labels = read(words[0])
        found = clustered(*by_evoc(values), labels)
    print(json.dumps(found | {"peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
