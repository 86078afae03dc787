"""Embeddings from a file to topics, compared with EVoC."""

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import hard_sets
from bench import row
from large.tools import cluster_file, fastest, mark, missed, peer
from performance_page import QUICK, machine

SETS, ROUNDS = ("separate-topics-384", "topics-384"), 2


def own(path, labels, clusters, name):
    found = cluster_file(path, clusters, *hard_sets.flags(name))
    if "failed" in found:
        return found
    scores = {"nmi": normalized_mutual_info_score(labels, found["labels"]), "ari": adjusted_rand_score(labels, found["labels"])}
    return found | scores | {"clusters": len(np.unique(found["labels"])), "noise": 0.0}


def rows_of(name, n):
    path, labels = hard_sets.stored(name, n)
    size, true = f"{name} {n:,}", hard_sets.n_clusters(name)
    methods = {
        "taugraph, number found": lambda: own(path, labels, None, name),
        f"taugraph, {true} asked for": lambda: own(path, labels, true, name),
        "EVoC": lambda: peer("evoc", path),
    }
    runs = {method: [] for method in methods}
    for _ in range(1 if QUICK else ROUNDS):
        for method, run in methods.items():
            runs[method].append(run())
    best = {method: fastest(found) for method, found in runs.items()}
    its = best["EVoC"]
    for method, found in best.items():
        if "failed" in found:
            yield row(size, method, found["failed"], *[""] * 6, mark(method == "EVoC"))
            continue
        ratio, goals = "", ""
        if method != "EVoC" and "failed" not in its:
            ratio = f"{found['seconds'] / its['seconds']:.2f}"
            goals = missed(
                ("time", found["seconds"] <= its["seconds"]),
                ("NMI", found["nmi"] >= its["nmi"] - 0.005),
                ("ARI", found["ari"] >= its["ari"] - 0.005),
                (f"{found['clusters']} of {true} topics", abs(found["clusters"] - true) <= abs(its["clusters"] - true)),
            )
        scores = (f"{found['nmi']:.3f}", f"{found['ari']:.3f}", f"{found['noise']:.3f}", f"{found['peak_bytes'] / 1e6:.0f}")
        yield row(size, method, f"{found['seconds']:.2f}", ratio, found["clusters"], *scores, goals)


def embeddings():
    text = [
        "Unit vectors in single precision, 50 topics: `taugraph cluster points.npy --metric cosine --standardize none`, the whole process from the file to the labels,",
        "compared with `EVoC().fit_predict(X)` (compiled beforehand, from the points in memory), two threads each, alternating, the shorter of two runs. Rows that EVoC",
        "leaves without a cluster count as a cluster of their own in NMI and ARI. Goal: no slower, NMI, ARI and the number of topics at least as good.",
        "",
        "| points | method | s | ratio | topics | NMI | ARI | without a topic | MB | goal |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in SETS:
        text += rows_of(name, 3000 if QUICK else 100_000)
    return [*text, "", machine("numpy", "numba", "evoc") + "."]
