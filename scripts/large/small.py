"""Few points from Python, compared with scikit-learn, and the import of the package."""

import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.metrics import normalized_mutual_info_score
from sklearn.semi_supervised import LabelSpreading

from bench import row, seconds
from large.tools import mark
from performance_page import QUICK, machine

SIZES, ROUNDS, GOAL, IMPORT_GOAL = (200, 500, 1000, 2000), 15, 0.5, 0.3
# Quality is the mean over so many sets, of which the first is timed.
N_SETS = 10
# Threads of OpenMP go on waiting for work for a while after a fit, on the cores that the next one needs.
PAUSE = 0.02


def groups(n, seed=1):
    """Five overlapping groups of uneven width in ten columns."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(5, size=n)
    centers, widths = rng.normal(scale=2, size=(5, 10)), np.exp(rng.uniform(np.log(0.5), np.log(1.6), 5))
    return centers[labels] + widths[labels, None] * rng.normal(size=(n, 10)), labels


def ten_of_each(labels):
    few = np.full(len(labels), -1)
    for label in np.unique(labels):
        few[np.flatnonzero(labels == label)[:10]] = label
    return few


def works():
    """What is compared: its name, ours, scikit-learn's, and the quality of a result."""
    import taugraph

    yield (
        "clusters, SpectralClustering",
        lambda X, few: taugraph.SpectralClustering(5).fit(X).labels_,
        lambda X, few: SpectralClustering(5, affinity="nearest_neighbors", n_neighbors=15, random_state=0).fit(X).labels_,
        lambda found, y, few: normalized_mutual_info_score(y, found),
    )
    yield (
        "labels, LabelSpreading",
        lambda X, few: taugraph.LabelPropagation().fit(X, few).transduction_,
        lambda X, few: LabelSpreading(kernel="knn", n_neighbors=15).fit(X, few).transduction_,
        lambda found, y, few: np.mean((found == y)[few < 0]),
    )


def compared(n):
    sets = [(X, ten_of_each(y), y) for X, y in (groups(n, seed) for seed in range(1, N_SETS + 1))]
    for name, own, peer, quality in works():
        ours, theirs = [], []
        # The first round warms both up and is not counted.
        for turn in range(1 + (3 if QUICK else ROUNDS)):
            for times, work in ((ours, own), (theirs, peer)):
                time.sleep(PAUSE)
                taken, _ = seconds(lambda: work(*sets[0][:2]))
                if turn:
                    times.append(taken)
        mine, its = min(ours), min(theirs)
        my_quality, its_quality = (np.mean([quality(work(X, few), y, few) for X, few, y in sets]) for work in (own, peer))
        ratio = mine / its
        cells = (f"{1000 * mine:.1f}", f"{1000 * its:.1f}", f"{ratio:.2f}", f"{my_quality:.3f}", f"{its_quality:.3f}")
        yield row(f"{n:,}", name, *cells, mark(ratio <= GOAL and my_quality >= its_quality - 0.005))


def import_seconds(modules, rounds=7):
    """The median time of a fresh interpreter that imports these."""
    run = lambda: subprocess.run([sys.executable, "-c", f"import {modules}"], check=True)
    run()
    return statistics.median(seconds(run)[0] for _ in range(3 if QUICK else rounds))


def small():
    warnings.simplefilter("ignore")
    numpy_only, package = import_seconds("numpy"), import_seconds("numpy, taugraph")
    scikit = import_seconds("numpy, sklearn.cluster")
    more = package - numpy_only
    return [
        "`fit` from Python on five overlapping groups in ten columns, ours and scikit-learn's (`SpectralClustering(5, affinity=\"nearest_neighbors\", n_neighbors=15)`,",
        f"`LabelSpreading(kernel=\"knn\", n_neighbors=15)` with ten labeled points of each group), alternating with pauses of {1000 * PAUSE:.0f} ms; the shortest of {ROUNDS}. Quality is NMI for clusters and accuracy on the",
        f"other rows for labels, the mean over {N_SETS} sets. Goal: ratio at most {GOAL}, quality at least as good (within 0.005).",
        "",
        "| points | peer | taugraph ms | its ms | ratio | quality | its quality | goal |",
        "|---|---|---|---|---|---|---|---|",
        *(line for n in ((200, 500) if QUICK else SIZES) for line in compared(n)),
        "",
        f"- `import taugraph` takes {more:.2f} s beyond numpy, `import sklearn.cluster` {scikit - numpy_only:.2f} s. Goal: {IMPORT_GOAL} s. {mark(more <= IMPORT_GOAL)}".rstrip(),
        "",
        machine("taugraph", "numpy", "scikit-learn") + ".",
    ]
