"""Tables as files, for tests of what reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


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
