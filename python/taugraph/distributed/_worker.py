"""A worker process of the local executor: ``python -m taugraph.distributed._worker HANDLE`` answers requests on a connection."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from ._payload import packed, receive, send, unpacked
from ._resident import Birth, Resident
from ._tasks import Order, run_task


def _die_with_the_driver() -> None:
    """The driver holds the other end of standard input and never writes: it ends when the driver does, however that ended."""
    while os.read(0, 1):
        pass
    os._exit(1)


def serve(connection: Any) -> None:
    """Answer requests until the driver closes the connection."""
    resident: Resident | None = None
    while True:
        try:
            request = pickle.loads(connection.recv_bytes())
            # Results of other residents come as they were sent.
            values = [unpacked(receive(connection)) for _ in range(request[1])]
        except (EOFError, ConnectionError):
            return
        match request:
            case ("path", _, list(path)):
                # What the driver can import the worker can import too.
                sys.path.extend(each for each in path if each not in sys.path)
                continue
            case ("task", _, Order() as order):
                answer: Any = run_task(order)
            case ("born", _, Birth() as birth):
                resident = Resident(birth)
                answer = resident.hello()
            case ("call_split", _, arguments):
                assert resident is not None
                _answer(connection, resident.call_split(*arguments, *values))
                continue
            case (method, _, arguments):
                answer = getattr(resident, method)(*arguments, *values)
        _answer(connection, [answer])


def _answer(connection: Any, values: Sequence[Any]) -> None:
    for value in values:
        try:
            send(connection, packed(value), os.getppid())
        except ConnectionError:
            return


def main() -> None:
    # Ctrl-C reaches all processes of a terminal; the driver decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_the_driver, daemon=True).start()
    serve(Connection(int(sys.argv[1])))


if __name__ == "__main__":
    main()
