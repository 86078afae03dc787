"""Points, graphs and labels in all supported forms."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from .exceptions import BadConstraintError, BadDistanceError, LengthError, NotSymmetricError

Csr = tuple[np.ndarray, np.ndarray, np.ndarray]

#: Types that single precision holds: floating-point numbers of up to four bytes, and one byte of anything.
_SINGLE = {"float32", "float16", "int8", "uint8", "bool", "boolean"}


def unwrapped(X: Any) -> tuple[Any, list[str] | None]:
    """Converts Arrow data behind the PyCapsule interface, and tables with columns of lists, to an array with column names; anything
    else stays as it is. A list is a block of columns: ``name[0]``, ``name[1]``, …"""
    package = type(X).__module__.split(".")[0]
    if package == "pandas" and hasattr(X, "columns") and any(map(_has_lists, _cells_of_objects(X))):
        return side_by_side([(str(name), X[name].to_numpy()) for name in X.columns], len(X))
    known = hasattr(X, "__array__") or isinstance(X, (list, tuple)) or sp.issparse(X)
    is_nested = package == "polars" and any(str(dtype).startswith(("List(", "Array(")) for dtype in _types(X))
    if (known and package != "pyarrow" and not is_nested) or not hasattr(X, "__arrow_c_stream__"):
        return X, None
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError("Arrow tables need pyarrow: pip install pyarrow") from None
    table = pa.table(X)
    columns = zip(table.column_names, table.columns, strict=True)
    return side_by_side([(name, _of_arrow(name, column)) for name, column in columns], table.num_rows)


def side_by_side(columns: list[tuple[str, np.ndarray]], n_rows: int) -> tuple[np.ndarray, list[str]]:
    """Columns of numbers, of lists of the same length, and blocks of columns, as one array with names."""
    names: list[str] = []
    blocks = []
    for name, cells in columns:
        block = _stacked(name, cells) if cells.dtype == object and _has_lists(cells) else cells
        blocks.append(block)
        names += [name] if block.ndim == 1 else [f"{name}[{place}]" for place in range(block.shape[1])]
    if len(blocks) == 1 and blocks[0].ndim == 2:
        return blocks[0], names
    return np.column_stack(blocks) if blocks else np.empty((n_rows, 0)), names


def _cells_of_objects(X: Any) -> list[np.ndarray]:
    """The cells of the columns of a frame that can be anything."""
    return [X.iloc[:, place].to_numpy() for place, dtype in enumerate(X.dtypes) if _may_be_lists(dtype)]


def _may_be_lists(dtype: Any) -> bool:
    return bool(dtype == object) or "list<" in str(dtype)


def _has_lists(cells: np.ndarray) -> bool:
    """Whether the first cell that is not missing is a list."""
    known = (cell for cell in cells if cell is not None and not (np.isscalar(cell) and cell != cell))
    return isinstance(next(known, None), (list, tuple, np.ndarray))


def _stacked(name: str, cells: np.ndarray) -> np.ndarray:
    """Lists of numbers as rows; missing ones are NaN."""
    is_list = np.array([isinstance(cell, (list, tuple, np.ndarray)) for cell in cells], dtype=bool)
    lists = [np.asarray(cell) for cell in cells[is_list]]
    _check_lengths(name, np.flatnonzero(is_list), np.array([len(one) for one in lists]))
    rows = np.stack(lists)
    if rows.dtype == object:
        rows = rows.astype(np.float64)
    return _with_gaps(rows, is_list)


def _of_arrow(name: str, column: Any) -> np.ndarray:
    """A column of Arrow as NumPy has it: one of lists is a block of columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    is_list = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    if not any(is_it(column.type) for is_it in is_list):
        return np.asarray(column.to_numpy())
    cells = column.combine_chunks()
    # Older versions give a single chunk as a list of chunks.
    cells = cells.chunk(0) if isinstance(cells, pa.ChunkedArray) else cells
    known = np.asarray(cells.is_valid())
    lengths = np.asarray(pc.list_value_length(cells.drop_null()))
    _check_lengths(name, np.flatnonzero(known), lengths)
    flat = pc.list_flatten(cells).to_numpy(zero_copy_only=False)
    if flat.dtype.kind not in "fiub":
        raise TypeError(f"column '{name}': the elements of its lists are not numbers")
    return _with_gaps(flat.reshape(int(known.sum()), -1) if len(flat) else np.empty((len(lengths), 1)), known)


def _check_lengths(name: str, rows: np.ndarray, lengths: np.ndarray) -> None:
    """Lists of one column have the same length."""
    others = np.flatnonzero(lengths != lengths[:1])
    if len(others):
        row, found = rows[others[0]], lengths[others[0]]
        raise ValueError(
            f"column '{name}', row {row}: the list has {found} numbers, but the first one has {lengths[0]}; "
            "lists of the same length are needed"
        )


def _with_gaps(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Rows where they are known, and NaN where they are not."""
    if known.all():
        return rows
    kind = rows.dtype if rows.dtype.kind == "f" else np.float32 if rows.dtype.itemsize == 1 else np.float64
    filled = np.full((len(known), rows.shape[1]), np.nan, dtype=kind)
    filled[known] = rows
    return filled


def precision_of(X: Any) -> Any:
    """float32 for what single precision holds, otherwise float64."""
    types = [str(dtype).lower() for dtype in _types(X)]
    return np.float32 if types and all(name in _SINGLE for name in types) and not sp.issparse(X) else np.float64


def plain(X: Any) -> Any:
    """The same input without what NumPy and scipy would misread: masked cells become missing ones, dates and broken sparse matrices are refused."""
    if isinstance(X, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(X), np.nan, X.data)
    if sp.issparse(X):
        checked_indices(X)
        return X
    if any(str(dtype).lower().startswith(("date", "time", "duration")) for dtype in _types(X)):
        raise TypeError("dates, times and durations are not numbers: convert them first, for example to days since a date")
    return X


def _types(X: Any) -> list[Any]:
    """The types of an array, or of the columns of a frame."""
    dtypes = getattr(X, "dtypes", None)
    return [getattr(X, "dtype", None)] if dtypes is None else list(dtypes) if hasattr(dtypes, "__iter__") else [dtypes]


def checked_indices(matrix: Any) -> None:
    """Refuses a sparse matrix whose indices point outside of it: scipy's own routines would read there."""
    if matrix.format in ("csr", "csc", "bsr"):
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"the sparse matrix is broken: {error}") from None
    elif matrix.format == "coo":
        for ids, length in zip((matrix.row, matrix.col), matrix.shape, strict=True):
            if len(ids) != len(matrix.data) or (len(ids) and (ids.min() < 0 or ids.max() >= length)):
                raise ValueError("the sparse matrix is broken: an entry lies outside of it")


def as_points(estimator: Any, X: Any, *, reset: bool, allow_nan: bool, is_precomputed: bool = False) -> Any:
    """Points as row-major float64 or float32, or as a CSR matrix; not copied if they already are. Whatever is precomputed is float64."""
    if _needs_no_conversion(estimator, X, reset=reset, allow_nan=allow_nan, is_precomputed=is_precomputed):
        if reset:
            estimator.n_features_in_ = X.shape[1]
        return X
    X, names = unwrapped(X)
    X = plain(X)
    rules: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": np.float64 if is_precomputed else precision_of(X),
        "order": "C",
        "ensure_all_finite": "allow-nan" if allow_nan else True,
        "ensure_min_samples": 2 if reset else 1,
    }
    if names is None:
        checked = validate_data(estimator, X, reset=reset, **rules)
    else:
        checked = check_array(X, estimator=estimator, **rules)
        remember_columns(estimator, names, reset=reset)
    if sp.issparse(checked) and not np.isfinite(checked.data).all():
        raise ValueError("Input X contains NaN or infinity: a sparse matrix has no missing cells.")
    return checked


def _needs_no_conversion(estimator: Any, X: Any, *, reset: bool, allow_nan: bool, is_precomputed: bool) -> bool:
    """Whether ``validate_data`` would return this array as it is. It takes longer than all else that a fit of 200 rows does in Python; whatever it
    would convert, or refuse, is left to it."""
    if type(X) is not np.ndarray or X.ndim != 2 or not X.flags.c_contiguous:
        return False
    if X.dtype != np.float64 and (is_precomputed or X.dtype != np.float32):
        return False
    if len(X) < (2 if reset else 1) or X.shape[1] == 0 or hasattr(estimator, "feature_names_in_"):
        return False
    if not reset and X.shape[1] != getattr(estimator, "n_features_in_", None):
        return False
    # One number instead of a table of truth values; a sum that overflows is left to the other check, too.
    with np.errstate(over="ignore", invalid="ignore"):
        total = X.sum()
    return bool(np.isfinite(total)) or (allow_nan and not bool(np.isinf(X).any()))


def remember_columns(estimator: Any, names: list[str], *, reset: bool) -> None:
    """What ``validate_data`` does for tables whose column names it can read."""
    if reset:
        estimator.n_features_in_ = len(names)
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif len(names) != estimator.n_features_in_:
        name, expected = type(estimator).__name__, estimator.n_features_in_
        raise ValueError(f"X has {len(names)} features, but {name} is expecting {expected} features as input.")
    elif list(getattr(estimator, "feature_names_in_", names)) != names:
        raise ValueError("The feature names should match those that were passed during fit.")


def as_table(X: Any) -> np.ndarray:
    """The same for functions, which have no state."""
    X, _ = unwrapped(X)
    X = plain(X)
    return np.asarray(check_array(X, dtype=precision_of(X), order="C", ensure_min_samples=2), order="C")


def csr_parts(matrix: Any) -> Csr:
    """Offsets, columns and values in the library's integer widths."""
    matrix = sp.csr_array(matrix)
    checked_indices(matrix)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.shape[1] > np.iinfo(np.int32).max:
        raise ValueError("there are more columns than 32-bit integers can index")
    return (
        np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        np.ascontiguousarray(matrix.indices, dtype=np.int32),
        np.ascontiguousarray(matrix.data, dtype=np.float64),
    )


def as_graph(graph: Any, tolerance: float = 1e-10) -> Csr:
    """A symmetric matrix of weights. Asymmetry from rounding is averaged out."""
    graph = plain(graph)
    matrix = sp.csr_array(graph).astype(np.float64)
    if matrix.shape[0] != matrix.shape[1]:
        raise LengthError(f"a graph is a square matrix, but this one has the shape {matrix.shape}")
    transposed = matrix.T.tocsr()
    difference = abs(matrix - transposed)
    largest = abs(matrix.data).max() if matrix.nnz else 0.0
    if difference.nnz and difference.max() > tolerance * largest:
        i, j = np.argwhere(difference.toarray() > tolerance * largest)[0] if matrix.shape[0] <= 2000 else (0, 0)
        where = f"entry ({i}, {j}) and its mirror image differ; " if matrix.shape[0] <= 2000 else ""
        raise NotSymmetricError(f"{where}the matrix must be symmetric")
    if difference.nnz and difference.max() > 0:
        matrix = ((matrix + transposed) / 2).tocsr()
    return csr_parts(matrix)


def symmetric_distances(distances: np.ndarray) -> np.ndarray:
    """The same distances with asymmetry from rounding averaged out; larger differences are refused later."""
    if distances.shape[0] != distances.shape[1]:
        raise LengthError(f"distances are a square matrix, but this one has the shape {distances.shape}")
    difference = np.abs(distances - distances.T).max()
    if 0 < difference <= 1e-10 * np.abs(distances).max():
        return np.ascontiguousarray((distances + distances.T) / 2)
    return distances


def neighbors_of(distances: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ids and distances, nearest first, from a sparse matrix with the same number of neighbors in every row."""
    matrix = sp.coo_array(plain(distances))
    if matrix.shape[0] != matrix.shape[1]:
        raise LengthError(f"distances are a square matrix, but this one has the shape {matrix.shape}")
    if matrix.nnz and not matrix.data.min() >= 0:
        raise BadDistanceError("a distance is negative or not a number")
    others = matrix.row != matrix.col
    n = matrix.shape[0]
    matrix = sp.csr_array((matrix.data[others], (matrix.row[others], matrix.col[others])), shape=(n, n))
    counts = np.diff(matrix.indptr)
    if len(set(counts.tolist())) != 1 or counts[0] == 0:
        raise ValueError(
            "a sparse matrix of distances must have the same number of neighbors in every row; make it with "
            'taugraph.knn_graph(X, mode="distance") or sklearn.neighbors.kneighbors_graph'
        )
    k = int(counts[0])
    ids = matrix.indices.reshape(-1, k).astype(np.uint32)
    values = matrix.data.reshape(-1, k)
    order = np.lexsort((ids, values), axis=1)
    return np.ascontiguousarray(np.take_along_axis(ids, order, 1)), np.ascontiguousarray(np.take_along_axis(values, order, 1))


def as_csr(parts: Csr, shape: tuple[int, int]) -> sp.csr_matrix:
    """A scipy matrix around the library's arrays."""
    indptr, indices, data = parts
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sp.csr_matrix((data, indices, indptr), shape=shape)


def as_pairs(name: str, pairs: Any) -> np.ndarray | None:
    """Pairs of row numbers."""
    if pairs is None:
        return None
    found = np.asarray(pairs)
    if found.size == 0:
        return None
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(f"{name}: an array of pairs of row numbers is needed, with two columns of whole numbers")
    outside = (found < 0) | (found > np.iinfo(np.uint32).max)
    if outside.any():
        i, j = found[outside.any(axis=1)][0]
        raise BadConstraintError(f"the pair of rows {i} and {j}: a row does not exist")
    return np.ascontiguousarray(found, dtype=np.uint32)


def encoded_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Class of each row (-1 without one) and the classes. Labels of -1, None, NaN and pandas' NA mean no class."""
    # NumPy would turn a list that mixes names with -1 into names altogether.
    mixed = isinstance(y, (list, tuple)) or y.__class__.__module__.split(".")[0] in ("pandas", "polars")
    y = np.asarray(y, dtype=object) if mixed else np.asarray(y)
    # scikit-learn's check, which such an array passes, takes longer than all of the following.
    if y.ndim != 1 or y.dtype.kind not in "iub":
        y = column_or_1d(y, warn=True)
    if y.dtype.kind in "US":
        known = np.ones(len(y), dtype=bool)
    elif y.dtype.kind in "fiub":
        known = (y == y) & ((y != -1) if y.dtype.kind in "fi" else True)
    else:
        known = np.array([not _is_gap(label) for label in y], dtype=bool)
    labels = _narrowed(y[known])
    classes, codes = np.unique(labels, return_inverse=True)
    encoded = np.full(len(y), -1, dtype=np.int64)
    encoded[known] = codes
    return encoded, classes


def _is_gap(label: Any) -> bool:
    """Whether this stands for a missing label."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    is_number = isinstance(label, (numbers.Real, np.floating, np.integer)) and not isinstance(label, (bool, np.bool_))
    return is_number and bool(label != label or label == -1)


def _narrowed(labels: np.ndarray) -> np.ndarray:
    """Labels of one type as an array of that type."""
    if labels.dtype != object:
        return labels
    kinds = {"name" if isinstance(label, str) else "truth" if isinstance(label, (bool, np.bool_)) else "other" for label in labels}
    if len(kinds) > 1:
        raise TypeError("labels must be all names, all numbers or all truth values")
    return np.asarray(labels.tolist())


def decoded_labels(codes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Classes by code; without a class, -1 for numeric classes and None for others."""
    if not (codes < 0).any():
        return np.asarray(classes[codes])
    if classes.dtype.kind in "if":
        out = np.full(codes.shape, -1, dtype=classes.dtype)
    else:
        out = np.full(codes.shape, None, dtype=object)
    out[codes >= 0] = classes[codes[codes >= 0]]
    return out
