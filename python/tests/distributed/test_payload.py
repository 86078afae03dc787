"""Values between processes of one machine: small and large ones."""

from __future__ import annotations

import os
import threading
from multiprocessing.connection import Pipe
from typing import Any

import numpy as np
import pytest

from taugraph.distributed._payload import Shared, packed, receive, send, unpacked


@pytest.mark.parametrize(
    "value",
    [
        None,
        {"a": [1, "b"]},
        np.arange(5),
        np.arange(100_000),
        [np.arange(33, dtype="u1"), np.arange(50_000.0).reshape(100, 500).T, np.empty(0), "x" * 100_000],
        np.arange(100_000)[::2],
        [np.arange(99_999, dtype="u1"), np.empty((0, 3))],
    ],
    ids=["none", "small", "small array", "large array", "many", "strided", "empty at the end"],
)
def test_values_arrive(value: Any) -> None:
    here, there = Pipe()
    sender = threading.Thread(target=send, args=(here, packed(value), os.getpid()))
    sender.start()
    found = unpacked(receive(there))
    sender.join()
    for one, other in zip(*(each if isinstance(each, list) else [each] for each in (found, value)), strict=True):
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype and np.array_equal(one, other) and one.flags.aligned
        else:
            assert one == other


def test_large_arrays_are_not_copied_and_are_freed() -> None:
    payload = packed(np.arange(100_000))
    assert isinstance(payload, Shared)
    before = len(os.listdir("/proc/self/fd"))
    first, second = unpacked(payload), unpacked(payload)
    assert not first.flags.writeable and first.sum() == second.sum()
    del payload, second
    assert first[-1] == 99_999
    del first
    assert len(os.listdir("/proc/self/fd")) == before - 1
