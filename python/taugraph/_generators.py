"""Points with known groups, the same as those of ``taugraph generate``."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._config import whole
from ._run import seed_of


def _made(shape: str, n: int, noise: float, share: float, random_state: Any, **own: Any) -> tuple[np.ndarray, np.ndarray]:
    settings: dict[str, Any] = {"density": "uniform-angle", "n_columns": 2, "n_blobs": 3, "inner": 0.5, **own}
    return _core.generate(shape, whole("n_samples", n, 1), noise=float(noise), share=float(share), seed=seed_of(random_state), **settings)


def make_spirals(
    n_samples: int = 1000, *, density: str = "uniform-angle", noise: float = 0.0, share: float = 1.0, random_state: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Two spirals.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    density : {"uniform-angle", "even-length"}, default="uniform-angle"
        How the points are distributed along the arms.
    noise, share : float
        Standard deviation of Gaussian noise, and the share of the points that it affects.
    random_state : int, RandomState, Generator or None, default=0
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> import taugraph
    >>> X, y = taugraph.make_spirals(10)
    >>> X.shape, sorted(set(y.tolist()))
    ((10, 2), [0, 1])
    """
    if density not in ("uniform-angle", "even-length"):
        raise ValueError(f"density = {density!r}: must be uniform-angle or even-length")
    return _made("spirals", n_samples, noise, share, random_state, density=density)


def make_pinwheel(
    n_samples: int = 1000, *, noise: float = 0.0, share: float = 1.0, random_state: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Five arms of a pinwheel; see :func:`make_spirals`."""
    return _made("pinwheel", n_samples, noise, share, random_state)


def make_moons(
    n_samples: int = 1000, *, noise: float = 0.0, share: float = 1.0, random_state: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Two half circles; see :func:`make_spirals`."""
    return _made("moons", n_samples, noise, share, random_state)


def make_circles(
    n_samples: int = 1000, *, inner: float = 0.5, noise: float = 0.0, share: float = 1.0, random_state: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Two circles around one center, the inner one of radius ``inner``; see :func:`make_spirals`."""
    return _made("circles", n_samples, noise, share, random_state, inner=float(inner))


def make_blobs(
    n_samples: int = 1000,
    *,
    n_columns: int = 2,
    n_blobs: int = 3,
    noise: float = 0.0,
    share: float = 1.0,
    random_state: Any = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian blobs of uneven density; see :func:`make_spirals`."""
    return _made("blobs", n_samples, noise, share, random_state, n_columns=whole("n_columns", n_columns, 1), n_blobs=whole("n_blobs", n_blobs, 1))
