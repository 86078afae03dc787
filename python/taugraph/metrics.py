"""How well two groupings agree. Labels may be of any type that can be sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core

__all__ = ["accuracy", "ami", "ari", "balanced_accuracy", "matched_accuracy", "nmi"]


def _codes(*groupings: Any) -> list[np.ndarray]:
    """Integer codes for labels, the same for equal labels; None is a label of its own."""
    arrays = [np.asarray(labels) for labels in groupings]
    if all(labels.dtype.kind in "iufb" for labels in arrays):
        joined = np.concatenate(arrays)
        codes = np.unique(joined, return_inverse=True)[1].astype(np.uint32)
        return [np.ascontiguousarray(part) for part in np.split(codes, np.cumsum([len(a) for a in arrays])[:-1])]
    known: dict[Any, int] = {}
    return [np.array([known.setdefault(label, len(known)) for label in labels.tolist()], dtype=np.uint32) for labels in arrays]


def _own_codes(*groupings: Any) -> list[np.ndarray]:
    """The same, each from 0 on."""
    return [np.unique(codes, return_inverse=True)[1].astype(np.uint32) for codes in _codes(*groupings)]


def nmi(truth: Any, labels: Any) -> float:
    """Normalized mutual information (arithmetic mean).

    Examples
    --------
    >>> nmi(["a", "a", "b"], [1, 1, 0])
    1.0
    """
    return _core.score("nmi", *_own_codes(truth, labels))


def ari(truth: Any, labels: Any) -> float:
    """Adjusted Rand index.

    Examples
    --------
    >>> ari([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return _core.score("ari", *_own_codes(truth, labels))


def ami(truth: Any, labels: Any) -> float:
    """Adjusted mutual information (arithmetic mean).

    Examples
    --------
    >>> ami([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return _core.score("ami", *_own_codes(truth, labels))


def matched_accuracy(truth: Any, labels: Any) -> float:
    """Share of points whose cluster matches their class, under the best one-to-one matching.

    Examples
    --------
    >>> matched_accuracy([0, 0, 1, 1], [1, 1, 0, 1])
    0.75
    """
    return _core.score("matched_accuracy", *_own_codes(truth, labels))


def accuracy(truth: Any, labels: Any) -> float:
    """Share of equal labels.

    Examples
    --------
    >>> accuracy(["a", "b"], ["a", "a"])
    0.5
    """
    return _core.score("accuracy", *_codes(truth, labels))


def balanced_accuracy(truth: Any, labels: Any) -> float:
    """Mean over the true classes of the share of their points with the correct label.

    Examples
    --------
    >>> balanced_accuracy([0, 0, 0, 1], [0, 0, 0, 0])
    0.5
    """
    return _core.score("balanced_accuracy", *_codes(truth, labels))
