"""Tables in Parquet files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def points(n: int = 1500, d: int = 8) -> np.ndarray:
    rng = np.random.default_rng(4)
    return rng.normal(size=(n, d)) * rng.uniform(0.5, 20, d) + 9 * rng.integers(3, size=(n, 1))


def written(X: np.ndarray, folder: Path, n_files: int = 3) -> str:
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(np.array_split(X, n_files)):
        table = pa.table({f"x{column}": rows[:, column] for column in range(X.shape[1])})
        pq.write_table(table, folder / f"part-{number}.parquet", row_group_size=300)
    return str(folder)
