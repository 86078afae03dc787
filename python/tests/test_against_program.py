"""The same seed gives the same bits from Python and from the command line."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pandas as pd
import pytest

import taugraph


def run(program, *args):
    done = subprocess.run([program, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("preset", ["robust", "robust-mean", "local-scaling", "paper"])
def test_clusters_and_scales(program, tmp_path, spirals, preset):
    X, _ = spirals
    X = X[:120] if preset == "paper" else X
    more = ["--set", "graph.estimator.schedule.steps=60"] if preset == "paper" else []
    np.save(tmp_path / "x.npy", X)
    files = [tmp_path / name for name in ("l.npy", "s.npy", "o.json")]
    run(program, "cluster", tmp_path / "x.npy", "--preset", preset, *more, "--seed", 5, "-o", files[0], "--scales", files[1],
        "--json", files[2], "--set", "cluster.stability=3", "--quiet")
    report = json.loads(files[2].read_text())
    params = {"graph.estimator.schedule.steps": 60} if preset == "paper" else None
    model = taugraph.SpectralClustering(graph=preset, random_state=5, stability=3, params=params).fit(X)
    graph = taugraph.RobustGraph(preset, random_state=5, params=params).fit(X)
    labels = np.load(files[0])
    assert (labels.reshape(len(X), -1)[:, 0] == model.labels_).all()
    assert (labels.reshape(len(X), -1)[:, 1] == model.stability_).all()
    scales = np.load(files[1]).reshape(len(X), -1)
    assert (scales[:, 0] == graph.first_scales_).all() and (scales[:, 1] == graph.local_scales_).all()
    assert report["clusters"]["eigenvalues"] == model.eigenvalues_.tolist()[: len(report["clusters"]["eigenvalues"])]


def test_graph(program, tmp_path, blobs):
    from scipy.io import mmread

    X = np.vstack([blobs[0], blobs[0][:7]])
    np.save(tmp_path / "x.npy", X)
    run(program, "graph", tmp_path / "x.npy", "-o", tmp_path / "g.mtx", "--quiet")
    written = mmread(tmp_path / "g.mtx").tocsr()
    assert (written != taugraph.RobustGraph().fit(X).graph_).nnz == 0


@pytest.mark.parametrize("rule", ["harmonic", "poisson", "greedy-walk"])
def test_labels_and_predictions(program, tmp_path, blobs, rule):
    X, y = blobs
    names = np.array(["a", "b", "c", "d"])[y].astype(object)
    known = np.full(len(X), None, dtype=object)
    rows = [int(np.flatnonzero(y == k)[3]) for k in range(4)]
    known[rows] = names[rows]
    frame = pd.DataFrame(X, columns=list("vwxyz"))
    frame.assign(label=known).to_csv(tmp_path / "x.csv", index=False)
    frame.iloc[:50].add(0.01).to_csv(tmp_path / "new.csv", index=False)
    run(program, "propagate", tmp_path / "x.csv", "--labels", "label", "--set", f"propagate.rule={rule}", "-o", tmp_path / "l.csv",
        "--save-model", tmp_path / "m.safetensors", "--quiet")
    run(program, "predict", tmp_path / "m.safetensors", tmp_path / "new.csv", "-o", tmp_path / "p.csv", "--quiet")
    # As the program read them.
    read = pd.read_csv(tmp_path / "x.csv", float_precision="round_trip")[list("vwxyz")]
    new = pd.read_csv(tmp_path / "new.csv", float_precision="round_trip")
    model = taugraph.LabelPropagation(rule).fit(read, known)
    labels = pd.read_csv(tmp_path / "l.csv", float_precision="round_trip")
    assert (labels["label"].to_numpy() == model.transduction_).all()
    assert (labels["margin"].to_numpy() == model.margin_).all()
    placed = pd.read_csv(tmp_path / "p.csv", float_precision="round_trip")
    assert (placed["label"].to_numpy() == model.predict(new)).all()
    columns = [column for column in placed if column.startswith("p_")]
    assert (placed[columns].to_numpy() == model.predict_proba(new)).all()


def test_generators(program, tmp_path):
    run(program, "generate", "spirals", "-n", 50, "--noise", 0.2, "--share", 0.5, "--seed", 3, "-o", tmp_path / "s.csv")
    written = pd.read_csv(tmp_path / "s.csv", float_precision="round_trip")
    X, y = taugraph.make_spirals(50, noise=0.2, share=0.5, random_state=3)
    assert (written[["x1", "x2"]].to_numpy() == X).all() and (written["label"] == y).all()
