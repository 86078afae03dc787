"""The images of the folder mnist/ in TAUGRAPH_DATA."""

import functools
import gzip
import os
import pathlib

import numpy as np


def idx(path):
    """An array in the format of the MNIST files."""
    raw = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(raw, ">i4", raw[3], 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


@functools.cache
def pixels():
    """70,000 × 784 bytes and the digits; None without the folder."""
    folder = pathlib.Path(os.environ.get("TAUGRAPH_DATA", "")) / "mnist"
    if "TAUGRAPH_DATA" not in os.environ or not folder.is_dir():
        return None
    read = lambda kind, dims: np.concatenate([idx(folder / f"{part}-{kind}-idx{dims}-ubyte.gz") for part in ("train", "t10k")])
    return read("images", 3).reshape(70_000, 784), read("labels", 1)
