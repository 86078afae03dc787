"""What is known of a run from its storage alone, and its removal."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from typing import Any

from ._errors import StorageError, counted, readable_bytes
from ._estimate import Estimate
from ._output import RESULTS, SUCCESS, WORK, opened, work_of
from ._places import Folder
from ._plan import PLAN, Plan
from ._progress import duration
from ._storage import Storage, place_of
from ._tasks import records_of

# After so many seconds without a finished task a run that has not ended seems to be dead, or after three times its longest task.
_SILENCE, _TIMES = 120.0, 3.0


def status(output: str) -> dict[str, Any]:
    """What a run has done, from its output alone: no machine is asked.

    Parameters
    ----------
    output : str
        The output of the run.

    Returns
    -------
    dict
        ``finished``, ``seems_active`` (a driver has begun and not ended, and a task ended lately), ``last_task_seconds_ago``,
        ``tasks_done``, ``tasks`` (``None`` if unknown), ``bytes_written``, ``cpu_seconds``, ``partitions``, ``rows``, and
        ``stages``: name, ``done``, ``tasks`` (``None`` if unknown), ``bytes_written``, ``seconds`` of all its tasks together.
    """
    results = opened(output)
    work = work_of(output)
    plan, records = _plan_of(work), records_of(work)
    expected = Estimate.of(plan).stages if plan is not None else {}
    stages: dict[str, dict[str, Any]] = {
        name: {"name": name, "done": 0, "tasks": stage.tasks if stage.is_built else None, "bytes_written": 0, "seconds": 0.0}
        for name, stage in expected.items()
    }
    for key, record in records.items():
        # Tasks of a stage that is not known have its name before the last slash.
        name = next((name for name in expected if key == name or key.startswith(f"{name}/")), key.rpartition("/")[0] or key)
        stage = stages.setdefault(name, {"name": name, "done": 0, "tasks": None, "bytes_written": 0, "seconds": 0.0})
        stage["done"] += 1
        stage["bytes_written"] += record.get("bytes_written", 0)
        stage["seconds"] += record.get("seconds", 0.0)
    finished = results.exists(SUCCESS)
    known = [stage["tasks"] for stage in stages.values()]
    ago = _seconds_ago(records.values())
    return {
        "output": str(output),
        "finished": finished,
        "seems_active": not finished and _seems_active(work, records.values(), ago),
        "last_task_seconds_ago": ago,
        "rows": plan.source.n_rows if plan else None,
        "partitions": plan.n_parts if plan else None,
        "tasks_done": len(records),
        "tasks": None if not known or None in known else sum(known),
        "bytes_written": sum(stage["bytes_written"] for stage in stages.values()),
        "cpu_seconds": sum(record.get("cpu_seconds", 0.0) for record in records.values()),
        "stages": list(stages.values()),
    }


def status_lines(found: dict[str, Any]) -> list[str]:
    """A status for people."""
    ago = found["last_task_seconds_ago"]
    last = "" if ago is None else f", its last task ended {duration(ago)} ago"
    if found["finished"]:
        state = "finished"
    elif found["seems_active"]:
        state = f"seems to be running{last}"
    else:
        state = f"not finished, and seems not to be running{last}: the same command resumes"
    lines = [f"{found['output']}: {state}"]
    if found["rows"] is not None:
        lines.append(f"{found['rows']} rows in {counted(found['partitions'], 'partition')}")
    for stage in found["stages"]:
        if stage["done"] or stage["tasks"]:
            total = "" if stage["tasks"] is None else f" of {stage['tasks']}"
            written = f", {readable_bytes(stage['bytes_written'])} written" if stage["done"] else ""
            lines.append(f"  {stage['name']:<15} {stage['done']}{total}{written}")
    if found["tasks_done"]:
        lines.append(f"{counted(found['tasks_done'], 'task')} done, {readable_bytes(found['bytes_written'])} written")
    return lines


def clean(output: str, everything: bool = False) -> dict[str, Any]:
    """Remove what a run needed on the way, and with ``everything`` its results, too.

    A run that is not finished cannot be resumed afterwards. Files that are not of a run stay.

    Parameters
    ----------
    output : str
        The output of a run; another folder is refused, and so is one whose run seems to be active.
    everything : bool, default=False
        Remove the results as well.

    Returns
    -------
    dict
        ``removed``: the names of files and folders that were removed.
    """
    results = opened(output)
    work = work_of(output)
    if not results.exists(SUCCESS):
        records = records_of(work)
        ago = _seconds_ago(records.values())
        if _seems_active(work, records.values(), ago):
            last = "no task has ended yet" if ago is None else f"its last task ended {duration(ago)} ago"
            raise StorageError(f"{output}: a run seems to be active, {last}; end it first, or wait until it is silent")
    names = [name for name in ((*RESULTS, WORK) if everything else (WORK,)) if results.exists(name) or results.list(name)]
    for name in names:
        results.delete(name)
    place = place_of(str(output))
    for folder in (place.path / WORK, place.path) if isinstance(place, Folder) and names else ():
        # Folders without files; the output itself only if nothing else is in it.
        if folder.is_dir() and not any(file.is_file() for file in folder.rglob("*")) and (everything or folder.name == WORK):
            shutil.rmtree(folder)
    return {"output": str(output), "removed": names}


def _plan_of(work: Storage) -> Plan | None:
    try:
        return Plan.from_json(work.read_json(PLAN))
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError, AttributeError):
        # Cleaned away, or of another version.
        return None


def _seconds_ago(records: Iterable[dict[str, Any]]) -> float | None:
    """When the last task ended, by the clock of its machine."""
    ends = [record["ended"] for record in records if "ended" in record]
    return max(0.0, time.time() - max(ends)) if ends else None


def _seems_active(work: Storage, records: Iterable[dict[str, Any]], ago: float | None) -> bool:
    """A driver leaves a token when it begins and takes it away when it ends, unless it is killed."""
    if not work.list("tokens"):
        return False
    longest = max((record.get("seconds", 0.0) for record in records), default=0.0)
    return ago is None or ago < max(_SILENCE, _TIMES * longest)
