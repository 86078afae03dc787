"""The input: Parquet files with numeric columns, or with one list column, in a folder, a bucket or by a pattern."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._errors import InputError, MissingDependencyError, counted
from ._places import Folder
from ._storage import place_of


@dataclass(frozen=True)
class Source:
    """Rows of some files, in the order of their names."""

    uri: str
    files: tuple[str, ...]
    rows: tuple[int, ...]
    columns: tuple[str, ...]
    is_list: bool
    is_single: bool
    # Numbers in a row: those of the list, if there is one list column.
    width: int
    # Rows of the largest row group, which is read as a whole.
    group_rows: int
    # Size and time of change of each file: other files are another input.
    stamps: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        return sum(self.rows)

    def read(self, first: int, last: int) -> np.ndarray:
        """The numbers of these rows: NaN where a cell is missing."""
        import pyarrow.parquet as pq

        system, _ = _file_system(self.uri)
        parts, begin = [], 0
        for file, n_rows in zip(self.files, self.rows):
            low, high = max(first, begin), min(last, begin + n_rows)
            if low < high:
                with _named_errors(file), pq.ParquetFile(file, filesystem=system) as opened:
                    parts.append(self._rows_of(opened, low - begin, high - begin))
            begin += n_rows
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _rows_of(self, opened: Any, first: int, last: int) -> np.ndarray:
        """Only the row groups that hold these rows are read."""
        groups: list[int] = []
        begin, skipped = 0, 0
        for group in range(opened.metadata.num_row_groups):
            end = begin + opened.metadata.row_group(group).num_rows
            if end > first and begin < last:
                skipped = skipped if groups else begin
                groups.append(group)
            begin = end
        table = opened.read_row_groups(groups, columns=list(self.columns)).slice(first - skipped, last - first)
        dtype = np.float32 if self.is_single else np.float64
        if self.is_list:
            return _list_rows(table.column(0), dtype, self.columns[0])
        return np.column_stack([column.to_numpy().astype(dtype, copy=False) for column in table.columns])


def open_source(uri: str, columns: list[str] | None = None) -> Source:
    """Look at all files that a path, a folder or a pattern names."""
    import pyarrow.parquet as pq

    with _named_errors(uri):
        system, path = _file_system(uri)
        found = _files(system, path)
    files = [info.path for info in found]
    if not files:
        raise InputError(f"{uri}: no Parquet file is there")

    def metadata_of(file: str) -> Any:
        with _named_errors(file):
            return pq.read_metadata(file, filesystem=system)

    # An object store answers in tens of milliseconds, and there can be thousands of files.
    with ThreadPoolExecutor(16) as pool:
        metadata = list(pool.map(metadata_of, files))
    schema = metadata[0].schema.to_arrow_schema()
    chosen = _chosen(schema, columns, uri)
    for file, each in zip(files[1:], metadata[1:]):
        other = each.schema.to_arrow_schema()
        differing = [name for name in chosen if name not in other.names or other.field(name).type != schema.field(name).type]
        if differing:
            raise InputError(f"{file}: column {differing[0]!r} is missing or of another type than in {files[0]}")
    is_list = len(chosen) == 1 and _is_list(schema.field(chosen[0]).type)
    types = [schema.field(name).type for name in chosen]
    is_single = all(_is_single(kind.value_type if is_list else kind) for kind in types)
    rows = tuple(each.num_rows for each in metadata)
    if not sum(rows):
        raise InputError(f"{uri}: there are no rows")
    _refuse_missing(uri, metadata, chosen)
    largest = max(each.row_group(group).num_rows for each in metadata for group in range(each.num_row_groups))
    source = Source(uri, tuple(files), rows, tuple(chosen), is_list, is_single, len(chosen), largest, tuple(f"{info.size} {info.mtime_ns}" for info in found))
    if is_list:
        kind = schema.field(chosen[0]).type
        # Only lists of a fixed size say it in the schema.
        source = replace(source, width=kind.list_size if hasattr(kind, "list_size") else source.read(0, 1).shape[1])
    return source


def _refuse_missing(uri: str, metadata: Sequence[Any], columns: Sequence[str]) -> None:
    """Files usually say how many cells are missing; then nothing has to be read to refuse them."""
    missing = dict.fromkeys(columns, 0)
    for each in metadata:
        for group in range(each.num_row_groups):
            described = each.row_group(group)
            for place in range(described.num_columns):
                cells = described.column(place)
                # The numbers of a list are in "name.list.element".
                name = cells.path_in_schema if cells.path_in_schema in missing else cells.path_in_schema.partition(".")[0]
                if name in missing and cells.is_stats_set and cells.statistics.has_null_count:
                    missing[name] += cells.statistics.null_count
    filled = {name: count for name, count in missing.items() if count}
    if filled:
        first = next(iter(filled))
        others = f", and {counted(len(filled) - 1, 'other column')} {sum(filled.values()) - filled[first]}" if len(filled) > 1 else ""
        raise InputError(f"{uri}: column {first!r} has {counted(filled[first], 'missing cell')}{others}: fill them first")


@contextmanager
def _named_errors(file: str) -> Iterator[None]:
    """Errors of pyarrow, and of addresses, as errors of the input with the file."""
    try:
        yield
    except (InputError, MissingDependencyError):
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error


def _file_system(uri: str) -> tuple[Any, str]:
    """The file system of pyarrow, and the path there."""
    import pyarrow.fs as fs

    place: Any = place_of(uri)
    if isinstance(place, Folder):
        return fs.LocalFileSystem(), str(place.path)
    return place.fs, place.path


def _files(system: Any, path: str) -> list[Any]:
    """What is known of each file, in the order of their names."""
    import pyarrow.fs as fs

    folder, _, pattern = path.rpartition("/")
    if any(sign in pattern for sign in "*?["):
        found = system.get_file_info(fs.FileSelector(folder))
        return sorted((info for info in found if info.is_file and fnmatch.fnmatch(info.base_name, pattern)), key=lambda info: info.path)
    info = system.get_file_info(path)
    if info.is_file:
        return [info]
    found = system.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    return sorted((info for info in found if info.is_file and info.base_name.endswith(".parquet")), key=lambda info: info.path)


def _chosen(schema: Any, columns: list[str] | None, uri: str) -> list[str]:
    import pyarrow.types as types

    if columns is not None:
        unknown = [name for name in columns if name not in schema.names]
        if unknown:
            raise InputError(f"{uri}: there is no column {unknown[0]!r}; it has {', '.join(schema.names)}")
    names = columns or schema.names
    lists = [name for name in names if _is_list(schema.field(name).type)]
    if len(lists) == 1 and (columns is None or len(names) == 1):
        return lists
    other = [name for name in names if not _is_number(schema.field(name).type)]
    if columns is not None and other:
        raise InputError(f"{uri}: column {other[0]!r} is {schema.field(other[0]).type}, not a number")
    numbers = [name for name in names if types.is_floating(schema.field(name).type) or types.is_integer(schema.field(name).type)]
    if not numbers:
        raise InputError(f"{uri}: no numeric column and no list column")
    return numbers


def _is_list(kind: Any) -> bool:
    import pyarrow.types as types

    return any(test(kind) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list)) and _is_number(kind.value_type)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_floating(kind) or types.is_integer(kind))


def _is_single(kind: Any) -> bool:
    import pyarrow as pa

    return kind in (pa.float16(), pa.float32(), pa.int8(), pa.uint8())


def _list_rows(column: Any, dtype: Any, name: str) -> np.ndarray:
    """A list column as a table; every list must have as many numbers."""
    import pyarrow.compute as pc

    column = column.combine_chunks()
    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    if not len(lengths) or np.any(lengths != lengths[0]):
        raise InputError(f"column {name!r}: its lists have different lengths, or some are missing")
    flat: np.ndarray = pc.list_flatten(column).to_numpy(zero_copy_only=False)
    return flat.astype(dtype, copy=False).reshape(len(lengths), -1)
