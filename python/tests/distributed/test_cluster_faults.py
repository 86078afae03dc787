"""Whatever is lost on the way, the results have the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import Events
from tables import groups, written

from taugraph import distributed
from taugraph.distributed import Local
from taugraph.distributed._executor import BaseExecutor

# Both methods run, and one is chosen.
PARAMS = {"cluster.method": "auto"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(groups(3000, 4), tmp_path_factory.mktemp("table"), 3, 500)


def results(folder: Path) -> dict[str, bytes]:
    """All result files but the report, which has times."""
    files = [*(folder / "labels").iterdir(), *(folder / "graph").iterdir()]
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in files}


def run(executor: BaseExecutor, table: str, output: Path, progress: Any = None) -> dict[str, bytes]:
    distributed.cluster(table, str(output), n_clusters=5, partitions=3, params=PARAMS, graph=True, executor=executor, progress=progress)  # type: ignore[arg-type]
    return results(output)


@pytest.fixture(scope="module")
def undisturbed(table: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    with Local(workers=2) as executor:
        found = run(executor, table, tmp_path_factory.mktemp("undisturbed"))
    assert len(found) == 4
    return found


def test_a_worker_is_killed_in_every_stage(table: str, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    killed: set[str] = set()
    events = Events()
    with Local(workers=2) as executor:

        def kill(event: dict[str, Any]) -> None:
            """A worker that is busy when the first task of a stage has ended."""
            events(event)
            busy = [process for process, _, _ in executor._busy.values()]
            if event["event"] == "task" and event["stage"] not in killed and busy:
                killed.add(event["stage"])
                os.kill(busy[0].process.pid, signal.SIGKILL)

        found = run(executor, table, tmp_path, kill)
    assert found == undisturbed
    # Some stages have one task, and in others all end together.
    assert len({stage.partition("/")[0] for stage in killed}) >= 10, killed
    assert events.of("retry")


def test_a_driver_is_killed(table: str, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "taugraph.distributed", "cluster", table, str(tmp_path), "--workers", "2", "--graph", "--json"]
    command += ["--clusters", "5", "--partitions", "3", *(f"--set={path}={value}" for path, value in PARAMS.items())]
    for stage in ("neighbors", "linked", "levels/1"):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as driver:
            assert driver.stderr is not None
            for line in driver.stderr:
                event = json.loads(line)
                if event["event"] == "task" and event["stage"] == stage:
                    driver.kill()
                    break
            assert driver.wait(60) == -signal.SIGKILL, f"{stage} never began"
        assert not (tmp_path / "_SUCCESS").exists()
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    assert results(tmp_path) == undisturbed
    events = [json.loads(line) for line in done.stderr.splitlines()]
    skipped = {event["stage"] for event in events if event["event"] == "stage" and event["skipped"] == event["tasks"]}
    assert {"neighbors", "graph", "linked"} <= skipped
    assert json.loads(done.stdout)["clusters"]["n_clusters"] == 5


def test_a_node_is_killed(cluster: Any, third_node: Any, table: str, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    """The same bytes on a Ray cluster as in processes of this machine."""
    from taugraph.distributed import Ray

    events = Events()

    def remove(event: dict[str, Any]) -> None:
        events(event)
        if event["event"] == "task" and event["stage"] == "edges" and third_node in cluster.list_all_nodes():
            cluster.remove_node(third_node, allow_graceful=False)

    with Ray(patience=60) as executor:
        assert run(executor, table, tmp_path, remove) == undisturbed
    assert third_node not in cluster.list_all_nodes()
