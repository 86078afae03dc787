"""What a run takes, as it is said before and as its records have it; how it is cut; what is refused before any work."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tables import graph_of, groups, written

from taugraph.distributed import InputError, InsufficientResourcesError, Local, StorageFullError, cluster, plan
from taugraph.distributed import _planning
from taugraph.distributed._estimate import BASE, Estimate
from taugraph.distributed._executor import Node
from taugraph.distributed._output import work_of
from taugraph.distributed._places import Folder
from taugraph.distributed._plan import PLAN, Plan
from taugraph.distributed._planning import look_ahead
from taugraph.distributed._source import Source
from taugraph.distributed._status import status
from taugraph.distributed._tasks import Task, records_of
from taugraph.exceptions import ParameterError


class Machines(Local):
    """Machines that are only said to be there."""

    def __init__(self, count: int, cpus: int, memory: int) -> None:
        super().__init__(workers=1, threads=1)
        self.known = [Node(f"machine {number}", cpus, memory) for number in range(count)]

    def nodes(self) -> list[Node]:
        return self.known


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(groups(12_000, 6), tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(groups(52_000, 8), tmp_path_factory.mktemp("large"))


class Remembering(Local):
    """Knows what its tasks reserved."""

    def __init__(self) -> None:
        super().__init__(workers=2, threads=1)
        self.reserved: dict[str, int] = {}

    def run(self, tasks: Sequence[Task], on_done: Any = None) -> list[dict[str, Any]]:
        self.reserved.update({task.key: task.memory for task in tasks})
        return super().run(tasks, on_done)


@pytest.mark.parametrize(("table", "n_parts"), [("small", 2), ("small", 5), ("large", 2), ("large", 5)])
def test_no_task_needs_more_than_is_said(table: str, n_parts: int, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    storage = work_of(str(tmp_path))
    with Remembering() as executor:
        cluster(request.getfixturevalue(table), str(tmp_path), partitions=n_parts, executor=executor)
    estimate = Estimate.of(Plan.from_json(storage.read_json(PLAN)))
    records, workers = records_of(storage), set()
    # Residents are no tasks; what they found has a record of its own.
    assert set(records) - {"eigen/00000", "spectral/00000"} == set(executor.reserved)
    records = {key: records[key] for key in executor.reserved}
    for key, record in sorted(records.items(), key=lambda each: float(each[1]["ended"])):
        reserved = executor.reserved[key]
        assert record["peak_bytes"] <= reserved, key
        # The first task of a worker imports pyarrow, which is part of what is said for every task, as are pages that were given back.
        if record["worker"] in workers:
            assert record["peak_bytes"] - max(record["base_bytes"], 185e6) <= reserved - BASE, key
        workers.add(record["worker"])
    counts = Counter(estimate.stage_of(key) for key in records)
    for name, stage in estimate.stages.items():
        assert not stage.is_certain or counts[name] == stage.tasks, name
        assert stage.is_resident or counts[name] > 0 or name in ("members", "outside"), name
    # Bytes depend on the halo, the probes and the rounds.
    total = sum(record["bytes_written"] for record in records.values())
    assert 0.5 * total < estimate.written < 3 * total


def test_what_a_plan_says(small: str, tmp_path: Path) -> None:
    with Local(workers=2, threads=1) as executor:
        found = plan(small, str(tmp_path / "output"), executor=executor)
        assert found == json.loads(json.dumps(found))
        assert (found["rows"], found["columns"], found["bytes"], found["files"]) == (12_000, 6, 12_000 * 6 * 8, 2)
        assert found["partitions"] == 2 and found["partitions_were_chosen"] and not found["resumes"]
        assert [each["name"] for each in found["stages"]][:5] == ["moments", "sample", "cells", "assigned", "scattered"]
        assert all(each["tasks"] >= 1 and each["memory"] > BASE and each["seconds"] > 0 for each in found["stages"])
        assert found["seconds"] == pytest.approx(sum(each["seconds"] for each in found["stages"]))
        assert found["storage"]["needed"] == found["written"] and found["storage"]["free"] > 10**6
        assert any("1.6" in each for each in found["assumptions"])
        asked = plan(small, executor=executor, partitions=5, columns=["x1", "x0"], graph=True)
        assert (asked["columns"], asked["partitions"], asked["partitions_were_chosen"]) == (2, 5, False)
        assert asked["storage"]["free"] is None and asked["stages"][-1]["name"] == "edge_files"
    assert not (tmp_path / "output").exists()


def test_partitions_follow_machines_rows_and_memory(large: str) -> None:
    def parts(count: int, cpus: int, memory: int) -> int:
        return look_ahead(large, executor=Machines(count, cpus, memory)).plan.n_parts

    plenty = 64 * 10**9
    assert [parts(1, 1, plenty), parts(1, 4, plenty), parts(3, 4, plenty)] == [1, 4, 12]
    # No more than one for 4096 rows.
    assert parts(50, 4, plenty) == 52_000 // 4096


HUGE = Source("s3://bucket/table", ("table.parquet",), (10**8,), ("embedding",), True, False, 64, 100_000, ("",))


@pytest.fixture
def huge(monkeypatch: pytest.MonkeyPatch) -> str:
    """A table that nobody has."""
    monkeypatch.setattr(_planning, "open_source", lambda uri, columns: HUGE)
    return HUGE.uri


def test_tasks_are_small_enough_to_run_side_by_side(huge: str) -> None:
    for count, cpus, memory in ((32, 16, 128 * 10**9), (8, 8, 256 * 10**9)):
        prospect = look_ahead(huge, executor=Machines(count, cpus, memory))
        assert prospect.plan.n_parts >= count * cpus
        side_by_side = memory // cpus
        divided = [stage for stage in prospect.estimate.stages.values() if stage.tasks > 1]
        assert max(stage.memory for stage in divided) <= side_by_side
    # As many as the workers would be too large here.
    scarce = look_ahead(huge, executor=Machines(20, 2, 48 * 10**9)).plan
    assert scarce.n_parts > 40
    fewer = Estimate.of(replace(scarce, n_parts=int(0.75 * scarce.n_parts)))
    assert max(stage.memory for stage in fewer.stages.values() if stage.tasks > 1) > 24 * 10**9 or fewer.parts < 40


def test_a_resumed_run_is_cut_as_before(small: str, tmp_path: Path) -> None:
    output = str(tmp_path / "output")
    first = look_ahead(small, output, executor=Machines(1, 2, 10**10))
    work_of(output).write_json(PLAN, first.plan.to_json())
    more = Machines(3, 1, 10**10)
    again = look_ahead(small, output, executor=more)
    assert again.plan == first.plan and again.plan.n_parts == 2 and again.resumes
    assert not look_ahead(small, output, executor=more, seed=1).resumes
    other = look_ahead(small, output, executor=more, partitions=3)
    assert other.plan.n_parts == 3 and not other.resumes
    # What is written already needs no more room.
    needed = plan(small, output, executor=more)["storage"]["needed"]
    work_of(output).write_json("records/points/00000.json", {"bytes_written": 10_000})
    assert plan(small, output, executor=more)["storage"]["needed"] == needed - 10_000


def test_other_files_are_another_input(tmp_path: Path) -> None:
    table, output = written(groups(300, 2), tmp_path / "table"), str(tmp_path / "output")
    work_of(output).write_json(PLAN, look_ahead(table, output).plan.to_json())
    assert look_ahead(table, output).resumes
    written(groups(300, 2, seed=5), tmp_path / "table")
    assert not look_ahead(table, output).resumes


def test_what_no_machine_holds_is_refused(huge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InsufficientResourcesError, match=r"the largest task of \w+ needs .* with 2 partitions; offered: 32 machines .*") as error:
        plan(huge, executor=Machines(32, 16, 64 * 10**9), partitions=2)
    parts = int(error.value.advice.split("partitions=")[1].split(",")[0])
    assert plan(huge, executor=Machines(32, 16, 64 * 10**9), partitions=parts)["partitions"] == parts > 2
    with pytest.raises(InsufficientResourcesError, match="the largest task of cells .* Another number of partitions does not help"):
        plan(huge, executor=Machines(200, 4, 8 * 10**9))
    with pytest.raises(InsufficientResourcesError, match=r"the \d+ residents of eigenpairs need .* together.*without room for \d+ of them"):
        plan(huge, executor=Machines(3, 4, 64 * 10**9))
    with pytest.raises(InsufficientResourcesError, match="no machines with processors"):
        plan(huge, executor=Machines(0, 2, 10**9))
    monkeypatch.setattr(Folder, "free_bytes", lambda self: 10**6)
    with pytest.raises(StorageFullError, match=r"no room in .*work for everything that the run writes: it has .* 1.0 MB are free"):
        plan(huge, str(tmp_path / "output"), executor=Machines(32, 16, 128 * 10**9))


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"preset": "paper"}, "graph.estimator = auto-encoder: only neighborhood"),
        ({"params": {"graph.estimator": "community"}}, "graph.estimator = community: only neighborhood"),
        ({"params": {"graph.candidates": "all"}}, "graph.candidates = all: only neighbors"),
        ({"params": {"metric": "manhattan"}}, "metric = manhattan"),
        ({"params": {"preparation.pca": 3}}, "preparation.pca"),
        ({"params": {"preparation.standardize": "robust"}}, "preparation.standardize = robust"),
        ({"params": {"graph.magic": 1}}, "graph.magic"),
        ({"preset": "magic"}, "magic"),
        ({"partitions": 0}, "partitions = 0"),
        ({"n_clusters": 0}, "n_clusters = 0"),
    ],
)
def test_what_cannot_be_distributed_is_refused(arguments: dict[str, Any], what: str, small: str) -> None:
    with pytest.raises(ParameterError, match=what):
        plan(small, executor=Machines(1, 2, 10**10), **arguments)


def test_missing_cells_are_known_from_the_files(tmp_path: Path) -> None:
    X = groups(100, 3)
    holes = pa.array([None if row < 7 else value for row, value in enumerate(X[:, 1])])
    pq.write_table(pa.table({"a": X[:, 0], "b": holes, "c": pa.array([None] * 100, pa.float64())}), tmp_path / "table.parquet")
    with pytest.raises(InputError, match=r"column 'b' has 7 missing cells, and 1 other column 100: fill them first"):
        plan(str(tmp_path))
    with pytest.raises(InputError, match=r"column 'b' has 7 missing cells: fill them first"):
        plan(str(tmp_path), columns=["a", "b"])
    assert plan(str(tmp_path), columns=["a"])["columns"] == 1
    lists = pa.array([[1.0, 2.0], [3.0, None], [5.0, 6.0]] * 20)
    pq.write_table(pa.table({"list": lists}), tmp_path / "lists.parquet")
    with pytest.raises(InputError, match="column 'list' has 20 missing cells"):
        plan(str(tmp_path / "lists.parquet"))


def test_tables_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Parquet file"):
        plan(str(tmp_path))
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"text.parquet cannot be read"):
        plan(str(tmp_path))
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "text.parquet")
    with pytest.raises(InputError, match="there are no rows"):
        plan(str(tmp_path))
    pq.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / "text.parquet")
    with pytest.raises(InputError, match="2 rows, and each needs"):
        plan(str(tmp_path))


def test_lists_have_their_width(tmp_path: Path) -> None:
    X = groups(200, 9).astype(np.float32)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), 9)
    for name, lists in (("fixed", fixed), ("free", pa.array(list(X)))):
        pq.write_table(pa.table({"id": ["row"] * 200, "embedding": lists}), tmp_path / f"{name}.parquet")
        found = plan(str(tmp_path / f"{name}.parquet"))
        assert (found["columns"], found["bytes"]) == (9, 200 * 9 * 4)


def test_seconds_fall_with_machines(huge: str) -> None:
    few, many = (plan(huge, executor=Machines(count, 16, 256 * 10**9), partitions=512)["seconds"] for count in (8, 32))
    assert 2 * many < few


def test_status_knows_the_stages_of_a_plan(small: str, tmp_path: Path) -> None:
    output = str(tmp_path / "output")
    work = work_of(output)
    with Local(workers=2) as executor:
        graph_of(executor, small, work, 2)
    found = status(output)
    stages = list(Estimate.of(Plan.from_json(work.read_json(PLAN))).stages.values())
    names = [stage.name for stage in stages]
    expected = {stage.name: stage.tasks for stage in stages[: names.index("graph") + 1]}
    assert {each["name"]: each["done"] for each in found["stages"] if each["done"]} == expected
    assert all(each["done"] in (0, each["tasks"]) for each in found["stages"] if each["tasks"] is not None)
