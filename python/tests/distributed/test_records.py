"""Records: what is finished is skipped, what has changed is run again."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Events

from taugraph.distributed._executor import BaseExecutor
from taugraph.distributed._storage import Storage
from taugraph.distributed._tasks import Task, is_done


def logs(folder: Path, numbers: range = range(4)) -> list[Task]:
    return [Task(f"log/{number}", "toys:log", {"folder": str(folder), "number": number}) for number in numbers]


def starts(folder: Path, number: int) -> int:
    return len((folder / str(number)).read_text().split())


def test_finished_tasks_are_skipped(executor: BaseExecutor, storage: Storage, events: Events, tmp_path: Path) -> None:
    executor.attach(storage, "manifest", events)
    first = executor.run(logs(tmp_path, range(3)))
    assert executor.run(logs(tmp_path)) == [*first, {"number": 3, "square": 9}]
    assert [starts(tmp_path, number) for number in range(4)] == [1, 1, 1, 1]
    assert [(event["tasks"], event["skipped"]) for event in events.of("stage")] == [(3, 0), (4, 3)]
    assert len(events.of("task")) == 4
    # Another run on the same storage.
    executor.attach(storage, "manifest", events)
    seen: list[str] = []
    assert executor.run(logs(tmp_path), lambda task, record: seen.append(task.key))[:3] == first
    assert seen == ["log/0", "log/1", "log/2", "log/3"] and events.of("stage")[-1]["skipped"] == 4


def test_what_has_changed_is_run_again(executor: BaseExecutor, storage: Storage, tmp_path: Path) -> None:
    executor.attach(storage, "manifest")
    executor.run(logs(tmp_path))
    # Other arguments, a shard that is gone, a shard of another size, a record that is none.
    changed = [Task(task.key, task.function, {**task.arguments, "seconds": 0.001}) for task in logs(tmp_path, range(1))]
    executor.run(changed)
    storage.delete("squares/1")
    storage.write("squares/2", [b"1"])
    storage.write("records/log/3.json", [b"{}"])
    executor.run([*changed, *logs(tmp_path)[1:]])
    assert [starts(tmp_path, number) for number in range(4)] == [2, 2, 2, 2]
    executor.attach(storage, "another manifest")
    executor.run(logs(tmp_path))
    assert [starts(tmp_path, number) for number in range(4)] == [3, 3, 3, 3]


def test_what_a_record_says(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage, "manifest")
    task = Task("squares/3", "toys:square", {"number": 3})
    executor.run([task])
    record = is_done(storage, task, task.fingerprint("manifest"))
    assert record is not None and is_done(storage, task, task.fingerprint("other")) is None
    assert record["result"] == {"number": 3, "square": 9}
    assert record["outputs"]["squares/3"]["bytes"] == storage.size("squares/3") == record["bytes_written"]
    assert record["peak_bytes"] > 10**6 and record["seconds"] > 0 and record["cpu_seconds"] >= 0 and record["bytes_read"] == 0
    assert set(record["machine"]) == {"cpu", "features", "version", "libc"}


def test_arguments_and_keys_are_checked(executor: BaseExecutor, storage: Storage) -> None:
    executor.attach(storage)
    with pytest.raises(TypeError, match="squares/0: its arguments do not fit into JSON"):
        executor.run([Task("squares/0", "toys:square", {"number": object()})])
    with pytest.raises(ValueError, match="two tasks are called squares/0"):
        executor.run([Task("squares/0", "toys:square", {"number": 0})] * 2)
    assert executor.run([]) == []


def test_different_machines_are_said(storage: Storage, events: Events) -> None:
    from taugraph.distributed._executor import Job
    from taugraph.distributed._progress import Progress

    job = Job(storage, "", "", Progress(events))
    for cpu in ("old", "old", "new"):
        job.learn(Task("a/0", "x:y"), {"outputs": {}, "machine": {"cpu": cpu, "libc": "glibc"}})
    assert [event["text"] for event in events.of("note")] == [
        "the machines differ (cpu 'old' and 'new'): results are equal within rounding, not bit for bit"
    ]
