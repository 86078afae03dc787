"""The whole chain on processes of this machine: from Parquet files to clusters, compared with one process."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_rand_score
from tables import points, written

import taugraph
from taugraph.distributed import InputError, Local, cluster
from taugraph.exceptions import ParameterError

EXACT = {"graph.search.method": "exact", "preparation.standardize": "none"}


def labels_of(folder: Path) -> np.ndarray:
    """The clusters in the order of the rows, after a check that every row is there."""
    tables = [pq.read_table(path) for path in sorted((folder / "labels").iterdir())]
    rows = np.concatenate([table["row"].to_numpy() for table in tables])
    assert np.array_equal(rows, np.arange(len(rows)))
    return np.concatenate([table["cluster"].to_numpy() for table in tables])


def clustered(uri: str, folder: Path, partitions: int, **more: Any) -> tuple[dict[str, Any], np.ndarray]:
    with Local(workers=2) as executor:
        report = cluster(uri, str(folder), partitions=partitions, executor=executor, **{"params": EXACT, "seed": 7, **more})
    return report, labels_of(folder)


def groups(n: int = 2400, d: int = 6, n_groups: int = 5, apart: float = 9.0) -> tuple[np.ndarray, np.ndarray]:
    """Groups of different size and width."""
    rng = np.random.default_rng(8)
    of_row = rng.choice(n_groups, n, p=np.arange(1, n_groups + 1) / np.arange(1, n_groups + 1).sum())
    centers = rng.normal(size=(n_groups, d)) * apart
    return centers[of_row] + rng.normal(size=(n, d)) * rng.uniform(0.5, 2, n_groups)[of_row, None], of_row


@pytest.mark.parametrize("n_clusters", [5, None])
def test_groups_are_found_on_any_number_of_partitions(n_clusters: int | None, tmp_path: Path) -> None:
    X, truth = groups()
    uri = written(X, tmp_path / "table", 3, 300)
    for partitions in (1, 4):
        report, labels = clustered(uri, tmp_path / str(partitions), partitions, n_clusters=n_clusters)
        assert report["clusters"]["n_clusters"] == 5
        assert adjusted_rand_score(truth, labels) > 0.99
        # In the order of their first rows.
        _, firsts = np.unique(labels, return_index=True)
        assert np.array_equal(np.argsort(firsts), np.arange(5))


def structureless() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    grid = np.stack(np.meshgrid(np.arange(40.0), np.arange(40.0)), -1).reshape(-1, 2)
    return {"gaussian": rng.normal(size=(2000, 4)), "grid": grid, "copies": np.repeat(rng.normal(size=(60, 3)), 30, axis=0)}


@pytest.mark.parametrize("name", structureless())
def test_no_structure_is_one_cluster(name: str, tmp_path: Path) -> None:
    """Also where all distances are ties, and where each row stands there thirty times."""
    report, labels = clustered(written(structureless()[name], tmp_path / "table", 3, 300), tmp_path / "out", 4)
    assert report["clusters"]["n_clusters"] == 1 and not labels.any()


def test_links_are_those_of_one_process(tmp_path: Path) -> None:
    X, _ = groups(900, 3, 6, apart=60.0)
    uri = written(X, tmp_path / "table", 3, 300)
    one = taugraph.RobustGraph(standardize="none", random_state=7, params={"graph.search.method": "exact"}).fit(X).graph_.tocsr()
    for partitions in (1, 4, 16):
        folder = tmp_path / str(partitions)
        report, _ = clustered(uri, folder, partitions, n_clusters=6, graph=True)
        assert report["graph"]["components"] >= 6 and report["graph"]["links"] == report["graph"]["components"] - 1
        tables = [pq.read_table(path) for path in sorted((folder / "graph").iterdir())]
        found = {}
        for table in tables:
            for row, other, weight in zip(*(table[name].to_pylist() for name in ("row", "other_row", "weight"))):
                found[row, other] = weight
        upper = one.tocoo()
        expected = {(int(i), int(j)): float(w) for i, j, w in zip(upper.row, upper.col, upper.data) if i < j}
        assert found == expected
        links = sum(table["distance"].null_count for table in tables)
        assert links == report["graph"]["links"]


def test_copies_have_the_cluster_of_their_node(tmp_path: Path) -> None:
    X, truth = groups(800)
    X, truth = np.concatenate([X, X[:300]]), np.concatenate([truth, truth[:300]])
    report, labels = clustered(written(X, tmp_path / "table", 3, 300), tmp_path / "out", 3, n_clusters=5)
    assert report["graph"]["nodes"] == 800 and np.array_equal(labels[800:], labels[:300])
    assert adjusted_rand_score(truth, labels) > 0.99


def test_the_same_bytes_after_an_interruption(tmp_path: Path) -> None:
    X, _ = groups(1000)
    uri, folder = written(X, tmp_path / "table", 3, 300), tmp_path / "out"
    clustered(uri, folder, 3, n_clusters=4)
    files = [path for path in folder.rglob("*") if path.is_file() and "records" not in path.parts]
    before = {path: path.read_bytes() for path in files if path.name != "report.json"}
    (folder / "labels" / "part-00000.parquet").unlink()
    (folder / "_SUCCESS").unlink()
    for shard in (folder / "work" / "refined").rglob("*"):
        if shard.is_file():
            shard.unlink()
    events: list[dict[str, Any]] = []
    clustered(uri, folder, 3, n_clusters=4, progress=events.append)
    done = {event["task"].partition("/")[0] for event in events if event["event"] == "task"}
    # What was found in the same way is not computed again from there.
    assert done == {"refined", "labels"}
    assert {path: path.read_bytes() for path in before} == before
    # Other data are another run.
    os.utime(folder.parent / "table" / "part-0.parquet")
    events.clear()
    clustered(uri, folder, 3, n_clusters=4, progress=events.append)
    assert any(event["event"] == "task" and event["task"].startswith("moments") for event in events)


def test_what_is_refused(tmp_path: Path) -> None:
    uri = written(points(40, 3), tmp_path / "table", 3, 300)
    refused: dict[str, dict[str, Any]] = {
        "ask for fewer": {"n_clusters": 41},
        "at least 1": {"n_clusters": 0},
        "cluster.components = joint: on partitions": {"params": {"cluster.components": "joint"}},
        "cluster.count = eigengap": {"params": {"cluster.count": "eigengap"}},
    }
    for message, more in refused.items():
        with pytest.raises((InputError, ParameterError), match=message):
            clustered(uri, tmp_path / "out", 2, **more)
    assert not (tmp_path / "out" / "_SUCCESS").exists()


def test_few_rows_and_one_cluster(tmp_path: Path) -> None:
    report, labels = clustered(written(points(30, 2), tmp_path / "few", 3, 300), tmp_path / "out", 8, n_clusters=1)
    assert np.array_equal(labels, np.zeros(30)) and report["clusters"]["n_clusters"] == 1
    saved = json.loads((tmp_path / "out" / "report.json").read_text())
    assert saved == json.loads(json.dumps(report)) and (tmp_path / "out" / "_SUCCESS").exists()
