"""Approximate neighbors in many columns, at two recalls, compared with graph and list indexes."""

import numpy as np

import hard_sets
from bench import images_of_mnist, row
from large.neighbor_peers import K, SEARCHES, truth
from large.search import own_search, own_search_at
from large.tools import MILLION, MOST, fastest, mark, peer
from performance_page import DATA, QUICK, machine

RECALLS = (0.95, 0.98)
GOAL, GOAL_ON_IMAGES = 0.5, 0.45
# For both recalls, with all that is tried for them: about five times what ours takes for a million points.
PATIENCE = 480


def sets():
    """Name, path, values, rounds, whether ours runs between the peers, and the goal against pynndescent."""
    for name, n in (("topics-384", 3000),) if QUICK else (("topics-384", 100_000), ("topics-128", 1_000_000)):
        if n > MOST:
            continue
        path, _ = hard_sets.stored(name, n)
        # A million points take ours minutes: it runs before and after all peers only.
        yield f"{name} {n:,}", path, np.load(path, mmap_mode="r"), 1, n < MILLION, GOAL
    images = None if QUICK else images_of_mnist()
    if images:
        path, values, _, _ = images
        yield f"MNIST {len(values):,} × {values.shape[1]}", path, values, 2, True, GOAL_ON_IMAGES
    elif not QUICK:
        print("columns: without MNIST, TAUGRAPH_DATA names no folder with mnist/", flush=True)


def compared(path, values, rounds, between):
    """Ours before and after every peer, or all peers; for every recall ours and theirs."""
    sample_path = DATA / "truth.npz"
    truth(values, sample_path)
    sample = dict(np.load(sample_path))
    ours = {least: [own_search_at(path, sample, values, least)] for least in RECALLS}
    theirs = {name: [] for name in SEARCHES}
    for _ in range(rounds):
        for name, runs in theirs.items():
            runs.append(peer("neighbors", name, path, sample_path, *RECALLS, patience=PATIENCE))
            for runs in ours.values() if between or name == list(SEARCHES)[-1] else ():
                runs.append(own_search(path, sample, values, runs[0]["asked"]))
    return ours, theirs


def of_recall(found, place):
    """What a peer found for that recall, or why it did not."""
    listed = found.get("found", [])
    return listed[place] if place < len(listed) else found.get("rest", found)


def rows_of(size, ours, theirs, goal_of_descent):
    for place, least in enumerate(RECALLS):
        own = fastest(ours[least])
        yield row(size, least, "taugraph", own["used"], f"{own['recall']:.4f}", f"{own['seconds']:.2f}", "", "")
        for name, runs in theirs.items():
            its = fastest([of_recall(found, place) for found in runs])
            if "failed" in its:
                yield row(size, least, name, its["failed"], "", "", "", "")
                continue
            ratio = own["seconds"] / its["seconds"]
            settings = its["settings"] + (", recall not reached" if its["recall"] < least else "")
            goal = goal_of_descent if name == "pynndescent" else GOAL
            yield row(size, least, name, settings, f"{its['recall']:.4f}", f"{its['seconds']:.2f}", f"{ratio:.2f}", mark(ratio <= goal))


def many_columns():
    text = [
        f"The {K} nearest neighbors of every point at a recall of at least {RECALLS[0]} and {RECALLS[1]}, two threads each: `bench search FILE {K} RECALL 1` compared with",
        "pynndescent (compiled beforehand; the least of six efforts that reaches the recall), faiss `IndexIVFFlat` (4·√N lists) and `IndexHNSWFlat`",
        "(M = 16), and usearch with its defaults. Building is timed, the choice of n_probe, efSearch and expansion is not: the smallest that reaches",
        "the recall. Recall is measured on the same 1,000 points for all, by distance. `topics` are unit vectors in single precision, so that",
        "Euclidean distances have the order of the cosine; the peers compute in single precision. Ours runs before and after every peer, of a million points before and after all; the shortest of all. Peers run once on `topics`, twice on MNIST.",
        f"They have {PATIENCE // 60} minutes for both recalls, with the choice of their settings.",
        f"Goal: ratio at most {GOAL}, for MNIST against pynndescent {GOAL_ON_IMAGES}.",
        "",
        "| points | at least | method | settings | recall | s | ratio | goal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for size, path, values, rounds, between, goal in sets():
        text += rows_of(size, *compared(path, values, rounds, between), goal)
    if MOST < MILLION and not QUICK:
        text += ["", f"Sets of more than {MOST:,} points were left out of this run."]
    return [*text, "", machine("numpy", "numba", "pynndescent", "faiss-cpu", "usearch") + "."]
