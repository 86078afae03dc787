"""What every task of a run needs to know, in one document of the storage."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ._source import Source
from ._tasks import Context

if TYPE_CHECKING:
    from ._estimate import Estimate

PLAN = "plan.json"


@dataclass(frozen=True)
class Plan:
    """The input, the parameters and how the work is cut."""

    source: Source
    preset: str
    params: dict[str, Any]
    seed: int
    # Partitions: nodes that are together.
    n_parts: int
    # Rows of a chunk, a multiple of the rows of a block: what is read at a time before there are partitions.
    chunk_rows: int

    @property
    def n_chunks(self) -> int:
        return -(-self.source.n_rows // self.chunk_rows)

    def rows_of(self, chunk: int) -> tuple[int, int]:
        first = chunk * self.chunk_rows
        return first, min(first + self.chunk_rows, self.source.n_rows)

    @cached_property
    def config(self) -> _core.Config:
        return _core.Config(self.preset, self.params)

    @cached_property
    def k(self) -> int:
        """Neighbors of a node that some stage needs."""
        graph = self.config.get("graph")
        scale = graph["first_scale"].get("k", 1) if isinstance(graph["first_scale"], dict) else 1
        return int(max(graph["candidates"]["k"], graph["estimator"]["pool"], scale))

    @cached_property
    def estimate(self) -> Estimate:
        """What tasks reserve."""
        from ._estimate import Estimate

        return Estimate.of(self)

    def run_args(self, threads: int) -> tuple[int, int, None, None]:
        return self.seed, threads, None, None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Plan:
        source: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in found["source"].items()}
        return cls(**{**found, "source": Source(**source)})


_known: dict[tuple[str, str], Plan] = {}


def plan_of(context: Context, manifest: str) -> Plan:
    """The plan of a task. It is read once in a process."""
    key = context.storage.uri, manifest
    if key not in _known:
        _known[key] = Plan.from_json(context.storage.read_json(PLAN))
    return _known[key]


def grouped(keys: np.ndarray, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of each group in ascending order, one group after the other, and where each begins and the last one ends."""
    order = np.argsort(keys, kind="stable")
    return order, np.searchsorted(keys[order], np.arange(n_groups + 1))
