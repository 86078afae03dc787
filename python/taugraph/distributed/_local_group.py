"""Residents of the local executor.

Results travel through the driver, which does not look into them. A resident gets its next request when it has answered the last,
so neither side ever waits to write while the other does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from ._executor import Job
from ._local import Process, death
from ._machine import memory_bytes
from ._payload import Payload, packed, unpacked
from ._resident import Birth, Deaths, Failure, extract, raise_failures


class LocalRef:
    """The result of a call, once it is there."""

    __slots__ = ("payload",)

    def __init__(self) -> None:
        self.payload: Payload | None = None

    def value(self) -> Any:
        assert self.payload is not None
        return unpacked(self.payload)


@dataclass(frozen=True)
class _Call:
    """A call that waits, the references for its results, and those it uses."""

    refs: list[LocalRef]
    method: str
    arguments: tuple[Any, ...]
    used: list[LocalRef]
    is_split: bool


class _Member:
    """A resident: its process and the calls that wait for it."""

    def __init__(self, birth: Birth) -> None:
        self.birth = birth
        self.calls: deque[_Call] = deque()
        # What the answers that it is working on are to be put into.
        self.current: list[LocalRef] = []
        self.life = ""
        self.process: Process | None = None

    def bear(self) -> None:
        """Start the process; its first answer is its life."""
        self.process = Process(self.birth.threads)
        self.process.send(("born", 0, self.birth))
        self.current = [LocalRef()]

    def send_next(self) -> None:
        """Send the next call if nothing is under way and its arguments are there."""
        if self.process is None or self.current or not self.calls:
            return
        payloads = [each.payload for each in self.calls[0].used]
        ready = [payload for payload in payloads if payload is not None]
        if len(ready) == len(payloads):
            call = self.calls.popleft()
            self.current = call.refs
            kind, number = ("call_split", (len(call.refs),)) if call.is_split else ("call", ())
            self.process.send((kind, len(ready), (self.life, call.method, call.arguments, *number)), ready)

    def lost(self) -> None:
        """The process is dead: so are the calls."""
        assert self.process is not None
        reason = death(self.process.kill())
        self.process = None
        payload = packed(Failure("lost", self.birth.key, reason))
        for ref in [*self.current, *(ref for call in self.calls for ref in call.refs)]:
            ref.payload = payload
        self.current = []
        self.calls.clear()

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process = None


class Exchange:
    """All residents of an executor, for those of one group may use results of another."""

    def __init__(self) -> None:
        self.members: list[_Member] = []

    def pump(self, timeout: float | None) -> None:
        """Send what can be sent, and take the answers that come within so many seconds."""
        for member in self.members:
            member.send_next()
        busy: dict[Connection, _Member] = {
            member.process.connection: member for member in self.members if member.process is not None and member.current
        }
        for connection in wait(list(busy), timeout) if busy else ():
            assert isinstance(connection, Connection)
            member = busy[connection]
            assert member.process is not None
            # It sends all answers to a call one after the other.
            answers = [answer for _ in member.current if (answer := member.process.answer()) is not None]
            if len(answers) < len(member.current):
                member.lost()
                continue
            for ref, answer in zip(member.current, answers):
                ref.payload = answer
            member.current = []

    def wait_for(self, refs: Sequence[LocalRef]) -> None:
        while any(ref.payload is None for ref in refs):
            self.pump(1.0)

    def close(self) -> None:
        for member in self.members:
            member.end()
        self.members.clear()


class LocalGroup:
    """Residents in processes of this machine."""

    def __init__(
        self, exchange: Exchange, job: Job, factory: str, arguments: Sequence[dict[str, Any]], memory: Sequence[int], threads: int
    ) -> None:
        self.exchange = exchange
        births = [
            Birth(f"{factory}[{index}]", factory, dict(each), job.storage, job.token, threads, memory[index])
            for index, each in enumerate(arguments)
        ]
        self.members = [_Member(birth) for birth in births]
        self.deaths = Deaths([birth.key for birth in births])
        exchange.members += self.members
        self._saving: list[LocalRef] = []
        try:
            self._bear(self.members)
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.members)

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[LocalRef]:
        refs = [ref for (ref,) in self._call(method, arguments, None)]
        if method == "save":
            self._saving = refs
        return refs

    def call_split(self, method: str, arguments: Sequence[tuple[Any, ...]], n_results: int) -> list[list[LocalRef]]:
        return self._call(method, arguments, n_results)

    def _call(self, method: str, arguments: Sequence[tuple[Any, ...]], n_results: int | None) -> list[list[LocalRef]]:
        if len(arguments) != len(self):
            raise ValueError(f"{method}: {len(arguments)} tuples of arguments for {len(self)} residents")
        all_refs = []
        for member, each in zip(self.members, arguments):
            placed, used = extract(each, LocalRef)
            refs = [LocalRef() for _ in range(1 if n_results is None else n_results)]
            all_refs.append(refs)
            if member.process is None:
                payload = packed(Failure("lost", member.birth.key, "it is dead"))
                for ref in refs:
                    ref.payload = payload
            else:
                member.calls.append(_Call(refs, method, placed, used, n_results is not None))
        self.exchange.pump(0)
        return all_refs

    def get(self, refs: Sequence[LocalRef]) -> list[Any]:
        self.exchange.wait_for(refs)
        values = [ref.value() for ref in refs]
        raise_failures(values)
        if refs and refs[0] in self._saving:
            self.deaths.checkpoint()
        return values

    def restart_dead(self) -> list[int]:
        for member in self.members:
            # Everything under way is to be ignored, but has to end before the state goes back.
            while member.process is not None and (member.current or member.calls):
                self.exchange.pump(1.0)
        dead = [index for index, member in enumerate(self.members) if member.process is None]
        self.deaths.add(dead, max(member.birth.memory for member in self.members), memory_bytes())
        self._bear([self.members[index] for index in dead])
        return dead

    def _bear(self, members: Sequence[_Member]) -> None:
        for member in members:
            member.bear()
        refs = [ref for member in members for ref in member.current]
        self.exchange.wait_for(refs)
        lives = [ref.value() for ref in refs]
        raise_failures(lives)
        for member, life in zip(members, lives):
            member.life = life

    def close(self) -> None:
        for member in self.members:
            member.end()
            self.exchange.members.remove(member)
        self.members = []
