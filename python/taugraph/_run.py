"""What belongs to a run rather than to the method: seed, threads, memory, progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._config import whole

Listener = Callable[[str, int, "int | None"], None]
RunArgs = tuple[int, int, "int | None", "Listener | None"]


def seed_of(random_state: Any) -> int:
    """A seed: the number itself, or a draw from a generator."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state = {random_state}: must be at least 0 and below 2**64")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    # Not at the top: what only draws points does without scikit-learn.
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


def threads_of(n_jobs: int | None) -> int:
    """Threads for scikit-learn's ``n_jobs``: ``None`` and -1 use all cores, which changes no result."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if isinstance(n_jobs, bool) or int(n_jobs) != n_jobs or n_jobs == 0:
        raise ValueError(f"n_jobs = {n_jobs}: must be a whole number, and not 0")
    if n_jobs < 0:
        return max((os.cpu_count() or 1) + 1 + n_jobs, 1)
    return int(n_jobs)


class _Bar:
    """A tqdm bar for each stage, or a line if tqdm is not installed."""

    def __init__(self) -> None:
        self.stage: str | None = None
        self.bar: Any = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self.tqdm: Any = None
        else:
            self.tqdm = tqdm

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if stage != self.stage:
            self.close()
            self.stage = stage
            if self.tqdm is None:
                print(f"taugraph: {stage}", file=sys.stderr)
            else:
                self.bar = self.tqdm(desc=stage, total=total, leave=False)
        if self.bar is not None:
            self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


@contextmanager
def running(random_state: Any, n_jobs: int | None, verbose: int | bool, memory_limit: int | None) -> Iterator[RunArgs]:
    """The arguments of a native call; the bars are closed when it ends."""
    limit = None if memory_limit is None else whole("memory_limit", memory_limit)
    bar = _Bar() if verbose else None
    try:
        yield (seed_of(random_state), threads_of(n_jobs), limit, bar)
    finally:
        if bar is not None:
            bar.close()
