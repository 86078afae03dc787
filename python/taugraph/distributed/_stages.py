"""The tasks of a stage: one for each partition, or for each chunk of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ._executor import BaseExecutor
from ._plan import Plan
from ._storage import Storage
from ._tasks import Task


def stage_tasks(
    plan: Plan, manifest: str, stage: str, function: str, *, over: Literal["part", "chunk"] = "part", memory: int | None = None, **more: Any
) -> list[Task]:
    """A call of ``function``, ``module:name``, for each; ``memory``: other bytes to reserve than the plan says."""
    count = plan.n_parts if over == "part" else plan.n_chunks
    reserved = plan.estimate.memory(stage) if memory is None else memory
    arguments = {"manifest": manifest, **more}
    return [Task(f"{stage}/{i:05}", function, {**arguments, over: i}, reserved) for i in range(count)]


def write_files(executor: BaseExecutor, tasks: Sequence[Task], output: str) -> list[dict[str, Any]]:
    """Run tasks that write a file of the results each, and return its ``file``, ``bytes`` and what else they say.

    Files of results are no shards: a record alone does not tell that they are still there.
    """
    files = executor.run(tasks)
    missing = [task for task, file in zip(tasks, files) if Storage(output).size(file["file"]) != file["bytes"]]
    for task in missing:
        executor.job.storage.delete(task.record_name)
    return executor.run(tasks) if missing else files
