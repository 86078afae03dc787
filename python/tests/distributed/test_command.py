"""``python -m taugraph.distributed``: plan, status and clean, exit codes, what goes where."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tables import graph_of, groups, written

from taugraph import exceptions
from taugraph.distributed import Local, StorageError, _errors, clean, plan, status
from taugraph.distributed._command import exit_code, main
from taugraph.distributed._output import RESULTS, WORK, inside, work_of
from taugraph.distributed._storage import Storage


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "taugraph.distributed", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **more)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(groups(6_000, 5), tmp_path_factory.mktemp("table"))


@pytest.fixture(scope="module")
def graph(table: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An output whose graph is done, and nothing else."""
    output = str(tmp_path_factory.mktemp("output"))
    with Local(workers=2) as executor:
        graph_of(executor, table, work_of(output), 2)
    return output


@pytest.mark.parametrize("command", [(), ("cluster",), ("plan",), ("status",), ("clean",)])
def test_help_fits_a_terminal(command: tuple[str, ...]) -> None:
    done = run(*command, "--help", env={"COLUMNS": "80", "PATH": ""})
    assert done.returncode == 0 and not done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80 and len(done.stdout.splitlines()) <= 50
    assert "130 interrupted" in done.stdout


def test_plan(table: str, tmp_path: Path) -> None:
    arguments = ("plan", table, str(tmp_path / "output"), "--partitions", "3", "--workers", "2", "--columns", " x0, x3 ", "--set", "graph.estimator.pool=20")
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "6000 rows, 2 columns, 96.0 kB in 2 files" and lines[1].startswith("3 partitions, as asked for; ")
    assert any(line.startswith("half_pools ") for line in lines) and lines[-1].startswith("assumed: ")
    assert done.stderr == "taugraph: 2 files, 6000 rows, 2 columns\n"
    done = run(*arguments, "--json")
    found = json.loads(done.stdout)
    assert (found["rows"], found["columns"], found["partitions"]) == (6_000, 2, 3)
    assert [json.loads(line)["event"] for line in done.stderr.splitlines()] == ["note"]
    with Local(workers=2) as executor:
        known = plan(table, str(tmp_path / "output"), executor=executor, partitions=3, columns=["x0", "x3"], params={"graph.estimator.pool": 20})
    assert {**found, "storage": None, "machines": None} == {**known, "storage": None, "machines": None}
    assert not (tmp_path / "output").exists()


def test_quiet(table: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", table, "--quiet", "--workers", "1"]) == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (["magic"], 2, "invalid choice: 'magic'"),
        (["plan"], 2, "DATA"),
        (["plan", "TABLE", "--partitions", "0"], 2, "'0': must be a whole number of at least 1"),
        (["plan", "TABLE", "--columns", "a,,b"], 2, "names, with commas between them"),
        (["plan", "TABLE", "--set", "seed"], 2, "must be PATH=VALUE"),
        (["plan", "TABLE", "--set", "graph.magic=1"], 2, "graph.magic"),
        (["plan", "TABLE", "--set", "seed=1"], 2, "seed"),
        (["plan", "TABLE", "--preset", "paper"], 2, "error: graph.estimator = auto-encoder: only neighborhood"),
        (["plan", "TABLE", "--ray", "x:1", "--workers", "2"], 2, "error: --workers is for this machine"),
        (["plan", "TABLE", "--ray", "ray://x:1"], 2, "not ray://"),
        (["plan", "TABLE", "--columns", "y"], 3, "there is no column 'y'; it has x0, x1, x2, x3, x4"),
        (["plan", "NOWHERE"], 3, "no Parquet file is there"),
        (["plan", "gs://bucket/x"], 3, "storage is a path, file:// or s3://"),
        (["plan", "TABLE", "gs://bucket/x"], 4, "storage is a path, file:// or s3://"),
        (["status", "NOWHERE"], 3, "is not the output of a run: it has neither work/plan.json nor report.json"),
        (["clean", "TABLE"], 3, "is not the output of a run"),
        (["clean", "TABLE", "--everything"], 3, "is not the output of a run"),
    ],
)
def test_exit_codes(arguments: list[str], code: int, what: str, table: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names = {"TABLE": table, "NOWHERE": str(tmp_path / "nowhere")}
    assert main([names.get(each, each) for each in arguments]) == code
    said = capfd.readouterr()
    assert said.out == "" and what in said.err and "Traceback" not in said.err
    assert len(said.err.splitlines()) == 1 or "usage:" in said.err
    assert all(Path(table, name).exists() for name in ("part-0.parquet", "part-1.parquet"))


def test_a_cluster_that_is_not_there(table: str) -> None:
    pytest.importorskip("ray")
    refused = {"127.0.0.1:1": "refused"}
    if not os.environ.get("TAUGRAPH_CLUSTER"):
        # Otherwise it finds that of the other tests, wherever it is on this machine.
        refused["auto"] = "ConnectionError"
    for address, why in refused.items():
        done = run("plan", table, "--ray", address, "--quiet")
        assert done.returncode == 5 and len(done.stderr.splitlines()) == 1, done.stderr
        assert f"a Ray cluster at {address} is needed" in done.stderr and why in done.stderr


def test_errors_in_json(table: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", table, "--columns", "y", "--json"]) == 3
    said = json.loads(capfd.readouterr().err)
    assert said["event"] == "error" and said["exit_code"] == 3 and "no column 'y'" in said["message"]


def test_the_exit_code_of_every_error() -> None:
    failed = _errors.TaskFailedError("points/1", "bad", "Traceback …")
    failed.__cause__ = exceptions.NotFiniteError("infinite")
    codes = {
        KeyboardInterrupt(): 130,
        BrokenPipeError(): 141,
        failed: 3,
        _errors.TaskFailedError("points/1", "ValueError: x"): 1,
        _errors.WorkerLostError("a", 4, "gone"): 1,
        _errors.OutOfMemoryError("a", 4, 1, 2, "killed"): 5,
        _errors.InsufficientResourcesError("a", "b", 0): 5,
        _errors.StorageFullError("a", "b", 1, 2): 4,
        _errors.StorageNotSharedError("a", ["b"]): 4,
        _errors.MissingDependencyError("ray"): 2,
        exceptions.EigenNotConvergedError(): 1,
        exceptions.TooManyClustersError(): 2,
        exceptions.NotFiniteError(): 3,
        MemoryError(): 5,
        RuntimeError("nobody expected this"): 101,
    }
    assert {exit_code(error) for error in codes} == set(codes.values())
    assert all(exit_code(error) == code for error, code in codes.items())


def test_a_reader_that_goes_away(table: str) -> None:
    command = f"'{sys.executable}' -m taugraph.distributed plan '{table}' --quiet; echo $? >&2"
    done = subprocess.run(["bash", "-c", f"({command}) | true"], capture_output=True, text=True, timeout=60)
    assert done.stderr.split() in (["141"], ["0"])
    closed = subprocess.run(["bash", "-c", f"({command}) | (exec 0<&-; sleep 4)"], capture_output=True, text=True, timeout=60)
    assert closed.stderr.split() == ["141"]


def test_status_of_a_run_that_was_ended(graph: str) -> None:
    found = status(graph)
    assert not found["finished"] and not found["seems_active"] and found["rows"] == 6_000 and found["partitions"] == 2
    by_name = {each["name"]: each for each in found["stages"]}
    assert by_name["points"]["done"] == by_name["points"]["tasks"] == 2 and by_name["labels"]["done"] == 0
    assert found["tasks_done"] == sum(each["done"] for each in found["stages"]) and 0 <= found["last_task_seconds_ago"] < 100
    work = work_of(graph)
    assert found["bytes_written"] == sum(work.read_json(name)["bytes_written"] for name in work.list("records"))
    done = run("status", graph)
    assert done.returncode == 0 and not done.stderr
    assert "not finished, and seems not to be running, its last task ended" in done.stdout.splitlines()[0]
    assert any(line.split()[:4] == ["points", "2", "of", "2,"] for line in done.stdout.splitlines())
    told = json.loads(run("status", graph, "--json").stdout)
    assert told["stages"] == found["stages"]


def test_a_driver_that_has_begun_and_not_ended(graph: str) -> None:
    work = work_of(graph)
    work.write("tokens/0123", [b"0123"])
    try:
        assert status(graph)["seems_active"]
        with pytest.raises(StorageError, match="a run seems to be active, its last task ended .* ago"):
            clean(graph)
        assert main(["clean", graph]) == 4
        # It was killed long ago: its last tasks are old.
        records = {name: work.read_json(name) for name in work.list("records")}
        for name, record in records.items():
            work.write_json(name, {**record, "ended": time.time() - 4000})
        found = status(graph)
        assert not found["seems_active"] and 3999 < found["last_task_seconds_ago"] < 4100
        for name, record in records.items():
            work.write_json(name, record)
    finally:
        work.delete("tokens/0123")
    work.write("records/graph/00001.json", [b"cut of"])
    assert {each["name"]: each["done"] for each in status(graph)["stages"]}["graph"] == 1


@pytest.fixture(params=["path", "s3"])
def output(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a finished output is, beside a file of somebody else."""
    if request.param == "path":
        made = str(tmp_path / "an output")
    else:
        endpoint = request.getfixturevalue("endpoint")
        made = f"s3://bucket/{tmp_path.name}?endpoint_override={endpoint}&scheme=http&region=us-east-1"
    storage = Storage(made)
    for name in ("work/records/graph/00000.json", "work/graph/00000", "labels/part-00000.parquet", "graph/part-00000.parquet", "_SUCCESS", "notes.txt"):
        storage.write(name, [b"{}"])
    storage.write_json("report.json", {"rows": 3, "version": "0"})
    return made


def test_clean_leaves_the_results(output: str) -> None:
    assert status(output)["finished"]
    assert clean(output)["removed"] == [WORK]
    storage = Storage(output)
    assert storage.list() == ["_SUCCESS", "graph/part-00000.parquet", "labels/part-00000.parquet", "notes.txt", "report.json"]
    # Nothing is left to remove, and what is known is known from the report.
    assert clean(output)["removed"] == [] and status(output)["finished"]
    assert clean(output, everything=True)["removed"] == list(RESULTS)
    assert storage.list() == ["notes.txt"]
    with pytest.raises(_errors.InputError, match="is not the output of a run"):
        clean(output, everything=True)


def test_clean_removes_a_folder_without_other_files(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    Storage(output).delete("notes.txt")
    assert main(["clean", output, "--everything"]) == 0
    assert capsys.readouterr().out == f"{output}: removed _SUCCESS, report.json, labels, graph, work\n"
    assert Storage(output).list() == []
    if "://" not in output:
        assert not Path(output).exists()


def test_addresses_within_an_output() -> None:
    assert inside("/a/b/", "work") == "/a/b/work"
    assert inside("what?", "work") == "what?/work"
    assert inside("s3://bucket/a?region=x", "work") == "s3://bucket/a/work?region=x"


def test_a_plan_of_a_bucket(endpoint: str, tmp_path: Path) -> None:
    place = Storage(f"s3://bucket/{tmp_path.name}?endpoint_override={endpoint}&scheme=http&region=us-east-1")
    pq.write_table(pa.table({"a": range(500), "b": range(500)}), tmp_path / "table.parquet")
    place.write("table/part-0.parquet", [(tmp_path / "table.parquet").read_bytes()])
    done = run("plan", inside(place.uri, "table"), inside(place.uri, "output"), "--json", "--workers", "1")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["rows"], found["columns"], found["storage"]["free"]) == (500, 2, None)
