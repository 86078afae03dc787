"""How well two groupings agree. Labels may be of any kind that can be sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core

__all__ = ["accuracy", "ami", "ari", "balanced_accuracy", "matched_accuracy", "nmi"]


def _codes(labels: Any) -> np.ndarray:
    return np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.uint32)


def _both(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes of both in one alphabet."""
    a, b = np.asarray(a), np.asarray(b)
    codes = np.unique(np.concatenate([a, b]), return_inverse=True)[1].astype(np.uint32)
    return np.ascontiguousarray(codes[: len(a)]), np.ascontiguousarray(codes[len(a) :])


def nmi(truth: Any, labels: Any) -> float:
    """Normalised mutual information (arithmetic mean).

    Examples
    --------
    >>> nmi(["a", "a", "b"], [1, 1, 0])
    1.0
    """
    return _core.score("nmi", _codes(truth), _codes(labels))


def ari(truth: Any, labels: Any) -> float:
    """Adjusted Rand index.

    Examples
    --------
    >>> ari([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return _core.score("ari", _codes(truth), _codes(labels))


def ami(truth: Any, labels: Any) -> float:
    """Adjusted mutual information (arithmetic mean).

    Examples
    --------
    >>> ami([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return _core.score("ami", _codes(truth), _codes(labels))


def matched_accuracy(truth: Any, labels: Any) -> float:
    """Share of points whose cluster is matched with their class, by the best matching.

    Examples
    --------
    >>> matched_accuracy([0, 0, 1, 1], [1, 1, 0, 1])
    0.75
    """
    return _core.score("matched_accuracy", _codes(truth), _codes(labels))


def accuracy(truth: Any, labels: Any) -> float:
    """Share of equal labels.

    Examples
    --------
    >>> accuracy(["a", "b"], ["a", "a"])
    0.5
    """
    return _core.score("accuracy", *_both(truth, labels))


def balanced_accuracy(truth: Any, labels: Any) -> float:
    """Mean over the classes of the share of their points that are labelled so.

    Examples
    --------
    >>> balanced_accuracy([0, 0, 0, 1], [0, 0, 0, 0])
    0.5
    """
    return _core.score("balanced_accuracy", *_both(truth, labels))
