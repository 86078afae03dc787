"""Residents of a cluster: actors, which Ray restarts, without their state, where there is room.

Results stay on the machine they were made on and go straight to the residents that use them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ._errors import InsufficientResourcesError, counted
from ._executor import Job
from ._ray import Ray, first_line
from ._resident import Birth, Deaths, Failure, Resident, extract, raise_failures
from ._schedule import describe

# A share that always fits: residents that take turns are slow, residents that find no processor after a node died never come
# back. Not zero, for the head of a cluster often has no processors and is not to work.
_CPUS = 0.01
_TICK = 1.0
_SILENCE = 30.0


class RayGroup:
    """Actors of one factory."""

    def __init__(
        self, executor: Ray, job: Job, factory: str, arguments: Sequence[dict[str, Any]], memory: Sequence[int], threads: int
    ) -> None:
        self.executor, self.job, self.factory, self.memory = executor, job, factory, list(memory)
        self._ray = executor._ray
        actor = self._ray.remote(Resident)
        self.births = [
            Birth(f"{factory}[{index}]", factory, dict(each), job.storage, job.token, threads, memory[index])
            for index, each in enumerate(arguments)
        ]
        self.actors = [
            actor.options(
                name=None,
                num_cpus=_CPUS,
                memory=birth.memory or None,
                max_restarts=-1,
                max_task_retries=0,
                scheduling_strategy="SPREAD",
                runtime_env=executor.runtime_env,
            ).remote(birth)
            for birth in self.births
        ]
        self.lives = [""] * len(self.births)
        self.deaths = Deaths([birth.key for birth in self.births])
        self._saving: list[Any] = []
        try:
            self.lives = self._hello()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.actors)

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        refs = self._call(method, arguments, "call", 1)
        if method == "save":
            self._saving = refs
        return refs

    def call_split(self, method: str, arguments: Sequence[tuple[Any, ...]], n_results: int) -> list[list[Any]]:
        if n_results == 1:
            return [[ref] for ref in self._call(method, arguments, "call_only", 1)]
        return self._call(method, arguments, "call_split", n_results, n_results)

    def _call(self, method: str, arguments: Sequence[tuple[Any, ...]], by: str, n_results: int, *more: int) -> list[Any]:
        """Call a method by way of one of `Resident`: a reference from each actor, or a list of them if it has several results."""
        if len(arguments) != len(self):
            raise ValueError(f"{method}: {len(arguments)} tuples of arguments for {len(self)} residents")
        refs = []
        for actor, life, birth, each in zip(self.actors, self.lives, self.births, arguments):
            placed, used = extract(each, self._ray.ObjectRef)
            # References as arguments of their own, so that Ray fetches them before the call.
            options = getattr(actor, by).options(name=f"{birth.key}.{method}", num_returns=n_results)
            refs.append(options.remote(life, method, placed, *more, *used))
        return refs

    def get(self, refs: Sequence[Any]) -> list[Any]:
        values = [self._value(ref, index) for index, ref in enumerate(refs)]
        raise_failures(values)
        if refs and refs[0] in self._saving:
            self.deaths.checkpoint()
            self._saving = []
        return values

    def restart_dead(self) -> list[int]:
        before, self.lives = self.lives, self._hello()
        dead = [index for index, life in enumerate(self.lives) if life != before[index]]
        self.deaths.add(dead, max(self.memory), max((node.memory for node in self.executor.nodes()), default=0))
        return dead

    def close(self) -> None:
        for actor in self.actors:
            self._ray.kill(actor)
        self.actors = []

    def _value(self, ref: Any, index: int) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref)
        except errors.RayTaskError as error:
            # An argument that was lost with its resident, or what never reached one.
            kind: Any = "lost" if isinstance(error.cause, errors.RayError) else "error"
            return Failure(kind, self._name(index), f"{type(error.cause).__name__}: {error.cause}", traceback=str(error))
        except errors.RayError as error:
            return Failure("lost", self._name(index), first_line(error))

    def _name(self, index: int) -> str:
        return self.births[index].key if index < len(self.births) else self.factory

    def _hello(self) -> list[str]:
        """The lives of all residents, when they have finished everything else and those that died are back."""
        lives: list[Any] = [None] * len(self.actors)
        asked: dict[Any, int] = {self.actors[index].hello.remote(): index for index in range(len(self.actors))}
        short_since: float | None = None
        heard = last_answer = time.monotonic()
        while asked:
            ready, _ = self._ray.wait(list(asked), num_returns=1, timeout=_TICK)
            if time.monotonic() - heard > _SILENCE:
                heard = time.monotonic()
                self.job.progress.note(f"waiting for {counted(len(asked), 'resident')} of {self.factory}")
            for ref in ready:
                index = asked.pop(ref)
                value = self._value(ref, index)
                if isinstance(value, Failure) and value.kind == "lost":
                    # Dead, or not yet back; some never come back, as where the package is missing.
                    if time.monotonic() - last_answer > max(self.executor.patience, _SILENCE):
                        raise value.raised()
                    time.sleep(0.1)
                    asked[self.actors[index].hello.remote()] = index
                else:
                    lives[index] = value
                    last_answer = time.monotonic()
            needed = self.executor.check_residents(self.memory, self.factory)
            if needed is None:
                short_since = None
            elif short_since is None:
                short_since = time.monotonic()
                self.job.progress.wait(f"{needed}; offered: {describe(self.executor.nodes())}")
            elif time.monotonic() - short_since >= self.executor.patience:
                raise InsufficientResourcesError(needed, describe(self.executor.nodes()), time.monotonic() - short_since)
        raise_failures(lives)
        return lives
