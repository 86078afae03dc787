"""Tasks: pure functions from shards to shards, with a record of each that is finished.

The record is written last. Whoever finds it, and every output with its size, need not run the task again; an interrupted run
resumes so.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import socket
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ._errors import DamagedShardError, StorageNotSharedError
from ._machine import PeakMemory, give_back, machine
from ._storage import Storage, read_token

Record = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A call whose outputs are shards.

    Parameters
    ----------
    key : str
        Its name, such as ``neighbors/search/00012``: what precedes the last slash is its stage.
    function : str
        ``module:name`` of a function at the top of a module, called as ``function(context, **arguments)``. It returns a small
        dictionary that fits into JSON.
    arguments : dict
        Values that fit into JSON; arrays go through the storage.
    memory : int
        Bytes to reserve for it.
    """

    key: str
    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    memory: int = 0

    @property
    def stage(self) -> str:
        return self.key.rpartition("/")[0] or self.key

    @property
    def record_name(self) -> str:
        return f"records/{self.key}.json"

    def fingerprint(self, manifest: str) -> str:
        """What the outputs depend on: the run's manifest, the function, the arguments."""
        try:
            text = json.dumps([manifest, self.function, self.arguments], sort_keys=True, separators=(",", ":"))
        except TypeError as error:
            raise TypeError(f"{self.key}: its arguments do not fit into JSON: {error}") from error
        return hashlib.sha256(text.encode()).hexdigest()


class Context:
    """What a task or a resident has of its run: the storage, its key, its threads."""

    def __init__(self, storage: Storage, key: str, threads: int = 1) -> None:
        self.storage, self.key, self.threads = storage, key, threads
        self.outputs: dict[str, dict[str, Any]] = {}
        self.bytes_read = 0
        self.bytes_written = 0

    def write(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Write a shard, which becomes one of the outputs in the record."""
        self.outputs[name] = self.storage.write_shard(name, arrays, self.key)
        self.bytes_written += self.outputs[name]["bytes"]

    def read(self, name: str) -> dict[str, np.ndarray]:
        """The arrays of a shard, read-only."""
        arrays = self.storage.read_shard(name)
        self.bytes_read += sum(array.nbytes for array in arrays.values())
        return arrays


@dataclass(frozen=True)
class Order:
    """A task on its way to a worker."""

    task: Task
    storage: Storage
    fingerprint: str
    token: str
    threads: int


@dataclass(frozen=True)
class Outcome:
    """How a start of a task ended. ``lost`` and ``memory`` also come from executors, for workers that died."""

    kind: Literal["done", "error", "memory", "damaged", "lost"]
    record: Record = field(default_factory=dict)
    error: BaseException | None = None
    reason: str = ""
    traceback: str = ""


def is_done(storage: Storage, task: Task, fingerprint: str) -> Record | None:
    """The record of this task if it was finished with this fingerprint and its outputs are there."""
    try:
        record: Record = storage.read_json(task.record_name)
        if record["fingerprint"] != fingerprint:
            return None
        if all(storage.size(name) == output["bytes"] for name, output in record["outputs"].items()):
            return record
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        # Not finished, or a file that is no record of ours.
        pass
    return None


def finished(storage: Storage, orders: Iterable[Order]) -> dict[str, Record]:
    """The records of those that are done, by key."""
    todo = list(orders)
    # An object store answers in tens of milliseconds, and there can be thousands of tasks.
    with ThreadPoolExecutor(16) as pool:
        records = pool.map(lambda order: is_done(storage, order.task, order.fingerprint), todo)
        return {order.task.key: record for order, record in zip(todo, records) if record is not None}


def records_of(storage: Storage) -> dict[str, Record]:
    """All records of a storage, by the keys of their tasks, whatever the run."""

    def read(name: str) -> Record | None:
        try:
            found = storage.read_json(name)
        except (FileNotFoundError, ValueError):
            # Removed since it was listed, or damaged: then its task is not done.
            return None
        return found if isinstance(found, dict) else None

    names = [name for name in storage.list("records") if name.endswith(".json")]
    with ThreadPoolExecutor(16) as pool:
        found = zip(names, pool.map(read, names))
        return {name.removeprefix("records/").removesuffix(".json"): record for name, record in found if record is not None}


_shared: set[tuple[str, str]] = set()


def check_token(storage: Storage, token: str) -> None:
    """Once per process and storage: this machine sees what the driver wrote."""
    if (storage.uri, token) not in _shared:
        reason = read_token(storage, token)
        if reason is not None:
            raise StorageNotSharedError(storage.uri, [socket.gethostname()], reason)
        _shared.add((storage.uri, token))


def load_function(name: str) -> Callable[..., Any]:
    """The function or class ``module:name``."""
    module, _, attribute = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return found


def run_task(order: Order) -> Outcome:
    """Run a task in this process. Its errors are part of the outcome: every executor hands them on in the same way."""
    try:
        check_token(order.storage, order.token)
        return Outcome("done", record=_run(order))
    except MemoryError as error:
        return _failed("memory", error)
    except DamagedShardError as error:
        return Outcome("damaged", error=error, reason=str(error), traceback=traceback.format_exc())
    except (Exception, SystemExit) as error:
        return _failed("error", error)


def _failed(kind: Literal["memory", "error"], error: BaseException) -> Outcome:
    return Outcome(kind, error=portable(error), reason=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())


def _run(order: Order) -> Record:
    task, context = order.task, Context(order.storage, order.task.key, order.threads)
    give_back()
    peak, wall, cpu = PeakMemory(), time.perf_counter(), time.process_time()
    result = load_function(task.function)(context, **task.arguments)
    if not isinstance(result, dict):
        raise TypeError(f"{task.function} returned {type(result).__name__}, not a dictionary")
    record: Record = {
        "fingerprint": order.fingerprint,
        "outputs": context.outputs,
        "result": json.loads(json.dumps(result)),
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_bytes": peak.bytes(),
        "base_bytes": peak.base,
        "bytes_read": context.bytes_read,
        "bytes_written": context.bytes_written,
        "ended": time.time(),
        "machine": machine(),
        "worker": f"{socket.gethostname()}:{os.getpid()}",
    }
    order.storage.write_json(task.record_name, record)
    return record


def portable(error: BaseException) -> BaseException | None:
    """The error if it survives pickling, which those with an ``__init__`` of their own may not."""
    import pickle

    try:
        copy = pickle.loads(pickle.dumps(error))
    except Exception:
        return None
    return copy if isinstance(copy, BaseException) else None
