"""Values between the processes of one machine.

The arrays of large ones are written once to memory that has no name and is handed on as a descriptor: nobody copies them again,
and the system frees them when the last process that has them is gone, however that ended. Arrays arrive read-only, as in a
cluster.
"""

from __future__ import annotations

import mmap
import os
import pickle
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from typing import Any

# Below this size a message is faster than a descriptor.
_SMALL = 2**16
# So that arrays begin where vector instructions like it.
_ALIGNMENT = 64
_create: Callable[[str], int] | None = getattr(os, "memfd_create", None)


class Shared:
    """A value whose arrays are in memory without a name."""

    def __init__(self, about: bytes, handle: int) -> None:
        self.about, self.handle = about, handle

    def __del__(self) -> None:
        os.close(self.handle)


Payload = bytes | Shared


def packed(value: Any) -> Payload:
    """A value as it is sent."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    raws = [buffer.raw() for buffer in buffers]
    if _create is None or sum(raw.nbytes for raw in raws) < _SMALL:
        return pickle.dumps((head, [bytes(raw) for raw in raws]))
    handle, spans, end = _create("taugraph"), [], 0
    for raw in raws:
        begin = end + -end % _ALIGNMENT
        _write_at(handle, raw, begin)
        end = begin + raw.nbytes
        spans.append((begin, end))
    # A last empty array may begin behind the last byte.
    os.truncate(handle, max(end, 1))
    return Shared(pickle.dumps((head, spans)), handle)


def _write_at(handle: int, data: memoryview, place: int) -> None:
    # One call writes at most 2 GB.
    while data.nbytes:
        written = os.pwrite(handle, data, place)
        data, place = data[written:], place + written


def unpacked(payload: Payload) -> Any:
    if isinstance(payload, bytes):
        head, values = pickle.loads(payload)
        return pickle.loads(head, buffers=values)
    head, spans = pickle.loads(payload.about)
    # The arrays keep the mapping, which ends with the last of them.
    mapped = memoryview(mmap.mmap(payload.handle, 0, access=mmap.ACCESS_READ))
    return pickle.loads(head, buffers=[mapped[begin:end] for begin, end in spans])


def send(connection: Connection, payload: Payload, pid: int) -> None:
    """Send to the process of this id."""
    if isinstance(payload, bytes):
        connection.send_bytes(b"b" + payload)
    else:
        connection.send_bytes(b"s" + payload.about)
        send_handle(connection, payload.handle, pid)


def receive(connection: Connection) -> Payload:
    data = connection.recv_bytes()
    return data[1:] if data[:1] == b"b" else Shared(data[1:], recv_handle(connection))
