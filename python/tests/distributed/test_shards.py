"""Shards: what is written is read; what was changed is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from taugraph.distributed import DamagedShardError
from taugraph.distributed._shards import decode, encode

TYPES = ["?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"]


def some_arrays(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    arrays = {f"array of {name}": (rng.random((3, 5)) * 2).astype(name) for name in TYPES}
    special = {"empty": np.empty((0, 4)), "number": np.array(2.5), "odd": np.arange(7, dtype="u1"), "ümlaut": np.arange(2)}
    return {**arrays, **special}


def file_of(arrays: dict[str, np.ndarray], task: str = "stage/0") -> bytes:
    return b"".join(encode(arrays, task).chunks)


def test_every_type_comes_back() -> None:
    arrays, encoded = some_arrays(), encode(some_arrays(), "stage/0")
    data = b"".join(encoded.chunks)
    assert len(data) == encoded.bytes
    found = decode(data, "x")
    assert list(found) == sorted(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert np.array_equal(found[name], array)
        assert not found[name].flags.writeable and found[name].flags.aligned
        if array.size:
            assert np.shares_memory(found[name], np.frombuffer(data, np.uint8))


def test_the_bytes_depend_on_the_arrays_alone() -> None:
    arrays = some_arrays()
    for_order = dict(reversed(arrays.items()))
    transposed = {name: np.asfortranarray(array) if array.ndim == 2 else array for name, array in arrays.items()}
    big_endian = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in arrays.items()}
    for same in (for_order, transposed, big_endian):
        assert file_of(same) == file_of(arrays)


def test_the_layout_is_that_of_safetensors() -> None:
    data = file_of({"b": np.arange(3, dtype="u1"), "a": np.arange(4.0).reshape(2, 2)})
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert length % 8 == 0
    assert header["a"] == {"dtype": "F64", "shape": [2, 2], "data_offsets": [0, 32]}
    assert header["b"] == {"dtype": "U8", "shape": [3], "data_offsets": [32, 35]}
    assert header["__metadata__"]["task"] == "stage/0"
    assert all(isinstance(value, str) for value in header["__metadata__"].values())


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.array([1j]), np.array(["2020-01-01"], "M8[D]")])
def test_other_types_are_refused(array: np.ndarray) -> None:
    with pytest.raises(TypeError, match="'x' of type"):
        encode({"x": array}, "stage/0")


def test_every_cut_is_noticed() -> None:
    data = file_of({"a": np.arange(4.0), "b": np.arange(3, dtype="u1")})
    for length in range(len(data)):
        with pytest.raises(DamagedShardError, match="squares/1"):
            decode(data[:length], "squares/1")
    with pytest.raises(DamagedShardError):
        decode(data + b"\0", "squares/1")


def test_a_flipped_bit_is_noticed_or_harmless() -> None:
    arrays = {"a": np.arange(4.0), "b": np.arange(3, dtype="u1"), "c": np.ones((2, 3), "f4")}
    data, rng, noticed = file_of(arrays), np.random.default_rng(1), 0
    for place in rng.integers(8 * len(data), size=500):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        try:
            found = decode(bytes(changed), "x")
        except DamagedShardError:
            noticed += 1
            continue
        assert set(found) == set(arrays)
        for name, array in arrays.items():
            assert (found[name].shape, found[name].dtype) == (array.shape, array.dtype)
            assert found[name].tobytes() == array.tobytes()
    # Harmless are only the spaces after the header.
    assert noticed > 450


def test_the_error_names_the_writer() -> None:
    data = bytearray(file_of({"a": np.arange(4.0)}, "search/00012"))
    data[-1] ^= 1
    with pytest.raises(DamagedShardError) as error:
        decode(bytes(data), "x")
    assert error.value.task == "search/00012" and "32 bytes" in str(error.value)


OTHERS = {
    "empty": b"",
    "only a length": b"12345678",
    "a huge length": b"\xff" * 40,
    "an empty header": (2).to_bytes(8, "little") + b"{}",
    "a header that is no object": (2).to_bytes(8, "little") + b"[]",
    "a deep header": (100_000).to_bytes(8, "little") + b"[" * 100_000,
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_files_are_refused(kind: str) -> None:
    with pytest.raises(DamagedShardError):
        decode(OTHERS[kind], "x")
