"""A thousand fits in one process, in threads, in forked processes and interrupted: the same labels each time, no memory lost.

python scripts/soak.py [FITS]
"""

import gc
import os
import resource
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import taugraph

FITS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


X, y = taugraph.make_blobs(1500, n_columns=6, n_blobs=5, random_state=1)
few = np.where(np.arange(len(y)) % 50 == 0, y, -1)
LONG = np.random.default_rng(0).normal(size=(30_000, 24))
KINDS = {
    "clusters": lambda: taugraph.SpectralClustering(5).fit(X).labels_,
    "number": lambda: taugraph.SpectralClustering().fit(X).labels_,
    "labels": lambda: taugraph.LabelPropagation().fit(X, few).transduction_,
    "embedding": lambda: taugraph.SpectralEmbedding(3).fit(X).embedding_,
    "new points": lambda: taugraph.SpectralClustering(5).fit(X).predict(X[:100] + 0.01),
}
EXPECTED = {kind: fit() for kind, fit in KINDS.items()}


def check(number):
    kind = list(KINDS)[number % len(KINDS)]
    assert np.array_equal(KINDS[kind](), EXPECTED[kind]), kind


def in_threads(count):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(check, range(count)))


def in_forks(count):
    for number in range(count):
        child = os.fork()
        if child == 0:
            try:
                check(number)
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0, number


def interrupted(count):
    """Ctrl-C at some moment of a long fit; returns the longest time until it ended, and how many fits it ended."""
    longest, ended = 0.0, 0
    for number in range(count):
        asked, is_done = [], False

        def interrupt(asked=asked, number=number):
            time.sleep(0.03 + 0.01 * (number % 40))
            asked.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        other = threading.Thread(target=interrupt)
        try:
            other.start()
            taugraph.SpectralClustering(8, params={"graph.search.method": "exact"}).fit(LONG)
            is_done = True
            # Too fast for this moment: the interrupt comes while we wait.
            other.join()
            time.sleep(0.2)
        except KeyboardInterrupt:
            if not is_done:
                longest, ended = max(longest, time.monotonic() - asked[0]), ended + 1
        other.join()
        check(number)
    assert ended > count / 2, f"only {ended} of {count} fits were interrupted"
    return longest, ended


def main():
    # A shell that starts this in the background ignores Ctrl-C for it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in range(50):
        check(number)
    gc.collect()
    warm = resident()
    third = FITS // 4
    for number in range(third):
        check(number)
    in_threads(third)
    in_forks(third)
    longest, ended = interrupted(FITS - 3 * third)
    gc.collect()
    print(f"fits {FITS}: alone {third}, in four threads {third}, in forked processes {third}, interrupted {FITS - 3 * third}")
    print(f"{ended} ended by Ctrl-C; longest wait after it {longest:.2f} s; memory {(resident() - warm) / 1e6:+.1f} MB")


if __name__ == "__main__":
    main()
