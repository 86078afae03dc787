"""The seam between the stages of a run and what executes them: processes of one machine or a cluster.

Tasks are pure and recorded, so that losing one costs its repetition. Residents are processes with state, for iterations; losing
one sends all back to their last checkpoint, which is the driver's to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol

from ._errors import DamagedShardError, DistributedError
from ._progress import Listener, Progress, progress_of
from ._storage import Storage
from ._tasks import Order, Outcome, Record, Task

MAX_REPAIRS = 2

OnDone = Callable[[Task, Record], None]
# What a call of a resident returns: only to be passed to `get` and to other calls.
Ref = Any


@dataclass(frozen=True)
class Node:
    """A machine, or this one."""

    name: str
    cpus: float
    memory: int


@dataclass
class Job:
    """What all tasks of a run share, and what was learned about them."""

    storage: Storage
    manifest: str
    token: str
    progress: Progress
    # The task that wrote a shard, to repair it.
    producers: dict[str, Task] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    repairs: dict[str, int] = field(default_factory=dict)
    machines: list[dict[str, str]] = field(default_factory=list)

    def begin_repair(self, error: DamagedShardError) -> Task:
        """The task that wrote a shard, which is no longer taken for done; the error if that is not known, or has been in vain."""
        writer = self.writer(error)
        self.repairs[error.name] = self.repairs.get(error.name, 0) + 1
        if writer is None or self.repairs[error.name] > MAX_REPAIRS:
            raise error
        self.storage.delete(writer.record_name)
        return writer

    def writer(self, error: DamagedShardError) -> Task | None:
        return self.producers.get(error.name) or self.tasks.get(error.task or "")

    def learn(self, task: Task, record: Record) -> None:
        """Remember what a finished task wrote, and where."""
        self.tasks[task.key] = task
        for name in record["outputs"]:
            self.producers[name] = task
        if record["machine"] not in self.machines:
            self.machines.append(record["machine"])
            if len(self.machines) == 2:
                first, other = ({**each} for each in self.machines)
                differing = ", ".join(f"{key} {first[key]!r} and {other[key]!r}" for key in first if first[key] != other.get(key))
                self.progress.note(f"the machines differ ({differing}): results are equal within rounding, not bit for bit")


class Group(Protocol):
    """Residents: objects that live in processes of their own."""

    def __len__(self) -> int: ...

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Ref]:
        """Call a method of all residents, each with its tuple, without waiting for the results.

        References among the arguments, directly or in a list, become the values they stand for. ``save`` and ``load`` are called
        with the resident's context as their first argument. Arrays arrive read-only.
        """

    def call_split(self, method: str, arguments: Sequence[tuple[Any, ...]], n_results: int) -> list[list[Ref]]:
        """The same for a method that returns a list of so many values: a reference for each of them.

        A value goes only to those that get its reference: what is exchanged need not pass through every resident.
        """

    def get(self, refs: Sequence[Ref]) -> list[Any]:
        """Wait for results. ``ResidentLostError`` if a resident died, ``TaskFailedError`` if a method raised."""

    def restart_dead(self) -> list[int]:
        """Wait until no resident works any more, build anew those that died, without their state, and return their indices."""

    def close(self) -> None: ...


class Executor(Protocol):
    """Runs tasks and residents."""

    def attach(self, storage: Storage, manifest: str = "", progress: Progress | Listener | bool | str | None = None) -> None:
        """Work on this storage, after a check that every node sees it."""

    def run(self, tasks: Sequence[Task], on_done: OnDone | None = None) -> list[dict[str, Any]]:
        """Run independent tasks and return what their functions returned, in the order of the tasks.

        Those with a record are skipped. ``on_done`` is called with each task and its record, in the order in which they finish.
        """

    def residents(self, factory: str, arguments: Sequence[dict[str, Any]], memory: int | Sequence[int] = 0) -> Group:
        """A resident for each dictionary, made by ``factory(context, **arguments)``, where ``factory`` is ``module:name``."""

    def on_every_node(self, function: Callable[..., Any], arguments: tuple[Any, ...] = ()) -> dict[str, Any]:
        """Call a function once on every node; its results by the nodes' names."""

    def repair(self, error: DamagedShardError) -> None:
        """Run the task again that wrote this shard, for what residents and the driver read; at most twice for each shard."""

    def nodes(self) -> list[Node]: ...

    def close(self) -> None: ...


class Backend(Protocol):
    """What the schedule needs of an executor: starting and waiting, no policy."""

    patience: float
    threads: int

    def room(self) -> int:
        """How many tasks can be started now."""

    def start(self, ticket: int, order: Order, memory: int) -> bool:
        """Start a task; false if its memory is not free now."""

    def ended(self, timeout: float) -> list[tuple[int, Outcome]]:
        """What ended, after waiting for at most so many seconds."""

    def stop(self) -> None:
        """End everything that was started."""

    def nodes(self) -> list[Node]: ...


class BaseExecutor:
    """What all executors do alike: the storage they are attached to, and the schedule."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._job: Job | None = None

    @property
    def job(self) -> Job:
        if self._job is None:
            raise DistributedError("attach the executor to a storage first")
        return self._job

    def attach(self, storage: Storage, manifest: str = "", progress: Progress | Listener | bool | str | None = None) -> None:
        self._detach()
        storage.remove_leftovers()
        token = storage.check_shared(self)  # type: ignore[arg-type]
        self._job = Job(storage, manifest, token, progress_of(progress))

    def run(self, tasks: Sequence[Task], on_done: OnDone | None = None) -> list[dict[str, Any]]:
        from ._schedule import Schedule

        return Schedule(self, self.job).run(tasks, on_done)  # type: ignore[arg-type]

    def repair(self, error: DamagedShardError) -> None:
        self.run([self.job.begin_repair(error)])

    def residents(self, factory: str, arguments: Sequence[dict[str, Any]], memory: int | Sequence[int] = 0) -> Group:
        each = [memory] * len(arguments) if isinstance(memory, int) else list(memory)
        while True:
            try:
                return self._residents(factory, arguments, each)
            except DamagedShardError as error:
                # A shard that a factory reads: repairs are counted.
                self.repair(error)

    def _residents(self, factory: str, arguments: Sequence[dict[str, Any]], memory: Sequence[int]) -> Group:
        raise NotImplementedError

    def _detach(self) -> None:
        if self._job is not None:
            self._job.storage.remove_token(self._job.token)
            self._job = None

    def close(self) -> None:
        self._detach()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
