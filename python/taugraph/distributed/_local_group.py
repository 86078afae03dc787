"""Residents of the local executor.

Results travel through the driver, which does not look into them. A resident gets its next request when it has answered the last,
so neither side ever waits to write while the other does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
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


class _Member:
    """A resident: its process and the calls that wait for it."""

    def __init__(self, birth: Birth) -> None:
        self.birth = birth
        self.calls: deque[tuple[LocalRef, str, tuple[Any, ...], list[LocalRef]]] = deque()
        self.current: LocalRef | None = None
        self.life = ""
        self.process: Process | None = None

    def bear(self) -> None:
        """Start the process; its first answer is its life."""
        self.process = Process(self.birth.threads)
        self.process.send(("born", 0, self.birth))
        self.current = LocalRef()

    def send_next(self) -> None:
        """Send the next call if nothing is under way and its arguments are there."""
        if self.process is None or self.current is not None or not self.calls:
            return
        payloads = [each.payload for each in self.calls[0][3]]
        ready = [payload for payload in payloads if payload is not None]
        if len(ready) == len(payloads):
            self.current, method, arguments, _ = self.calls.popleft()
            self.process.send(("call", len(ready), (self.life, method, arguments)), ready)

    def lost(self) -> None:
        """The process is dead: so are the calls."""
        assert self.process is not None
        reason = death(self.process.kill())
        self.process = None
        payload = packed(Failure("lost", self.birth.key, reason))
        for ref in [self.current, *(call[0] for call in self.calls)]:
            if ref is not None:
                ref.payload = payload
        self.current = None
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
            member.process.connection: member
            for member in self.members
            if member.process is not None and member.current is not None
        }
        for connection in wait(list(busy), timeout) if busy else ():
            assert isinstance(connection, Connection)
            member = busy[connection]
            assert member.process is not None and member.current is not None
            answer = member.process.answer()
            if answer is None:
                member.lost()
            else:
                member.current.payload, member.current = answer, None

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
        if len(arguments) != len(self):
            raise ValueError(f"{method}: {len(arguments)} tuples of arguments for {len(self)} residents")
        refs = []
        for member, each in zip(self.members, arguments):
            placed, used = extract(each, LocalRef)
            ref = LocalRef()
            refs.append(ref)
            if member.process is None:
                ref.payload = packed(Failure("lost", member.birth.key, "it is dead"))
            else:
                member.calls.append((ref, method, placed, used))
        if method == "save":
            self._saving = refs
        self.exchange.pump(0)
        return refs

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
            while member.process is not None and (member.current is not None or member.calls):
                self.exchange.pump(1.0)
        dead = [index for index, member in enumerate(self.members) if member.process is None]
        self.deaths.add(dead, max(member.birth.memory for member in self.members), memory_bytes())
        self._bear([self.members[index] for index in dead])
        return dead

    def _bear(self, members: Sequence[_Member]) -> None:
        for member in members:
            member.bear()
        refs = [member.current for member in members if member.current is not None]
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
