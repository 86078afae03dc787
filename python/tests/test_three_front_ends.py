"""One input, one seed: the program, the Python package and the Rust library give the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmread, mmwrite

import taugraph

PRESETS = ["robust", "robust-mean", "paper", "paper-literal", "local-scaling", "constant-control", "threshold-control"]


@pytest.fixture(scope="session")
def rust(program) -> str:
    """The library's example `fit`, in the same folder as the program."""
    found = Path(os.environ.get("TAUGRAPH_EXAMPLES", Path(program).parent / "examples")) / "fit"
    if not found.exists():
        pytest.fail(f"{found} is missing: cargo build --package taugraph --example fit makes it")
    return str(found)


def inputs() -> dict[str, np.ndarray | sp.csr_matrix]:
    spirals, _ = taugraph.make_spirals(120, noise=0.1, random_state=4)
    blobs, _ = taugraph.make_blobs(90, n_columns=6, n_blobs=3, random_state=5)
    return {
        "table": spirals,
        "ten rows": blobs[:10],
        "duplicates": np.vstack([spirals, spirals[::3], spirals[::7]]),
        "sparse": sp.csr_matrix(np.where(blobs > 0, blobs, 0.0)),
    }


CASES = [("table", preset) for preset in PRESETS]
CASES += [(name, preset) for name in ("ten rows", "duplicates") for preset in PRESETS]
CASES += [("sparse", "robust"), ("sparse", "constant-control")]


def by_program(program: str, X, preset: str, folder: Path) -> tuple[np.ndarray, sp.csr_matrix]:
    if sp.issparse(X):
        file = folder / "x.mtx"
        mmwrite(file, X, precision=17)
    else:
        file = folder / "x.npy"
        np.save(file, X)
    line = [program, "cluster", file, "--input", "points", "--preset", preset, "--clusters", "2", "--seed", "3", "--quiet",
            "--graph", folder / "g.mtx", "--output", folder / "l.csv", "--json", folder / "run.json"]
    done = subprocess.run([str(word) for word in line], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return np.asarray(json.loads((folder / "run.json").read_text())["labels"]), sp.csr_matrix(mmread(folder / "g.mtx"))


def by_python(X, preset: str) -> tuple[np.ndarray, sp.csr_matrix]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = taugraph.SpectralClustering(2, graph=preset, random_state=3).fit(X).labels_
        graph = taugraph.RobustGraph(preset, random_state=3).fit(X).graph_
    return labels, graph


def by_rust(rust: str, X, preset: str) -> tuple[np.ndarray, sp.csr_matrix]:
    if sp.issparse(X):
        rows = [" ".join(f"{j}:{float(v)!r}" for j, v in zip(row.indices, row.data, strict=True)) for row in (X[i] for i in range(X.shape[0]))]
        more = [str(X.shape[1])]
    else:
        rows, more = [",".join(repr(float(v)) for v in row) for row in X], []
    done = subprocess.run([rust, preset, "2", "3", *more], input="\n".join(rows) + "\n", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    labels, edges = done.stdout.split("\n\n")
    i, j, weights = zip(*(line.split() for line in edges.splitlines()), strict=True)
    n = X.shape[0]
    upper = sp.coo_matrix((np.array(weights, float), (np.array(i, int), np.array(j, int))), shape=(n, n))
    return np.array(labels.split(), int), sp.csr_matrix(upper + upper.T)


@pytest.mark.parametrize(("name", "preset"), CASES)
def test_the_same_bits(program, rust, tmp_path, name, preset):
    X = inputs()[name]
    labels, graph = by_python(X, preset)
    for other_labels, other_graph in (by_program(program, X, preset, tmp_path), by_rust(rust, X, preset)):
        assert (labels == other_labels).all()
        assert (graph != other_graph).nnz == 0
