"""A resident, as it is in its own process.

Whatever goes wrong in it becomes a `Failure`, a value like any other: it reaches the driver also through those that were to use
the result.
"""

from __future__ import annotations

import os
import traceback
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ._errors import DamagedShardError, OutOfMemoryError, ResidentLostError, TaskFailedError
from ._machine import PeakMemory, memory_bytes
from ._storage import Storage
from ._tasks import Context, check_token, load_function, portable

# Deaths of one resident between two checkpoints, after which its machines are not to blame.
MAX_STARTS = 4


@dataclass(frozen=True)
class Placeholder:
    """Stands for the result of another call until that is there."""

    index: int


@dataclass(frozen=True)
class Failure:
    """Why a call has no result."""

    kind: Literal["error", "memory", "lost"]
    resident: str
    reason: str
    error: BaseException | None = None
    traceback: str = ""
    memory: tuple[int, int] = (0, 0)

    def raised(self) -> Exception:
        if self.kind == "lost":
            return ResidentLostError([self.resident], self.reason)
        if self.kind == "memory":
            return OutOfMemoryError(self.resident, 1, *self.memory, self.reason)
        if isinstance(self.error, DamagedShardError):
            # As itself, for it can be repaired.
            return self.error
        return TaskFailedError(self.resident, self.reason, self.traceback)


@dataclass(frozen=True)
class Birth:
    """What a resident is made of."""

    key: str
    factory: str
    arguments: dict[str, Any]
    storage: Storage
    token: str
    threads: int
    memory: int


class Resident:
    """The object of a factory, and which of its lives this is."""

    def __init__(self, birth: Birth) -> None:
        self.birth = birth
        # A process that was silently replaced has another one: calls meant for the state that died with the old are refused.
        self.life = uuid.uuid4().hex
        self.context = Context(birth.storage, birth.key, birth.threads)
        self.object: Any = None

    def hello(self) -> str | Failure:
        """Make the object if that has not been done yet."""
        if self.object is None:
            try:
                check_token(self.birth.storage, self.birth.token)
                os.environ["RAYON_NUM_THREADS"] = str(self.birth.threads)
                self.object = load_function(self.birth.factory)(self.context, **self.birth.arguments)
            except (Exception, SystemExit) as error:
                return self._failure(error, "__init__")
        return self.life

    def call(self, life: str, method: str, arguments: tuple[Any, ...], *values: Any) -> Any:
        """Call a method, with values in place of placeholders."""
        failed = next((value for value in values if isinstance(value, Failure)), None)
        if failed is not None:
            return failed
        if life != self.life:
            return Failure("lost", self.birth.key, "it was restarted")
        context = (self.context,) if method in ("save", "load") else ()
        try:
            return getattr(self.object, method)(*context, *fill(arguments, values))
        except (Exception, SystemExit) as error:
            return self._failure(error, method)

    def call_split(self, life: str, method: str, arguments: tuple[Any, ...], n_results: int, *values: Any) -> list[Any]:
        """The same for a method with so many results; each of them is the failure if there is one."""
        results = self.call(life, method, arguments, *values)
        if not isinstance(results, Failure) and len(results) != n_results:
            results = self._failure(ValueError(f"{len(results)} results, expected {n_results}"), method)
        return [results] * n_results if isinstance(results, Failure) else list(results)

    def call_only(self, life: str, method: str, arguments: tuple[Any, ...], *values: Any) -> Any:
        """The only result of such a method, for Ray, which would take a list of one for the result itself."""
        return self.call_split(life, method, arguments, 1, *values)[0]

    def _failure(self, error: BaseException, method: str) -> Failure:
        name, reason = f"{self.birth.key}.{method}", f"{type(error).__name__}: {error}"
        if isinstance(error, MemoryError):
            reason += f", peak {PeakMemory().bytes()} bytes"
            return Failure("memory", name, reason, portable(error), traceback.format_exc(), (self.birth.memory, memory_bytes()))
        return Failure("error", name, reason, portable(error), traceback.format_exc())


def extract(arguments: tuple[Any, ...], kind: type) -> tuple[tuple[Any, ...], list[Any]]:
    """The references among the arguments, directly or in lists, and the arguments with placeholders in their stead."""
    refs: list[Any] = []

    def place(value: Any) -> Any:
        if isinstance(value, kind):
            refs.append(value)
            return Placeholder(len(refs) - 1)
        return [place(each) for each in value] if isinstance(value, list) else value

    return tuple(place(each) for each in arguments), refs


def fill(arguments: Iterable[Any], values: Sequence[Any]) -> list[Any]:
    """The arguments with values in place of placeholders."""
    filled = []
    for each in arguments:
        if isinstance(each, Placeholder):
            each = values[each.index]
        elif isinstance(each, list):
            each = fill(each, values)
        filled.append(each)
    return filled


def raise_failures(values: Iterable[Any]) -> None:
    """The first real error among the results; if there is none, that residents are lost."""
    failures = [value for value in values if isinstance(value, Failure)]
    for failure in failures:
        if failure.kind != "lost":
            raise failure.raised() from failure.error
    if failures:
        raise ResidentLostError(sorted({failure.resident for failure in failures}), failures[0].reason)


class Deaths:
    """Counts how often residents died since their last checkpoint."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = keys
        self.counts = [0] * len(keys)

    def add(self, indices: Iterable[int], memory: int, largest: int) -> None:
        for index in indices:
            self.counts[index] += 1
            if self.counts[index] >= MAX_STARTS:
                reason = "killed before its next checkpoint"
                raise OutOfMemoryError(self.keys[index], self.counts[index], memory, largest, reason)

    def checkpoint(self) -> None:
        self.counts = [0] * len(self.keys)
