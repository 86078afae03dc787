"""What can go wrong in a run over many processes or machines, one class for each.

Every error carries its numbers as attributes and is rebuilt from its arguments, so that it survives the way to the driver.
"""

from __future__ import annotations

from typing import Any

from ..exceptions import MemoryError as TaugraphMemoryError
from ..exceptions import TaugraphError

__all__ = [
    "DamagedShardError",
    "DistributedError",
    "InputError",
    "InsufficientResourcesError",
    "MissingDependencyError",
    "OutOfMemoryError",
    "ResidentLostError",
    "StorageError",
    "StorageFullError",
    "StorageNotSharedError",
    "TaskFailedError",
    "WorkerLostError",
]


def counted(count: int, noun: str) -> str:
    """``1 task``, ``2 tasks``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def readable_bytes(count: float) -> str:
    """``1536`` as ``1.5 kB``, in the decimal units of disks and clusters."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


class DistributedError(TaugraphError):
    """A distributed run cannot start or go on."""


class InputError(DistributedError, ValueError):
    """The table cannot be read, or cannot be used as it is."""


class MissingDependencyError(DistributedError, ImportError):
    """A package that distributed runs need is not installed."""


class StorageError(DistributedError, OSError):
    """The storage of a run cannot be used."""


class StorageFullError(StorageError):
    """There is no room for a file, or for all that a run will write."""

    def __init__(self, place: str, name: str, needed: int, free: int | None, advice: str = "") -> None:
        super().__init__(place, name, needed, free, advice)
        self.place, self.name, self.needed, self.free, self.advice = place, name, needed, free, advice

    def __reduce__(self) -> tuple[Any, ...]:
        # An OSError keeps only two of its arguments.
        return type(self), (self.place, self.name, self.needed, self.free, self.advice)

    def __str__(self) -> str:
        free = "" if self.free is None else f", {readable_bytes(self.free)} are free"
        advice = f". {self.advice}" if self.advice else ""
        return f"no room in {self.place} for {self.name}: it has {readable_bytes(self.needed)}{free}{advice}"


class StorageNotSharedError(StorageError):
    """A node does not see what the driver wrote."""

    def __init__(self, place: str, nodes: list[str], reason: str = "") -> None:
        super().__init__(place, nodes, reason)
        self.place, self.nodes, self.reason = place, nodes, reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.place, self.nodes, self.reason)

    def __str__(self) -> str:
        return (
            f"{', '.join(self.nodes)} cannot read what was written to {self.place}"
            f"{f' ({self.reason})' if self.reason else ''}: use a folder or bucket that every node sees under this name"
        )


class DamagedShardError(DistributedError):
    """A shard is missing, cut short or altered."""

    def __init__(self, name: str, task: str | None, what: str) -> None:
        super().__init__(name, task, what)
        self.name, self.task, self.what = name, task, what

    def __str__(self) -> str:
        return f"{self.name}{f', written by {self.task},' if self.task else ''} is damaged: {self.what}; delete it and run again"


class TaskFailedError(DistributedError, RuntimeError):
    """A task raised an error, which is the cause of this one if it could be transferred."""

    def __init__(self, key: str, reason: str, traceback: str = "") -> None:
        super().__init__(key, reason, traceback)
        self.key, self.reason, self.traceback = key, reason, traceback

    def __str__(self) -> str:
        return f"{self.key}: {self.reason}" + (f"\n\nIn the worker:\n{self.traceback}" if self.traceback else "")


class WorkerLostError(DistributedError, RuntimeError):
    """A task lost its worker at every start."""

    def __init__(self, key: str, starts: int, reason: str) -> None:
        super().__init__(key, starts, reason)
        self.key, self.starts, self.reason = key, starts, reason

    def __str__(self) -> str:
        return f"{self.key} lost its worker at each of {self.starts} starts, the last time because {self.reason}"


class OutOfMemoryError(DistributedError, TaugraphMemoryError):
    """A task needs more memory than it can get."""

    def __init__(self, key: str, starts: int, reserved: int, largest: int, reason: str) -> None:
        super().__init__(key, starts, reserved, largest, reason)
        self.key, self.starts, self.reserved, self.largest, self.reason = key, starts, reserved, largest, reason

    def __str__(self) -> str:
        return (
            f"{self.key} ran out of memory at {counted(self.starts, 'start')}, the last with {readable_bytes(self.reserved)} "
            f"reserved, the largest machine has {readable_bytes(self.largest)} ({self.reason}): use more partitions"
        )


class InsufficientResourcesError(DistributedError):
    """The machines are too few or too small for what was asked."""

    def __init__(
        self, needed: str, offered: str, seconds: float, advice: str = "Use more or larger machines, or more partitions"
    ) -> None:
        super().__init__(needed, offered, seconds, advice)
        self.needed, self.offered, self.seconds, self.advice = needed, offered, seconds, advice

    def __str__(self) -> str:
        waited = f" for {self.seconds:.0f} s" if self.seconds else ""
        return f"{self.needed}; offered{waited}: {self.offered}. {self.advice}"


class ResidentLostError(DistributedError):
    """A resident process died, and its state with it: restart it and go back to the last checkpoint."""

    def __init__(self, residents: list[str], reason: str) -> None:
        super().__init__(residents, reason)
        self.residents, self.reason = residents, reason

    def __str__(self) -> str:
        return f"lost {', '.join(self.residents)}: {self.reason}"
