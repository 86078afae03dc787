"""Shards: named arrays in one file, in the layout of safetensors.

Eight bytes with the length of the header, the header in JSON (type, shape and place of each array), then the raw bytes of the
arrays, all little-endian. The same arrays always give the same bytes, so that two attempts at a task write the same file. The
header has a checksum of the data and one of itself: a file that a killed machine or a failing disk changed is never taken for
data.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._core import __version__
from ._errors import DamagedShardError

_TYPES = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("<u1"),
    "I8": np.dtype("<i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_LENGTH = 8


class Encoded(NamedTuple):
    """A shard in memory: write the chunks one after the other."""

    chunks: list[bytes | memoryview]
    bytes: int
    sha256: str


def encode(arrays: Mapping[str, np.ndarray], task: str) -> Encoded:
    """The file with these arrays, written by the task of this key."""
    ready = {name: _little_endian(name, array) for name, array in arrays.items()}
    # Wide types first, as safetensors does: then every array begins at a multiple of its item size.
    order = sorted(ready, key=lambda name: (-ready[name].itemsize, name))
    digest, chunks, table, begin = hashlib.sha256(), [], {}, 0
    for name in order:
        array = ready[name]
        chunk = array.reshape(-1).view(np.uint8).data
        digest.update(chunk)
        chunks.append(chunk)
        end = begin + array.nbytes
        table[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
        begin = end
    about = {"sha256": digest.hexdigest(), "task": task, "version": __version__}
    about["header_sha256"] = _header_sum(table, about)
    header = _canonical({"__metadata__": about, **table})
    # Spaces up to a multiple of eight, for the arrays' alignment.
    header += b" " * (-len(header) % _LENGTH)
    start = len(header).to_bytes(_LENGTH, "little") + header
    return Encoded([start, *chunks], len(start) + begin, about["sha256"])


def decode(data: bytes, name: str) -> dict[str, np.ndarray]:
    """The arrays of the shard of this name, read-only and without a copy."""
    about, table, start = _read_header(data, name)
    task = about["task"]
    body = memoryview(data)[start:]
    found = hashlib.sha256(body).hexdigest()
    if found != about["sha256"]:
        raise DamagedShardError(name, task, f"checksum {found} of its {len(body)} bytes of data, expected {about['sha256']}")
    arrays = {}
    for key in sorted(table):
        entry = table[key]
        dtype, (begin, _) = _TYPES[entry["dtype"]], entry["data_offsets"]
        size = math.prod(entry["shape"])
        # NumPy refuses to begin at the end of the data, as an empty array does.
        flat = np.frombuffer(data, dtype, size, start + begin) if size else np.empty(0, dtype)
        flat.flags.writeable = False
        arrays[key] = flat.reshape(entry["shape"])
    return arrays


def _little_endian(name: str, array: np.ndarray) -> np.ndarray:
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<")
    if name == "__metadata__" or dtype not in _NAMES:
        raise TypeError(
            f"array {name!r} of type {array.dtype}: only truth values, integers and floats of up to 64 bits can be stored"
        )
    # ascontiguousarray alone would turn a single number into a vector.
    return np.ascontiguousarray(array, dtype).reshape(array.shape)


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _header_sum(table: dict[str, Any], about: dict[str, str]) -> str:
    """Checksum of the header: an altered shape or name would leave the checksum of the data as it is."""
    kept = {key: value for key, value in about.items() if key != "header_sha256"}
    return hashlib.sha256(_canonical([kept, table])).hexdigest()


def _read_header(data: bytes, name: str) -> tuple[dict[str, str], dict[str, Any], int]:
    """What is known about the shard, its table, and where its data begin."""
    if len(data) < _LENGTH:
        raise DamagedShardError(name, None, f"{len(data)} bytes, a shard has at least {_LENGTH}")
    start = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    if start > len(data):
        raise DamagedShardError(name, None, f"{len(data)} bytes, the header alone ends at {start}")
    try:
        table = json.loads(bytes(data[_LENGTH:start]))
        about = table.pop("__metadata__")
        expected, found = about["header_sha256"], _header_sum(table, about)
        task = about["task"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DamagedShardError(name, None, f"its header of {start - _LENGTH} bytes cannot be read: {error!r}") from error
    # The rest of the header is as it was written if its checksum is right.
    if found != expected:
        raise DamagedShardError(name, None, f"checksum {found} of its header, expected {expected}")
    end = start + max((entry["data_offsets"][1] for entry in table.values()), default=0)
    if end != len(data):
        raise DamagedShardError(name, task, f"{len(data)} bytes, expected {end}")
    return about, table, start
