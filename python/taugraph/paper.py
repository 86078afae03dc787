"""The paper's real datasets by name. ``taugraph-lab datasets fetch`` downloads the files; or put them in the folder ``TAUGRAPH_DATA``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import _core

__all__ = ["Dataset", "load", "names"]


class Dataset(NamedTuple):
    """A dataset with its classes."""

    X: np.ndarray
    """Points; missing cells are NaN."""
    y: np.ndarray
    """Class of each row, by name."""
    features: list[str]
    """Names of the columns."""


def names() -> list[str]:
    """Names of all datasets.

    Examples
    --------
    >>> "wine" in names()
    True
    """
    return _core.dataset_names()


def load(name: str) -> Dataset:
    """A dataset.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If its files are missing; the message says how to get them.
    """
    X, y, features = _core.dataset(name)
    return Dataset(X, np.asarray(y), features)
