"""Small tasks and residents, in a module of their own so that workers can import them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from taugraph.distributed._tasks import Context


def square(context: Context, number: int) -> dict[str, Any]:
    context.write(f"squares/{number}", {"square": np.array([number * number])})
    return {"number": number, "square": number * number}


def total(context: Context, numbers: list[int]) -> dict[str, Any]:
    return {"total": int(sum(context.read(f"squares/{number}")["square"][0] for number in numbers))}


def log(context: Context, folder: str, number: int, seconds: float = 0.0) -> dict[str, Any]:
    """Leaves a line for each start, with the process that made it."""
    with open(Path(folder) / str(number), "a") as file:
        file.write(f"{os.getpid()}\n")
    if "TOY_NODE" in os.environ:
        (Path(folder) / os.environ["TOY_NODE"]).touch()
    time.sleep(seconds)
    return square(context, number)


def die(context: Context, folder: str, number: int, times: int) -> dict[str, Any]:
    """Kills its process at its first starts."""
    log(context, folder, number)
    if len((Path(folder) / str(number)).read_text().split()) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(context, number)


def fail(context: Context, number: int) -> dict[str, Any]:
    if number == 3:
        raise ValueError(f"number {number} is refused")
    return square(context, number)


def hungry(context: Context, folder: str, number: int, times: int) -> dict[str, Any]:
    """Runs out of memory at its first starts."""
    log(context, folder, number)
    if len((Path(folder) / str(number)).read_text().split()) <= times:
        raise MemoryError("no more")
    return square(context, number)


def spoiled(context: Context, number: int) -> dict[str, Any]:
    """Writes a shard of the right size that cannot be read, as a broken disk does."""
    result = square(context, number)
    data = context.storage.read(f"squares/{number}")
    context.storage.write(f"squares/{number}", [data[:-1], bytes([data[-1] ^ 1])])
    return result


def nap(context: Context, seconds: float) -> dict[str, Any]:
    time.sleep(seconds)
    return {}


def environment(context: Context, names: list[str]) -> dict[str, Any]:
    return {name: os.environ.get(name) for name in names}


class Counter:
    """A resident with a state."""

    def __init__(self, context: Context, start: int) -> None:
        self.context = context
        self.value = start

    def add(self, number: int) -> int:
        self.value += number
        return self.value

    def vector(self, size: int) -> np.ndarray:
        return np.full(size, float(self.value))

    def slices(self, sizes: list[int]) -> list[np.ndarray]:
        """A vector for each of several others."""
        if self.value < 0:
            raise ValueError("negative")
        return [np.full(size, 10.0 * self.value + number) for number, size in enumerate(sizes)]

    def gather(self, vectors: list[np.ndarray], last: np.ndarray) -> float:
        return float(sum(vector.sum() for vector in vectors) + last.sum())

    def pid(self) -> int:
        return os.getpid()

    def node(self) -> str:
        return os.environ.get("TOY_NODE", "")

    def refuse(self) -> None:
        raise ValueError(f"refused by {self.value}")

    def nap(self, seconds: float) -> None:
        time.sleep(seconds)

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def save(self, context: Context) -> None:
        context.write(f"checkpoint/{context.key}", {"value": np.array([self.value])})

    def load(self, context: Context) -> None:
        self.value = int(context.read(f"checkpoint/{context.key}")["value"][0])


def counter_of_square(context: Context, number: int) -> Counter:
    return Counter(context, int(context.read(f"squares/{number}")["square"][0]))
