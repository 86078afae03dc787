"""Approximate neighbors at the recall that a peer reached."""

import numpy as np

from bench import images_of_mnist, points, row
from large.neighbor_peers import K, truth
from large.search import own_search, own_search_at
from large.tools import fastest, mark, peer
from performance_page import DATA, QUICK, machine


def versus(name, size, path, sample_path, values, rounds, wanted=()):
    """A peer and ours at its recall, alternating: the row and our recall."""
    sample = np.load(sample_path)
    theirs, ours = [], []
    for _ in range(rounds):
        found = peer("neighbors", name, path, sample_path, *wanted)
        if "failed" in found:
            return row(size, name, "", found["failed"], "", "", "", "", ""), None
        theirs += found["found"]
        ours.append(own_search(path, sample, values, ours[0]["asked"]) if ours else own_search_at(path, sample, values, theirs[0]["recall"]))
    own, its = fastest(ours), fastest(theirs)
    ratio = own["seconds"] / its["seconds"]
    settings = f"{name} ({its['settings']})" if "settings" in its else name
    reached = ratio <= 0.5 and own["recall"] >= its["recall"] - 0.002
    cells = (f"{own['recall']:.4f}", f"{its['recall']:.4f}", f"{own['seconds']:.2f}", f"{its['seconds']:.2f}", f"{ratio:.2f}")
    return row(size, settings, own["used"], *cells, mark(reached)), own["recall"]


def searched_sets():
    """Name, path and rounds of every set."""
    sets = [("large", 3000)] if QUICK else (("large", 100_000), ("wide", 100_000), ("large", 1_000_000))
    for shape, n in sets:
        path, values, _ = points(shape, n)
        yield f"{shape} {n:,} × {values.shape[1]}", path, values, 1 if QUICK else 2 if n >= 1_000_000 else 3
    images = None if QUICK else images_of_mnist()
    if images:
        path, values, _, _ = images
        yield f"MNIST {len(values):,} × {values.shape[1]}", path, values, 3
    elif not QUICK:
        print("neighbors: without MNIST, TAUGRAPH_DATA names no folder with mnist/", flush=True)


def neighbors():
    text = [
        f"The {K} nearest neighbors of every point, two threads each: `bench search FILE {K} RECALL 1` compared with `NNDescent(n_neighbors={K + 1}, n_jobs=2)`",
        "(compiled beforehand) and faiss `IndexIVFFlat` with 4·√N inverted lists, trained on at most 256 points per list (training, adding and",
        "searching are timed, the choice of n_probe is not: the smallest that reaches the recall that ours had against pynndescent). Recall is measured on",
        "the same 1,000 points for all, by distance, without the point itself; ours is set to what the peer reached. The peers compute in",
        "single precision, taugraph in double. The runs alternate; the shortest of three, of two for a million points.",
        "Goal: ratio at most 0.5 at equal recall.",
        "",
        "| points | peer | search | recall | its recall | taugraph s | peer s | ratio | goal 0.5 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for size, path, values, rounds in searched_sets():
        sample_path = DATA / "truth.npz"
        truth(values, sample_path)
        line, reached = versus("pynndescent", size, path, sample_path, values, rounds)
        text.append(line)
        line, _ = versus("faiss", size, path, sample_path, values, rounds, [reached or 0.98])
        text.append(line)
    return [*text, "", machine("numpy", "numba", "pynndescent", "faiss-cpu") + "."]
