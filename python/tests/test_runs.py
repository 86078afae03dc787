"""Threads, processes, interruptions and memory."""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr

import joblib
import numpy as np
import pytest

import taugraph

ESTIMATORS = [
    taugraph.RobustGraph(),
    taugraph.SpectralClustering(4),
    taugraph.SpectralEmbedding(3),
    taugraph.LabelPropagation(),
]


def results(model, X):
    """The results of a fitted estimator for points."""
    for name in ("transform", "predict_proba", "predict"):
        if hasattr(model, name):
            found = getattr(model, name)(X)
            return found.toarray() if hasattr(found, "toarray") else found
    raise AssertionError


def fitted_elsewhere(estimator, X, y):
    return pickle.dumps(estimator.fit(X, y))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_pickles_cross_processes(estimator, blobs):
    X, y = blobs
    here = results(estimator.fit(X, y), X[:30] + 0.01)
    assert (results(pickle.loads(pickle.dumps(estimator)), X[:30] + 0.01) == here).all()
    for way in ("spawn", "fork"):
        with multiprocessing.get_context(way).Pool(1) as pool:
            there = pickle.loads(pool.apply(fitted_elsewhere, (estimator, X, y)))
        assert (results(there, X[:30] + 0.01) == here).all(), way


def test_sparse_models_are_pickled(blobs):
    import scipy.sparse as sp

    X = sp.csr_matrix(np.abs(blobs[0]))
    model = taugraph.SpectralClustering(4).fit(X)
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.labels_).all()
    # A table that would not fit is not created, and everything else survives.
    wide = sp.csr_matrix((np.abs(blobs[0]).ravel(), np.tile(np.arange(5) * 10**8, 300), np.arange(0, 1501, 5)), shape=(300, 10**9))
    model = taugraph.SpectralClustering(4).fit(wide)
    with pytest.raises(MemoryError, match="TruncatedSVD"):
        model.predict(wide)
    assert (pickle.loads(pickle.dumps(model)).labels_ == model.labels_).all()


def test_joblib(blobs):
    X, _ = blobs
    one = taugraph.SpectralClustering(4).fit(X).labels_
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(taugraph.SpectralClustering(4).fit_predict)(X) for _ in range(4))
    assert all((labels == one).all() for labels in found)


def test_threads_change_nothing(blobs):
    X, y = blobs
    for estimator in ESTIMATORS:
        one = results(estimator.set_params(n_jobs=1).fit(X, y), X + 0.01)
        for n_jobs in (2, 3, -1, None):
            assert (results(estimator.set_params(n_jobs=n_jobs).fit(X, y), X + 0.01) == one).all()


def test_fits_in_parallel_threads(blobs):
    X, _ = blobs
    one = taugraph.SpectralClustering(4).fit(X).labels_
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: taugraph.SpectralClustering(4).fit_predict(X), range(24)))
    assert all((labels == one).all() for labels in found)


def test_the_lock_is_released():
    X, _ = taugraph.make_blobs(20_000, n_columns=8, n_blobs=5)
    steps, done = [], threading.Event()

    def count():
        while not done.is_set():
            steps.append(time.monotonic())
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    taugraph.RobustGraph().fit(X)
    done.set()
    counter.join()
    assert len(steps) > 20


INTERRUPTED = """
    import sys, time
    import numpy as np
    import taugraph
    X = np.random.default_rng(0).normal(size=(60_000, 40))
    # Imports that wait for the first fit are not to be interrupted.
    taugraph.RobustGraph().fit(X[:200])
    print("ready", flush=True)
    try:
        taugraph.RobustGraph(n_neighbors=30, params={"graph.search.method": "exact"}).fit(X)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        # And it can be used again.
        taugraph.RobustGraph().fit(X[:200])
        print("usable", flush=True)
"""


def test_ctrl_c_stops_a_long_fit():
    code = textwrap.dedent(INTERRUPTED)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        asked = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        waited = time.monotonic() - asked
        assert process.stdout.readline() == "usable\n"
    assert process.returncode == 0
    # The promise is one second, but the machine may be busy.
    assert waited < 5, waited


def test_progress_is_told():
    X, _ = taugraph.make_blobs(30_000, n_columns=12, n_blobs=5)
    out = io.StringIO()
    with redirect_stderr(out):
        taugraph.SpectralClustering(5, verbose=1).fit(X)
    assert "neighbors" in out.getvalue()


def test_seeds():
    X, _ = taugraph.make_spirals(100, noise=0.3, random_state=1)
    fit = lambda state: taugraph.RobustGraph("paper", estimator="identity", random_state=state).fit(X).local_scales_
    assert (fit(4) == fit(4)).all() and (fit(4) != fit(5)).any()
    assert (fit(np.random.RandomState(1)) == fit(np.random.RandomState(1))).all()
    assert (fit(np.random.default_rng(1)) == fit(np.random.default_rng(1))).all()
    with pytest.raises(ValueError, match="random_state"):
        fit(-1)


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc to measure memory")
def test_memory_does_not_grow_over_200_fits(blobs):
    X, y = blobs
    X = np.tile(X, (4, 1)) + np.random.default_rng(0).normal(scale=1e-3, size=(1200, 5))
    y = np.tile(y, 4)

    def fits(count):
        for _ in range(count):
            model = taugraph.SpectralClustering(4).fit(X)
            model.predict(X[:50])
            taugraph.LabelPropagation().fit(X, y)
            del model
        gc.collect()
        return resident()

    warm = fits(40)
    grown = fits(200) - warm
    print(f"200 fits of 1,200 points: {grown / 1e6:+.2f} MB")
    # What one fit allocates is about 3 MB; a leak of its labels alone would be 2 MB, of its graph 80 MB.
    assert grown < 4e6, grown


LIMITED = """
    import resource, sys
    import numpy as np
    import taugraph
    kind, n, extra = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    X = np.random.default_rng(0).normal(size=(n, 12))
    y = np.full(n, -1)
    y[:4] = [0, 1, 0, 1]
    taugraph.RobustGraph().fit(X[:300])
    with open("/proc/self/status") as status:
        used = "VmData:" if sys.argv[4] == "RLIMIT_DATA" else "VmSize:"
        size = next(int(line.split()[1]) * 1024 for line in status if line.startswith(used))
    limit = getattr(resource, sys.argv[4])
    resource.setrlimit(limit, (size + extra, resource.RLIM_INFINITY))
    fit = {
        "graph": lambda: taugraph.RobustGraph().fit(X),
        "clusters": lambda: taugraph.SpectralClustering(4).fit(X),
        "all pairs": lambda: taugraph.RobustGraph("local-scaling").fit(X[:4000]),
        "labels": lambda: taugraph.LabelPropagation().fit(X, y).predict(X[:500]),
        "embedding": lambda: taugraph.SpectralEmbedding(8).fit(X),
    }[kind]
    try:
        fit()
        print("done")
    except MemoryError as error:
        print("refused", error)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc to measure memory")
@pytest.mark.parametrize("kind", ["graph", "clusters", "all pairs", "labels", "embedding"])
def test_no_limit_of_memory_ends_the_process(kind):
    """From far too little to enough: the fit succeeds, or there is an exception."""
    answers = []
    limit = "RLIMIT_DATA" if kind == "graph" else "RLIMIT_AS"
    for megabytes in (20, 100, 200, 3000):
        arguments = [kind, "20000", str(megabytes << 20), limit]
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(LIMITED), *arguments], capture_output=True, text=True)
        assert done.returncode == 0, (megabytes, done.returncode, done.stderr[-500:])
        answers.append(done.stdout.split()[0])
    assert answers[0] == "refused" and answers[-1] == "done", answers
