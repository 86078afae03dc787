"""The graph of a table that is spread over partitions, against one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tables import graph_of, points, written

import taugraph
from taugraph.distributed import DistributedError, Local
from taugraph.distributed._source import open_source
from taugraph.distributed._storage import Storage

EXACT = {"graph.search.method": "exact"}


def graph(uri: str, storage: Path, n_parts: int, params: dict[str, Any] = EXACT, **more: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is said of the graph, and its edges in the order of the nodes."""
    with Local(workers=2) as executor:
        found = graph_of(executor, uri, Storage(str(storage)), n_parts, params=params, seed=7, **more)
        shards = [executor.job.storage.read_shard(f"graph/{part:05}") for part in range(n_parts)]
    own = np.concatenate([np.repeat(shard["ids"], np.diff(shard["offsets"].astype(np.int64))) for shard in shards])
    joined = {name: np.concatenate([shard[name] for shard in shards]) for name in ("targets", "distances", "persistence", "probabilities", "weights")}
    order = np.lexsort((joined["targets"], own))
    return found, {"own": own[order], **{name: values[order] for name, values in joined.items()}}


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_it_has_the_bits_of_one_process(metric: str, tmp_path: Path) -> None:
    X = points()
    uri = written(X, tmp_path / "table", 3, 300)
    # Means and deviations of one process are summed in another order.
    params = {**EXACT, "metric": metric, "preparation.standardize": "none"}
    short = {"metric": metric, "standardize": "none", "random_state": 7}
    one = taugraph.RobustGraph(**short, params={**EXACT, "graph.link_components": "no"}).fit(X)
    affinity = one.graph_.tocsr()
    affinity.sort_indices()
    for n_parts in (1, 4):
        found, edges = graph(uri, tmp_path / f"storage-{n_parts}", n_parts, params)
        assert (found["rows"], found["nodes"]) == (len(X), len(X))
        assert np.array_equal(edges["own"], np.repeat(np.arange(len(X)), np.diff(affinity.indptr)))
        assert np.array_equal(edges["targets"], affinity.indices)
        assert np.array_equal(edges["weights"], affinity.data)


def test_copies_share_a_node_and_partitions_change_nothing(tmp_path: Path) -> None:
    X = points(900)
    X[500:700] = X[100:300]
    X[3], X[4] = 0.0, -0.0
    uri = written(X, tmp_path / "table", 2, 300)
    first, whole = graph(uri, tmp_path / "one", 1)
    assert (first["rows"], first["nodes"]) == (900, 699)
    _, parts = graph(uri, tmp_path / "seven", 7)
    assert all(np.array_equal(whole[name], parts[name]) for name in whole)


def test_an_approximate_search_has_the_recall_it_says(tmp_path: Path) -> None:
    X = points(4000, 10)
    uri = written(X, tmp_path / "table", 3, 300)
    params = {"graph.search.method": "approximate", "graph.search.recall": 0.9}
    found, whole = graph(uri, tmp_path / "one", 1, params)
    search = found["search"]
    assert 0.9 <= search["recall"] <= 1 and search["n_probe"] < search["n_cells"]
    again, parts = graph(uri, tmp_path / "five", 5, params)
    assert again["search"]["n_probe"] == search["n_probe"]
    assert all(np.array_equal(whole[name], parts[name]) for name in whole)


def test_the_same_command_resumes(tmp_path: Path) -> None:
    uri = written(points(600), tmp_path / "table", 3, 300)
    _, first = graph(uri, tmp_path / "storage", 3)
    bytes_before = {path.name: path.read_bytes() for path in (tmp_path / "storage" / "graph").iterdir()}
    events: list[dict[str, Any]] = []
    (tmp_path / "storage" / "graph" / "00001").unlink()
    _, second = graph(uri, tmp_path / "storage", 3, progress=events.append)
    assert [event["task"] for event in events if event["event"] == "task"] == ["graph/00001"]
    assert bytes_before == {path.name: path.read_bytes() for path in (tmp_path / "storage" / "graph").iterdir()}
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_sources(tmp_path: Path) -> None:
    X = points(50, 3).astype(np.float32)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), 3)
    pq.write_table(pa.table({"id": [str(i) for i in range(50)], "embedding": lists}), tmp_path / "lists.parquet", row_group_size=7)
    source = open_source(str(tmp_path / "*.parquet"))
    assert source.is_list and source.is_single and source.n_rows == 50
    assert np.array_equal(source.read(11, 37), X[11:37])
    with pytest.raises(DistributedError, match="no Parquet file"):
        open_source(str(tmp_path / "nothing"))
    with pytest.raises(DistributedError, match="no column 'x'"):
        open_source(str(tmp_path / "lists.parquet"), ["x"])
    with pytest.raises(DistributedError, match="'id' is string"):
        open_source(str(tmp_path / "lists.parquet"), ["id"])
