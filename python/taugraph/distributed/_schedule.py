"""The schedule of one stage: which tasks start, and what happens to those that end badly.

All decisions are made here, for every executor alike:

- a worker or node that died: the task again, at most 4 starts;
- out of memory: again with twice the reservation, at most 3 times;
- a damaged shard: its writer again, then the reader, at most twice for each shard;
- no machine large enough: said at once, an error after the patience of the executor;
- any other error: it ends the run.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ._errors import (
    DamagedShardError,
    InsufficientResourcesError,
    OutOfMemoryError,
    TaskFailedError,
    WorkerLostError,
    counted,
    readable_bytes,
)
from ._executor import Backend, Job, OnDone
from ._tasks import Order, Outcome, Record, Task, finished

MAX_STARTS = 4
# Reserved for a task without a reservation that ran out of memory.
_LEAST_RESERVATION = 256 * 2**20
_TICK = 1.0
# After so many seconds without the end of a task the run says that it still works.
_SILENCE = 60.0


@dataclass
class _Attempt:
    order: Order
    memory: int
    # Where its result goes; None for a repair, whose result is known.
    position: int | None
    starts: int = 0
    memory_failures: int = 0
    started: float = field(default=0.0)

    @property
    def key(self) -> str:
        return self.order.task.key


class Schedule:
    """The tasks of one call of ``run``."""

    def __init__(self, backend: Backend, job: Job) -> None:
        self.backend, self.job, self.progress = backend, job, job.progress
        self.queue: deque[_Attempt] = deque()
        self.running: dict[int, _Attempt] = {}
        # Readers of damaged shards, by the key of the writer they wait for.
        self.waiting: dict[str, list[_Attempt]] = {}
        self.repaired: dict[str, float] = {}
        self.tickets = 0
        self.too_large_since: float | None = None
        self.looked = 0.0
        self.heard = time.monotonic()

    def run(self, tasks: Sequence[Task], on_done: OnDone | None) -> list[dict[str, Any]]:
        if len({task.key for task in tasks}) < len(tasks):
            keys = [task.key for task in tasks]
            raise ValueError(f"two tasks are called {next(key for key in keys if keys.count(key) > 1)}")
        orders = [self._order(task) for task in tasks]
        records = finished(self.job.storage, orders)
        self.records: list[Record | None] = [records.get(task.key) for task in tasks]
        self.on_done = on_done
        if tasks:
            self.progress.stage(tasks[0].stage, len(tasks), len(records))
        for task in tasks:
            if task.key in records:
                self._learn(task, records[task.key])
        self.queue.extend(
            _Attempt(order, order.task.memory, position)
            for position, order in enumerate(orders)
            if self.records[position] is None
        )
        try:
            while self.queue or self.running:
                self._start()
                for ticket, outcome in self.backend.ended(_TICK):
                    # A ticket that is not known was given up.
                    attempt = self.running.pop(ticket, None)
                    self.heard = time.monotonic()
                    if attempt is not None:
                        self._ended(attempt, outcome)
                self._look_for_room()
        except BaseException:
            # Also Ctrl-C: nothing goes on in the background, records of what is finished stay.
            self.backend.stop()
            raise
        if tasks:
            self.progress.stage_done()
        return [record["result"] for record in self.records if record is not None]

    def _order(self, task: Task) -> Order:
        return Order(task, self.job.storage, task.fingerprint(self.job.manifest), self.job.token, self.backend.threads)

    def _learn(self, task: Task, record: Record) -> None:
        self.job.learn(task, record)
        if self.on_done is not None:
            self.on_done(task, record)

    def _start(self) -> None:
        """Start what there is room for. What needs too much memory now lets later ones pass."""
        passed: list[_Attempt] = []
        while self.queue and self.backend.room() > 0:
            attempt = self.queue.popleft()
            self.tickets += 1
            attempt.started = time.monotonic()
            if self.backend.start(self.tickets, attempt.order, attempt.memory):
                attempt.starts += 1
                self.running[self.tickets] = attempt
            else:
                passed.append(attempt)
        self.queue.extendleft(reversed(passed))

    def _ended(self, attempt: _Attempt, outcome: Outcome) -> None:
        if outcome.kind == "done":
            self._done(attempt, outcome.record)
        elif outcome.kind == "lost":
            self._lost(attempt, outcome)
        elif outcome.kind == "memory":
            self._out_of_memory(attempt, outcome)
        elif outcome.kind == "damaged" and isinstance(outcome.error, DamagedShardError):
            self._damaged(attempt, outcome.error)
        else:
            raise TaskFailedError(attempt.key, outcome.reason, outcome.traceback) from outcome.error

    def _done(self, attempt: _Attempt, record: Record) -> None:
        task = attempt.order.task
        if attempt.position is None:
            self.job.learn(task, record)
        else:
            self.records[attempt.position] = record
            self._learn(task, record)
            self.progress.task(task.key, record)
        if task.key in self.waiting:
            self.repaired.update(dict.fromkeys(record["outputs"], time.monotonic()))
            self.queue.extendleft(self.waiting.pop(task.key))

    def _again(self, attempt: _Attempt, why: str) -> None:
        self.progress.retry(attempt.key, attempt.starts + 1, why)
        # First, so that a stage does not end with the repetition of a task that was lost at its beginning.
        self.queue.appendleft(attempt)

    def _lost(self, attempt: _Attempt, outcome: Outcome) -> None:
        if attempt.starts >= MAX_STARTS:
            raise WorkerLostError(attempt.key, attempt.starts, outcome.reason)
        self._again(attempt, outcome.reason)

    def _out_of_memory(self, attempt: _Attempt, outcome: Outcome) -> None:
        attempt.memory_failures += 1
        largest = max((node.memory for node in self.backend.nodes()), default=0)
        before = attempt.memory
        # A machine of its own is the most a task can have.
        attempt.memory = max(before, min(largest, 2 * before or _LEAST_RESERVATION))
        # Killed workers do not say why, so they get every start; others have had all there is.
        hopeless = attempt.memory == before and outcome.error is not None
        if hopeless or attempt.memory_failures >= MAX_STARTS:
            raise OutOfMemoryError(attempt.key, attempt.memory_failures, before, largest, outcome.reason) from outcome.error
        self._again(attempt, f"{outcome.reason}; now {readable_bytes(attempt.memory)} are reserved")

    def _damaged(self, attempt: _Attempt, error: DamagedShardError) -> None:
        if attempt.started < self.repaired.get(error.name, 0.0):
            # It read the shard before the repair.
            self.queue.appendleft(attempt)
            return
        writer = self.job.writer(error)
        if writer is None or writer.key == attempt.key:
            raise error
        # The shard was at fault, not this start.
        attempt.starts -= 1
        if writer.key in self.waiting:
            self.waiting[writer.key].append(attempt)
            return
        self.job.begin_repair(error)
        self.waiting[writer.key] = [attempt]
        self._again(_Attempt(self._order(writer), writer.memory, None), f"{error}; {attempt.key} waits for it")

    def _look_for_room(self) -> None:
        """An error if for too long no machine has been large enough."""
        now = time.monotonic()
        if now - self.looked < _TICK:
            return
        self.looked = now
        if now - self.heard > _SILENCE:
            self.heard = now
            self.progress.note(f"{counted(len(self.running), 'task')} under way, none ended in the last {_SILENCE:.0f} s")
        nodes, threads = self.backend.nodes(), self.backend.threads
        attempts = [*self.queue, *self.running.values()]
        large = [each for each in attempts if not any(node.cpus >= threads and node.memory >= each.memory for node in nodes)]
        if not large:
            self.too_large_since = None
            return
        worst = max(large, key=lambda each: each.memory)
        needed = f"{worst.key} needs {counted(threads, 'processor')} and {readable_bytes(worst.memory)} on one machine"
        offered = describe(nodes)
        if self.too_large_since is None:
            self.too_large_since = now
            self.progress.wait(f"{needed}; offered: {offered}")
        if now - self.too_large_since >= self.backend.patience:
            raise InsufficientResourcesError(needed, offered, now - self.too_large_since)


def describe(nodes: Sequence[Any]) -> str:
    """The machines in a few words."""
    if not nodes:
        return "no machines with processors"
    largest = max(nodes, key=lambda node: node.memory)
    machines = f"{counted(len(nodes), 'machine')} with {counted(int(sum(node.cpus for node in nodes)), 'processor')}"
    return f"{machines}, the largest with {largest.cpus:g} and {readable_bytes(largest.memory)}"
