"""Tables as files, for tests of what reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from taugraph import _core
from taugraph.distributed._executor import BaseExecutor
from taugraph.distributed._graph import attach, build_graph
from taugraph.distributed._plan import Plan
from taugraph.distributed._source import open_source
from taugraph.distributed._storage import Storage


def points(n: int = 1500, d: int = 8) -> np.ndarray:
    """Three bands with columns of different width."""
    rng = np.random.default_rng(4)
    return rng.normal(size=(n, d)) * rng.uniform(0.5, 20, d) + 9 * rng.integers(3, size=(n, 1))


def groups(n: int, d: int, seed: int = 4) -> np.ndarray:
    """Rows in five groups."""
    rng = np.random.default_rng(seed)
    centers = 8 * rng.normal(size=(5, d))
    return rng.normal(size=(n, d)) + centers[rng.integers(5, size=n)]


def written(X: np.ndarray, folder: Path, n_files: int = 2, row_group_size: int = 20_000) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(np.array_split(X, n_files)):
        table = pa.table({f"x{column}": np.ascontiguousarray(rows[:, column]) for column in range(X.shape[1])})
        pq.write_table(table, folder / f"part-{number}.parquet", row_group_size=row_group_size)
    return str(folder)


def graph_of(
    executor: BaseExecutor,
    uri: str,
    storage: Storage,
    n_parts: int,
    *,
    params: dict[str, Any] | None = None,
    seed: int = 0,
    progress: Any = None,
) -> dict[str, Any]:
    """The graph alone, with chunks of one block."""
    plan = Plan(open_source(uri), "robust", params or {}, seed, n_parts, _core.block_rows())
    return build_graph(executor, plan, attach(executor, plan, storage, progress))
