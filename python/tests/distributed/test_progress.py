"""What a run says."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
from typing import Any

import pytest

from taugraph.distributed import _errors
from taugraph.distributed._progress import JsonLines, Lines, Progress, progress_of


def a_run(listener: Any) -> None:
    progress = Progress(listener)
    progress.stage("neighbors/search", 4, 1)
    for number in range(1, 4):
        progress.task(f"neighbors/search/{number}", {"seconds": 0.5, "bytes_written": 1500})
    progress.retry("neighbors/search/3", 2, "its worker died")
    progress.wait("too few processors")
    progress.note("a note")
    progress.stage_done()


def test_lines_for_people() -> None:
    stream = io.StringIO()
    a_run(Lines(stream, every=0))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "taugraph: neighbors/search: 4 tasks, 1 already done"
    assert lines[1].startswith("taugraph: neighbors/search: 2 of 4 tasks, 1.5 kB written, ") and lines[1].endswith(" left")
    assert lines[4:7] == [
        "taugraph: neighbors/search/3 is started again (2): its worker died",
        "taugraph: waiting: too few processors",
        "taugraph: a note",
    ]
    assert lines[7].startswith("taugraph: neighbors/search: 4 tasks (1 already done) in ") and lines[7].endswith("4.5 kB written")


def test_a_bar_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    pytest.importorskip("tqdm")
    stream = Terminal()
    a_run(Lines(stream))
    assert "neighbors/search" in stream.getvalue() and "a note" in stream.getvalue()


def test_lines_of_json() -> None:
    stream = io.StringIO()
    a_run(JsonLines(stream))
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [event["event"] for event in events] == ["stage", "task", "task", "task", "retry", "wait", "note", "stage_done"]
    assert events[3]["done"] == 4 and events[3]["bytes_written"] == 4500 and events[3]["seconds_left"] == 0
    assert all(event["stage"] == "neighbors/search" and event["time"] > 0 for event in events)


def test_what_can_be_asked_for() -> None:
    seen: list[dict[str, Any]] = []
    progress_of(seen.append).note("x")
    progress_of(None).note("x")
    progress_of(False).note("x")
    assert [event["text"] for event in seen] == ["x"]
    with pytest.raises(ValueError, match="progress = 'loud'"):
        progress_of("loud")


@pytest.mark.parametrize(
    "error",
    [
        _errors.DamagedShardError("a/b", "c/1", "8 bytes"),
        _errors.InsufficientResourcesError("a needs 3", "2", 5.0),
        _errors.OutOfMemoryError("a/1", 4, 10**9, 2 * 10**9, "killed"),
        _errors.ResidentLostError(["a", "b"], "gone"),
        _errors.StorageFullError("/x", "a", 10, None),
        _errors.StorageNotSharedError("/x", ["n"], "gone"),
        _errors.TaskFailedError("a/1", "ValueError: x", "trace"),
        _errors.WorkerLostError("a/1", 4, "gone"),
    ],
)
def test_errors_survive_the_way_to_the_driver(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error) and vars(copy) == vars(error)


def test_ray_is_imported_when_it_is_needed() -> None:
    told = "import sys, taugraph.distributed; print('ray' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]


def test_ray_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from taugraph.distributed import MissingDependencyError, Ray

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependencyError, match=r"pip install taugraph\[distributed\]"):
        Ray()
