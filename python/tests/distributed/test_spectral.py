"""Spectral clustering of a graph that is spread over partitions, against one process."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_digits

import taugraph
from taugraph import _core
from taugraph.distributed import Local
from taugraph.distributed import _eigen as eigen
from taugraph.distributed._plan import Plan
from taugraph.distributed._source import Source
from taugraph.distributed._spectral import spectral
from taugraph.distributed._storage import Storage
from taugraph.exceptions import EigenNotConvergedError, ParameterError

SEED = 7


def blobs(n: int = 3000, d: int = 6, k: int = 5) -> tuple[np.ndarray, int]:
    rng = np.random.default_rng(2)
    return rng.normal(size=(n, d)) + 4 * rng.normal(size=(k, d))[rng.integers(k, size=n)], k


def digits() -> tuple[np.ndarray, int]:
    return load_digits().data + np.random.default_rng(0).normal(scale=1e-3, size=(1797, 64)), 10


def spirals(n: int = 3000) -> tuple[np.ndarray, int]:
    turn = 1 + 9 * np.sqrt(np.arange(n) % (n // 2) / (n // 2))
    side = np.where(np.arange(n) < n // 2, 1, -1)
    points = np.stack([side * turn * np.cos(turn), side * turn * np.sin(turn)], axis=1)
    return points + np.random.default_rng(1).normal(scale=0.05, size=points.shape), 2


SETS = {"blobs": blobs, "digits": digits, "spirals": spirals}


def graph_of(points: np.ndarray) -> sp.csr_matrix:
    graph = taugraph.RobustGraph(random_state=SEED).fit(points).graph_.tocsr()
    graph.sort_indices()
    return graph


def owners(points: np.ndarray, n_parts: int) -> np.ndarray:
    """Partitions along the first column: neighbors are mostly together."""
    ranks = np.argsort(np.argsort(points[:, 0], kind="stable"), kind="stable")
    return ranks * n_parts // len(points)


def write(storage: Storage, graph: sp.csr_matrix, owner: np.ndarray, n_parts: int, guess: np.ndarray | None = None) -> None:
    for part in range(n_parts):
        ids = np.flatnonzero(owner == part)
        rows = graph[ids]
        targets = rows.indices.astype(np.uint32)
        linked = {
            "ids": ids.astype(np.uint32),
            "offsets": rows.indptr.astype(np.uint64),
            "targets": targets,
            "weights": rows.data,
        }
        storage.write_shard(f"linked/{part:05}", linked, "test")
        reached = np.unique(targets)
        for of in range(n_parts):
            halo = reached[owner[reached] == of] if of != part else reached[:0]
            storage.write_shard(f"halo/{part:05}/{of:05}", {"ids": halo}, "test")
        if guess is not None:
            storage.write_shard(f"agglomerated/{part:05}", {"labels": guess[ids].astype(np.uint32)}, "test")


def plan_of(n_parts: int, params: dict[str, Any] | None = None) -> Plan:
    source = Source(uri="", files=(), rows=(), columns=(), is_list=False, is_single=False, width=0, group_rows=0, stamps=())
    return Plan(source, "robust", params or {}, SEED, n_parts, _core.block_rows())


def solved(
    folder: Path, graph: sp.csr_matrix, owner: np.ndarray, n_parts: int, k: int, guess: np.ndarray | None = None, **more: Any
) -> tuple[dict[str, Any], np.ndarray]:
    """What is said of the clusters, and the labels by node."""
    storage = Storage(str(folder))
    write(storage, graph, owner, n_parts, guess)
    with more.pop("executor", None) or Local(workers=more.pop("workers", 2)) as executor:
        executor.attach(storage, "manifest", more.pop("progress", None))
        found = spectral(executor, plan_of(n_parts, more.pop("params", None)), "manifest", len(owner), k)
    labels = np.empty(len(owner), int)
    for part in range(n_parts):
        labels[owner == part] = storage.read_shard(f"spectral/{part:05}")["labels"]
    return found, labels


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() for name in ("eigen", "spectral") for path in (folder / name).iterdir()
    }


def agreement(found: np.ndarray, expected: np.ndarray) -> float:
    """The share of equal labels under the best names."""
    counts = np.zeros((found.max() + 1, expected.max() + 1), int)
    np.add.at(counts, (found, expected), 1)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / len(found))


@pytest.mark.parametrize("name", SETS)
def test_clusters_are_those_of_one_process(name: str, tmp_path: Path) -> None:
    points, k = SETS[name]()
    graph = graph_of(points)
    one = taugraph.SpectralClustering(k, method="spectral", graph="precomputed", random_state=SEED).fit(graph)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    laplacian = sp.identity(len(points)) - sp.diags(degrees**-0.5) @ graph @ sp.diags(degrees**-0.5)
    for n_parts in (1, 3, 5):
        folder, owner = tmp_path / str(n_parts), owners(points, n_parts)
        found, labels = solved(folder, graph, owner, n_parts, k)
        assert found["confirmed"] and found["steps"] <= 30 and found["n_coarse"] < len(points) / 4
        assert agreement(labels, one.labels_) >= 0.999
        # Clusters are numbered in the order of their first nodes.
        assert np.array_equal(np.unique(labels, return_index=True)[1], np.sort(np.unique(labels, return_index=True)[1]))
        vectors = np.empty((len(points), k))
        for part in range(n_parts):
            vectors[owner == part] = Storage(str(folder)).read_shard(f"eigen/{part:05}")["vectors"]
        residuals = np.linalg.norm(laplacian @ vectors - vectors * found["values"], axis=0)
        assert np.allclose(residuals, found["residuals"], atol=1e-12)
        assert np.allclose(vectors.T @ vectors, np.eye(k), atol=1e-10)
        assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(k)] > 0).all()
        assert not (folder / "checkpoints").exists() or not list((folder / "checkpoints").rglob("*0*"))


def test_another_clustering_is_a_guess(tmp_path: Path) -> None:
    points, k = blobs()
    graph, owner = graph_of(points), owners(points, 3)
    plain, labels = solved(tmp_path / "plain", graph, owner, 3, k)
    guessed, same = solved(tmp_path / "guessed", graph, owner, 3, k, labels)
    assert guessed["steps"] <= plain["steps"] and np.array_equal(labels, same)
    assert np.allclose(plain["values"], guessed["values"], atol=1e-8)


@pytest.mark.parametrize(("victim", "step"), [("partition", 7), ("partition", 0), ("coarse", 6)])
def test_a_resident_that_is_killed_changes_nothing(
    victim: str, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points, k = spirals()
    graph, owner = graph_of(points), owners(points, 3)
    found, _ = solved(tmp_path / "quiet", graph, owner, 3, k)
    assert found["steps"] > 7
    original, killed = eigen.Eigenpairs._step, []

    def step_and_kill(self: eigen.Eigenpairs, search: Any) -> None:
        if search.steps() == step and not killed:
            group: Any = self.parts if victim == "partition" else self.coarse
            process = group.members[-1].process.process
            killed.append(process.pid)
            os.kill(process.pid, signal.SIGKILL)
        original(self, search)

    monkeypatch.setattr(eigen.Eigenpairs, "_step", step_and_kill)
    events: list[dict[str, Any]] = []
    again, _ = solved(tmp_path / "killed", graph, owner, 3, k, progress=events.append)
    assert killed and again == found
    assert any(f"back to step {step // 5 * 5}" in event.get("text", "") for event in events)
    assert files(tmp_path / "killed") == files(tmp_path / "quiet")


def test_a_cluster_gives_the_same_bytes(cluster: Any, tmp_path: Path) -> None:
    from taugraph.distributed import Ray

    points, k = blobs(1500)
    graph, owner = graph_of(points), owners(points, 3)
    found, _ = solved(tmp_path / "local", graph, owner, 3, k)
    again, _ = solved(tmp_path / "ray", graph, owner, 3, k, executor=Ray(patience=10))
    assert again == found and files(tmp_path / "ray") == files(tmp_path / "local")


def test_a_run_that_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points, k = spirals()
    graph, owner = graph_of(points), owners(points, 3)
    found, _ = solved(tmp_path / "quiet", graph, owner, 3, k)
    original = eigen.Eigenpairs._step

    def step_or_stop(self: eigen.Eigenpairs, search: Any) -> None:
        if search.steps() == 7:
            raise KeyboardInterrupt
        original(self, search)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(eigen.Eigenpairs, "_step", step_or_stop)
        solved(tmp_path / "stopped", graph, owner, 3, k)
    events: list[dict[str, Any]] = []
    again, _ = solved(tmp_path / "stopped", graph, owner, 3, k, progress=events.append)
    assert any("on from step 5" in event.get("text", "") for event in events)
    assert again == found and files(tmp_path / "stopped") == files(tmp_path / "quiet")


def test_threads_and_workers_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points, k = blobs(6000)
    graph, owner = graph_of(points), owners(points, 2)
    for n_threads in (1, 2):
        monkeypatch.setattr("taugraph.distributed._local.n_cores", lambda n_threads=n_threads: 2 * n_threads)
        solved(tmp_path / str(n_threads), graph, owner, 2, k, workers=n_threads)
    assert files(tmp_path / "1") == files(tmp_path / "2")


def test_what_is_finished_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points, k = blobs(800)
    graph, owner = graph_of(points), owners(points, 2)
    first, labels = solved(tmp_path, graph, owner, 2, k)
    monkeypatch.delattr(eigen.Eigenpairs, "solve")
    again, same = solved(tmp_path, graph, owner, 2, k)
    assert again == first and np.array_equal(labels, same)
    with pytest.raises(AttributeError):
        solved(tmp_path, graph, owner, 2, k + 1)


def test_odd_partitions_and_numbers(tmp_path: Path) -> None:
    points, k = blobs(400, k=3)
    graph = graph_of(points)
    # One without nodes, one with a single node, one whose nodes lie apart.
    owner = np.full(400, 3)
    owner[owners(points, 5) == 2] = 0
    owner[::7], owner[5] = 4, 1
    one = taugraph.SpectralClustering(k, method="spectral", graph="precomputed", random_state=SEED).fit(graph)
    found, labels = solved(tmp_path / "odd", graph, owner, 6, k)
    assert found["confirmed"] and agreement(labels, one.labels_) == 1
    _, alone = solved(tmp_path / "alone", graph, owner, 6, 1)
    assert not alone.any()


def test_what_cannot_be_done_is_an_error(tmp_path: Path) -> None:
    points, k = spirals(1000)
    graph, owner = graph_of(points), owners(points, 2)
    with pytest.raises(EigenNotConvergedError):
        solved(tmp_path / "steps", graph, owner, 2, k, params={"cluster.eigen.max_applications": 3})
    with pytest.raises(ParameterError, match="at most the number of nodes"):
        solved(tmp_path / "many", graph, owner, 2, 1001)
