"""What a run says while it works: to people, as lines of JSON, or to a function."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from ._errors import counted, readable_bytes

Event = dict[str, Any]
Listener = Callable[[Event], None]


class Progress:
    """Counts what happens in a stage and tells a listener.

    Every event is a dictionary with ``event``: ``stage`` (a stage begins), ``task`` (one more is done), ``retry`` (one is started
    again), ``wait`` (nothing can start), ``note``, ``stage_done``.
    """

    def __init__(self, listener: Listener | None = None) -> None:
        self._listener = listener
        self._stage, self._tasks, self._skipped, self._done, self._written, self._begin = "", 0, 0, 0, 0, 0.0

    def _tell(self, event: str, **fields: Any) -> None:
        if self._listener is not None:
            self._listener({"event": event, "stage": self._stage, **fields})

    def stage(self, name: str, tasks: int, skipped: int = 0) -> None:
        """A stage begins; ``skipped`` of its tasks were finished by an earlier run."""
        self._stage, self._tasks, self._skipped = name, tasks, skipped
        self._done, self._written, self._begin = skipped, 0, time.monotonic()
        self._tell("stage", tasks=tasks, skipped=skipped)

    def task(self, key: str, record: Mapping[str, Any]) -> None:
        """A task is done."""
        self._done += 1
        self._written += record["bytes_written"]
        mine = self._done - self._skipped
        left = (time.monotonic() - self._begin) / mine * (self._tasks - self._done)
        self._tell(
            "task",
            task=key,
            done=self._done,
            tasks=self._tasks,
            skipped=self._skipped,
            seconds=record["seconds"],
            bytes_written=self._written,
            seconds_left=left,
        )

    def retry(self, key: str, start: int, why: str) -> None:
        """A task is started again."""
        self._tell("retry", task=key, start=start, why=why)

    def wait(self, why: str) -> None:
        """Nothing can start."""
        self._tell("wait", why=why)

    def note(self, text: str) -> None:
        self._tell("note", text=text)

    def stage_done(self) -> None:
        seconds = time.monotonic() - self._begin
        self._tell("stage_done", tasks=self._tasks, skipped=self._skipped, seconds=seconds, bytes_written=self._written)


class Lines:
    """For people: a bar if tqdm is installed and the stream is a terminal, a line every few seconds otherwise."""

    def __init__(self, stream: TextIO | None = None, every: float = 5) -> None:
        self.stream = stream or sys.stderr
        self.every = every
        self._last = 0.0
        self._bar: Any = None
        self._tqdm: Any = None
        if self.stream.isatty():
            try:
                from tqdm.auto import tqdm
            except ImportError:
                pass
            else:
                self._tqdm = tqdm

    def __call__(self, event: Event) -> None:
        kind = event["event"]
        if kind == "stage":
            self._last = time.monotonic()
            skipped = f", {event['skipped']} already done" if event["skipped"] else ""
            if self._tqdm is None:
                self._print(f"{event['stage']}: {counted(event['tasks'], 'task')}{skipped}")
            else:
                self._bar = self._tqdm(
                    desc=event["stage"],
                    total=event["tasks"],
                    initial=event["skipped"],
                    unit="task",
                    file=self.stream,
                    leave=False,
                )
        elif kind == "task" and self._bar is not None:
            self._bar.set_postfix_str(f"{readable_bytes(event['bytes_written'])} written", refresh=False)
            self._bar.update(event["done"] - self._bar.n)
        elif kind == "task" and time.monotonic() - self._last >= self.every:
            self._last = time.monotonic()
            written, left = readable_bytes(event["bytes_written"]), duration(event["seconds_left"])
            self._print(f"{event['stage']}: {event['done']} of {counted(event['tasks'], 'task')}, {written} written, {left} left")
        elif kind == "retry":
            self._print(f"{event['task']} is started again ({event['start']}): {event['why']}")
        elif kind == "wait":
            self._print(f"waiting: {event['why']}")
        elif kind == "note":
            self._print(event["text"])
        elif kind == "stage_done":
            if self._bar is not None:
                self._bar.close()
                self._bar = None
            skipped = f" ({event['skipped']} already done)" if event["skipped"] else ""
            written, seconds = readable_bytes(event["bytes_written"]), duration(event["seconds"])
            self._print(f"{event['stage']}: {counted(event['tasks'], 'task')}{skipped} in {seconds}, {written} written")

    def _print(self, text: str) -> None:
        if self._bar is not None:
            self._bar.clear()
        print(f"taugraph: {text}", file=self.stream, flush=True)


class JsonLines:
    """One JSON object per event and line."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr

    def __call__(self, event: Event) -> None:
        print(json.dumps({"time": round(time.time(), 3), **event}), file=self.stream, flush=True)


def progress_of(value: Progress | Listener | bool | str | None) -> Progress:
    """``True`` for people, ``"json"`` for programs, a function for each event, ``False`` or ``None`` for silence."""
    if isinstance(value, Progress):
        return value
    if value == "json":
        return Progress(JsonLines())
    if value is True:
        return Progress(Lines())
    if value is None or value is False:
        return Progress()
    if callable(value):
        return Progress(value)
    raise ValueError(f"progress = {value!r}: must be true, false, 'json' or a function")


def duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
