"""``python -m taugraph.distributed cluster``: what it writes and says, how it is interrupted and resumes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from helpers import wait_until
from tables import groups, written

from taugraph.distributed import status
from taugraph.distributed._output import inside, work_of
from taugraph.distributed._storage import Storage

COMMAND = [sys.executable, "-m", "taugraph.distributed", "cluster"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(groups(3_000, 4), tmp_path_factory.mktemp("table"))


def test_what_is_written_and_said(table: str, tmp_path: Path) -> None:
    output = str(tmp_path / "output")
    arguments = [table, output, "--partitions", "2", "--clusters", "5", "--workers", "2", "--graph"]
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"{output}: finished"
    assert all(line.startswith("taugraph: ") for line in done.stderr.splitlines())
    assert any(line.startswith("taugraph: half_pools: 2 tasks in ") for line in done.stderr.splitlines())
    assert {"labels", "graph", "report.json", "_SUCCESS", "work"} == set(os.listdir(output))
    labels = pq.read_table(f"{output}/labels")["cluster"]
    assert len(labels) == 3_000
    report = json.loads(Path(output, "report.json").read_text())
    assert report["rows"] == 3_000 and report["version"]
    assert status(output)["finished"]
    # Again: everything is there.
    again = subprocess.run([*COMMAND, *arguments, "--json"], capture_output=True, text=True, timeout=90)
    assert again.returncode == 0 and json.loads(again.stdout)["rows"] == 3_000
    events = [json.loads(line) for line in again.stderr.splitlines()]
    assert not [event for event in events if event["event"] == "task"]
    assert all(event["skipped"] == event["tasks"] for event in events if event["event"] == "stage")
    quiet = subprocess.run([*COMMAND, *arguments, "--quiet"], capture_output=True, text=True, timeout=90)
    assert quiet.returncode == 0 and quiet.stderr == ""


def test_ctrl_c_keeps_what_is_finished_and_the_same_command_resumes(table: str, tmp_path: Path) -> None:
    output = str(tmp_path / "output")
    arguments = [table, output, "--partitions", "3", "--workers", "1", "--json"]

    def heed_interrupts() -> None:
        """Those who run tests in the background may have them ignored."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen([*COMMAND, *arguments], **pipes, start_new_session=True, preexec_fn=heed_interrupts)
    work = work_of(output)
    wait_until(lambda: work.list("records/scattered"))
    assert status(output)["seems_active"]
    # To all of its processes, as a terminal does.
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert running.returncode == 130 and out == "" and "Traceback" not in err
    last = json.loads(err.splitlines()[-1])
    assert last["event"] == "error" and last["exit_code"] == 130
    assert last["message"] == f"interrupted; what is finished is kept in {output}/work, the same command resumes"
    found = status(output)
    assert not found["finished"] and not found["seems_active"] and found["tasks_done"] >= 4
    resumed = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=90)
    assert resumed.returncode == 0, resumed.stderr
    events = [json.loads(line) for line in resumed.stderr.splitlines()]
    skipped = {event["stage"]: event["skipped"] for event in events if event["event"] == "stage"}
    assert skipped["moments"] == skipped["cells"] == 1 and skipped["graph"] == 0


def test_a_bucket(endpoint: str, tmp_path: Path) -> None:
    place = Storage(f"s3://bucket/{tmp_path.name}?endpoint_override={endpoint}&scheme=http&region=us-east-1")
    local = written(groups(600, 3), tmp_path / "table", 1)
    place.write("table/part-0.parquet", [Path(local, "part-0.parquet").read_bytes()])
    output = inside(place.uri, "output")
    arguments = [inside(place.uri, "table"), output, "--workers", "2", "--partitions", "2", "--quiet"]
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    assert {"output/labels/part-00000.parquet", "output/report.json", "output/_SUCCESS"} <= set(place.list("output"))
    assert status(output)["finished"]


def test_other_refusals_come_before_any_work(table: str, tmp_path: Path) -> None:
    output = tmp_path / "output"
    done = subprocess.run([*COMMAND, table, str(output), "--preset", "paper"], capture_output=True, text=True, timeout=90)
    assert done.returncode == 2 and done.stderr.startswith("error: graph.estimator = auto-encoder: only neighborhood")
    assert not output.exists()
