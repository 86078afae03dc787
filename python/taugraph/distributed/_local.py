"""The executor for one machine: worker processes, and a process for each resident.

It needs nothing but Python, and it is what other executors are compared with.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

from ._errors import InsufficientResourcesError, counted, readable_bytes
from ._executor import BaseExecutor, Group, Node
from ._machine import memory_bytes, n_cores
from ._payload import Payload, receive, send, unpacked
from ._tasks import Order, Outcome

# What others on this machine and the page cache are left.
_SHARE_OF_MEMORY = 0.8


class Process:
    """A worker process and the connection to it."""

    def __init__(self, threads: int) -> None:
        self.connection, other = Pipe()
        # Libraries for matrices would start threads of their own in every worker, and add up in another order.
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "RAYON_NUM_THREADS": str(threads),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "taugraph.distributed._worker", str(other.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=[other.fileno()],
            env=environment,
        )
        other.close()
        self.send(("path", 0, list(sys.path)))

    def send(self, request: tuple[Any, ...], payloads: Sequence[Payload] = ()) -> None:
        """Send a request; that the process is dead is noticed when its answer is awaited."""
        try:
            self.connection.send_bytes(pickle.dumps(request, protocol=5))
            for payload in payloads:
                send(self.connection, payload, self.process.pid)
        except ConnectionError:
            pass

    def answer(self) -> Payload | None:
        """The answer that is there, ``None`` if the process died."""
        try:
            return receive(self.connection)
        except (EOFError, OSError, RuntimeError):
            # A RuntimeError if it died between a message and the descriptor that follows it.
            return None

    def kill(self) -> int:
        """End it, if it has not ended yet, and return its exit code."""
        code = self.process.poll()
        if code is None:
            # It may be about to die by itself, and then how matters.
            try:
                code = self.process.wait(0.2) if self.connection.poll() else None
            except (subprocess.TimeoutExpired, OSError):
                code = None
            if code is None:
                self.process.kill()
                code = self.process.wait()
        self.connection.close()
        assert self.process.stdin is not None
        self.process.stdin.close()
        return code


def death(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"its process ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    hint = ", as the system does when memory runs out" if code == -signal.SIGKILL else ""
    return f"its process was killed by {name}{hint}"


class Local(BaseExecutor):
    """Processes of this machine.

    Parameters
    ----------
    workers : int, default=None
        Tasks at a time; ``None``: one for each core.
    memory : int, default=None
        Bytes that the tasks and residents that run at a time may reserve; ``None``: four fifths of the machine's.
    threads : int, default=None
        Threads of each task; ``None``: the worker's share of the cores.
    """

    def __init__(self, workers: int | None = None, memory: int | None = None, threads: int | None = None) -> None:
        # This machine does not grow: waiting for more would be in vain.
        super().__init__(patience=0)
        if workers is not None and workers < 1:
            raise ValueError(f"workers = {workers}: must be at least 1")
        self.workers = n_cores() if workers is None else workers
        self.memory = int(_SHARE_OF_MEMORY * memory_bytes()) if memory is None else memory
        self.threads = threads or max(1, n_cores() // self.workers)
        self._idle: list[Process] = []
        self._busy: dict[Connection, tuple[Process, int, int]] = {}
        from ._local_group import Exchange

        self._exchange = Exchange()

    def nodes(self) -> list[Node]:
        # As many processors as asked for: more workers than cores are slow, but they work.
        return [Node(socket.gethostname(), self.workers * self.threads, self.memory)]

    def on_every_node(self, function: Callable[..., Any], arguments: tuple[Any, ...] = ()) -> dict[str, Any]:
        return {self.nodes()[0].name: function(*arguments)}

    def _residents(self, factory: str, arguments: Sequence[dict[str, Any]], memory: Sequence[int]) -> Group:
        from ._local_group import LocalGroup

        if sum(memory) > self.memory:
            needed = f"{counted(len(memory), 'resident')} of {factory} need {readable_bytes(sum(memory))} together"
            raise InsufficientResourcesError(needed, f"{readable_bytes(self.memory)} on this machine", 0)
        threads = max(1, n_cores() // max(1, len(arguments)))
        return LocalGroup(self._exchange, self.job, factory, arguments, memory, threads)

    def close(self) -> None:
        self.stop()
        for process in self._idle:
            process.kill()
        self._idle.clear()
        self._exchange.close()
        super().close()

    # What the schedule uses.

    def room(self) -> int:
        return self.workers - len(self._busy)

    def start(self, ticket: int, order: Order, memory: int) -> bool:
        if memory > self.memory - sum(reserved for _, _, reserved in self._busy.values()):
            return False
        process = self._idle.pop() if self._idle else Process(self.threads)
        process.send(("task", 0, order))
        self._busy[process.connection] = (process, ticket, memory)
        return True

    def ended(self, timeout: float) -> list[tuple[int, Outcome]]:
        if not self._busy:
            # What waits here waits for memory that nobody holds; the schedule says so.
            time.sleep(0.01)
            return []
        outcomes = []
        for connection in wait(list(self._busy), timeout):
            assert isinstance(connection, Connection)
            process, ticket, _ = self._busy.pop(connection)
            answer = process.answer()
            if answer is not None:
                self._idle.append(process)
                outcomes.append((ticket, unpacked(answer)))
                continue
            code = process.kill()
            outcomes.append((ticket, Outcome("memory" if code == -signal.SIGKILL else "lost", reason=death(code))))
        return outcomes

    def stop(self) -> None:
        for process, _, _ in self._busy.values():
            process.kill()
        self._busy.clear()
