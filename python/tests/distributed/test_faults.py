"""Workers and nodes that die, memory that runs out, shards that rot, drivers that are killed: the same results."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import HERE, Events, wait_until

from taugraph.distributed import (
    DamagedShardError,
    DistributedError,
    InsufficientResourcesError,
    Local,
    OutOfMemoryError,
    TaskFailedError,
    WorkerLostError,
)
from taugraph.distributed._executor import BaseExecutor
from taugraph.distributed._storage import Storage
from taugraph.distributed._tasks import Task


def squares(numbers: range) -> list[Task]:
    return [Task(f"squares/{number:05}", "toys:square", {"number": number}) for number in numbers]


def logs(folder: Path, seconds: list[float]) -> list[Task]:
    """Tasks that take so long and leave a line for each start."""
    arguments = [{"folder": str(folder), "number": number, "seconds": each} for number, each in enumerate(seconds)]
    return [Task(f"log/{number}", "toys:log", each) for number, each in enumerate(arguments)]


def test_results_are_in_the_order_of_the_tasks(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage)
    assert [result["square"] for result in executor.run(squares(range(20)))] == [number**2 for number in range(20)]


def test_it_has_to_be_attached(executor: BaseExecutor) -> None:
    with pytest.raises(DistributedError, match="attach"):
        executor.run([])


def test_threads_of_libraries(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage)
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"]
    assert executor.run([Task("environment/0", "toys:environment", {"names": names})]) == [dict.fromkeys(names, "1")]


def test_a_task_that_raises_ends_the_run(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage)
    with pytest.raises(TaskFailedError, match="fail/3: ValueError: number 3 is refused") as error:
        executor.run([Task(f"fail/{number}", "toys:fail", {"number": number}) for number in range(5)])
    assert error.value.key == "fail/3" and isinstance(error.value.__cause__, ValueError) and "toys.py" in error.value.traceback
    # The executor can still be used.
    assert executor.run(squares(range(2)))[1]["square"] == 1


def test_a_function_that_does_not_exist(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage)
    with pytest.raises(TaskFailedError, match="no attribute 'nothing'"):
        executor.run([Task("x/0", "toys:nothing")])


def test_a_worker_is_killed(executor: BaseExecutor, storage: Storage, events: Events, tmp_path: Path) -> None:
    executor.attach(storage, "", events)
    tasks = logs(tmp_path, [0.3] * 6)

    def kill() -> None:
        pids = wait_until(lambda: (tmp_path / "2").exists() and (tmp_path / "2").read_text().split())
        os.kill(int(pids[0]), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    results = executor.run(tasks)
    thread.join()
    assert [result["number"] for result in results] == list(range(6))
    assert [event["task"] for event in events.of("retry")] == ["log/2"]
    assert [len((tmp_path / str(number)).read_text().split()) for number in range(6)] == [1, 1, 2, 1, 1, 1]


def test_a_task_that_always_kills_its_worker(executor: BaseExecutor, storage: Storage, tmp_path: Path) -> None:
    executor.attach(storage)
    # A killed process of this machine has most likely run out of memory.
    expected = OutOfMemoryError if isinstance(executor, Local) else WorkerLostError
    with pytest.raises(expected, match="die/7.* 4 starts"):
        executor.run([Task("die/7", "toys:die", {"folder": str(tmp_path), "number": 7, "times": 9})])
    assert len((tmp_path / "7").read_text().split()) == 4


def test_a_node_is_killed(cluster: Any, third_node: Any, storage: Storage, events: Events, tmp_path: Path) -> None:
    from taugraph.distributed import Ray

    with Ray(patience=3) as executor:
        executor.attach(storage, "", events)
        # Workers start on all nodes before the clock runs.
        executor.run([Task(f"warm/{number}", "toys:nap", {"seconds": 0.5}) for number in range(6)])
        tasks = logs(tmp_path, [0.6] * 12)

        def kill() -> None:
            wait_until(lambda: (tmp_path / "third").exists())
            cluster.remove_node(third_node, allow_graceful=False)

        thread = threading.Thread(target=kill)
        thread.start()
        results = executor.run(tasks)
        thread.join()
    assert [result["number"] for result in results] == list(range(12))
    lost = {event["task"] for event in events.of("retry")}
    assert 1 <= len(lost) <= 4
    # Only the lost ones were started again.
    again = {f"log/{number}" for number in range(12) if len((tmp_path / str(number)).read_text().split()) > 1}
    assert again <= lost


def test_memory_runs_out_twice(executor: BaseExecutor, storage: Storage, events: Events, tmp_path: Path) -> None:
    executor.attach(storage, "", events)
    task = Task("hungry/1", "toys:hungry", {"folder": str(tmp_path), "number": 1, "times": 2}, memory=10**9)
    assert executor.run([task])[0]["square"] == 1
    assert ["2.0 GB" in event["why"] or "4.0 GB" in event["why"] for event in events.of("retry")] == [True, True]


def test_memory_runs_out_always(executor: BaseExecutor, storage: Storage, tmp_path: Path) -> None:
    executor.attach(storage)
    task = Task("hungry/1", "toys:hungry", {"folder": str(tmp_path), "number": 1, "times": 9}, memory=10**8)
    with pytest.raises(OutOfMemoryError, match="more partitions") as error:
        executor.run([task])
    assert error.value.starts == 4 and error.value.reserved == 8 * 10**8
    assert isinstance(error.value, MemoryError)


def test_memory_runs_out_with_all_there_is(storage: Storage, tmp_path: Path) -> None:
    with Local(workers=1, memory=10**9) as executor:
        executor.attach(storage)
        task = Task("hungry/1", "toys:hungry", {"folder": str(tmp_path), "number": 1, "times": 9}, memory=10**9)
        with pytest.raises(OutOfMemoryError) as error:
            executor.run([task])
    assert error.value.starts == 1 and error.value.largest == 10**9


def test_reservations_are_respected(storage: Storage, tmp_path: Path) -> None:
    with Local(workers=3, memory=10**9) as executor:
        executor.attach(storage)
        begin = time.monotonic()
        executor.run([Task(f"nap/{number}", "toys:nap", {"seconds": 0.3}, memory=6 * 10**8) for number in range(3)])
        assert time.monotonic() - begin >= 0.9


@pytest.mark.parametrize("damage", ["cut", "changed", "missing"])
def test_a_damaged_shard_is_written_again(executor: BaseExecutor, storage: Storage, events: Events, damage: str) -> None:
    executor.attach(storage, "", events)
    executor.run(squares(range(5)))
    before = storage.read("squares/3")
    if damage == "missing":
        storage.delete("squares/3")
    else:
        storage.write("squares/3", [before[:-3] if damage == "cut" else before[:-1] + bytes([before[-1] ^ 1])])
    # Several readers of one damaged shard.
    results = executor.run([Task(f"total/{number}", "toys:total", {"numbers": list(range(5))}) for number in range(4)])
    assert results == [{"total": 30}] * 4
    assert storage.read("squares/3") == before
    assert [event["task"] for event in events.of("retry")] == ["squares/00003"]


def test_a_shard_that_is_damaged_again_and_again(executor: BaseExecutor, storage: Storage, events: Events) -> None:
    executor.attach(storage, "", events)
    executor.run([Task("spoiled/0", "toys:spoiled", {"number": 4})])
    with pytest.raises(DamagedShardError, match="squares/4"):
        executor.run([Task("total/0", "toys:total", {"numbers": [4]})])
    assert len(events.of("retry")) == 2


def test_a_damaged_shard_of_an_unknown_writer(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage)
    with pytest.raises(DamagedShardError, match="squares/4.*does not exist"):
        executor.run([Task("total/0", "toys:total", {"numbers": [4]})])


def test_too_little_memory(executor: BaseExecutor, storage: Storage, events: Events) -> None:
    executor.attach(storage, "", events)
    with pytest.raises(InsufficientResourcesError, match=r"big/0 needs 1 processor and 50\.0 TB on one machine"):
        executor.run([*squares(range(2)), Task("big/0", "toys:square", {"number": 0}, memory=5 * 10**13)])
    assert "50.0 TB" in events.of("wait")[0]["why"]


def test_too_few_processors(cluster: Any, storage: Storage, events: Events) -> None:
    from taugraph.distributed import Ray

    with Ray(threads=16, patience=1) as executor:
        executor.attach(storage, "", events)
        with pytest.raises(InsufficientResourcesError, match="needs 16 processors.*the largest with 2 "):
            executor.run(squares(range(2)))
    assert len(events.of("wait")) == 1


@pytest.mark.parametrize("kind", ["local", "ray"])
def test_a_killed_driver_resumes(request: pytest.FixtureRequest, kind: str, tmp_path: Path) -> None:
    address = kind if kind == "local" else request.getfixturevalue("cluster").address
    storage, folder = tmp_path / "storage", tmp_path / "logs"
    folder.mkdir()
    command = [sys.executable, str(HERE / "driver.py"), address, str(storage), str(folder)]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: len(list(storage.glob("records/log/*.json"))) >= 2)
    finally:
        driver.kill()
        driver.wait()
    # The workers die with it.
    pids = {int(pid) for file in folder.iterdir() for pid in file.read_text().split()}
    wait_until(lambda: not any(alive(pid) for pid in pids), 10)
    finished = {file.stem for file in storage.glob("records/log/*.json")}
    assert 2 <= len(finished) < 8
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    stage = next(event for event in map(json.loads, done.stdout.splitlines()) if event["event"] == "stage")
    assert (stage["tasks"], stage["skipped"]) == (8, len(finished))
    assert {number for number in finished if len((folder / number).read_text().split()) > 1} == set()
    assert [name for _, _, names in os.walk(storage) for name in names if name.endswith(".part")] == []


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody waited for is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def _interrupts() -> Iterator[None]:
    """Those who run tests in the background may have interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts")
def test_an_interrupt_stops_the_workers(executor: BaseExecutor, storage: Storage, tmp_path: Path) -> None:
    executor.attach(storage)
    tasks = logs(tmp_path, [0.0, 0.0, 30.0, 30.0])

    def interrupt() -> None:
        wait_until(lambda: len(storage.list("records")) == 2 and (tmp_path / "2").exists() and (tmp_path / "2").read_text())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        executor.run(tasks)
    thread.join()
    pid = int((tmp_path / "2").read_text().split()[0])
    wait_until(lambda: not alive(pid), 10)
    assert storage.list("records") == ["records/log/0.json", "records/log/1.json"]
    assert len(executor.run(tasks[:2])) == 2


def test_rays_own_errors_are_told_apart(cluster: Any) -> None:
    import ray

    from taugraph.distributed import Ray

    class Stub:
        exceptions = ray.exceptions

        def __init__(self, error: Exception) -> None:
            self.error = error

        def get(self, ref: Any) -> Any:
            raise self.error

    with Ray(patience=1) as executor:
        whole = executor._ray
        try:
            for error, kind in (
                (ray.exceptions.OutOfMemoryError("Task was killed due to the node running low on memory"), "memory"),
                (ray.exceptions.WorkerCrashedError(), "lost"),
                (ray.exceptions.NodeDiedError("gone"), "lost"),
                (ray.exceptions.RuntimeEnvSetupError("no pip"), "error"),
            ):
                executor._ray = Stub(error)
                assert executor._outcome(None).kind == kind
        finally:
            executor._ray = whole
