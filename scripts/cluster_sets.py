"""Sets for the number of clusters: structureless ones, synthetic ones with a known number of clusters, and real tables.

Every set is a function of its name and a seed. `y` is the true cluster of each row; a structureless set has one.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets


class Set(NamedTuple):
    """A set of points."""

    group: str
    name: str
    X: np.ndarray
    y: np.ndarray
    metric: str = "euclidean"

    @property
    def k(self) -> int:
        return len(np.unique(self.y))


def generator(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, *name.encode()])


# One group, whatever the density: nothing to split.


def gaussian(rng, n, d):
    return rng.normal(size=(n, d))


def uniform(rng, n, d):
    return rng.uniform(size=(n, d))


def heavy_tails(rng, n, d):
    """Multivariate Student t with 3 degrees of freedom."""
    return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)


def anisotropic(rng, n, d):
    """Standard deviations falling geometrically from 1 to 0.05, turned at random."""
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return rng.normal(size=(n, d)) * np.geomspace(1, 0.05, d) @ turn


def ring(rng, n, d):
    """A noisy circle in d dimensions."""
    angle = rng.uniform(0, 2 * np.pi, n)
    X = 0.1 * rng.normal(size=(n, d))
    X[:, :2] += np.c_[np.cos(angle), np.sin(angle)]
    return X


def curve(rng, n, d):
    """A noisy sine curve in d dimensions, evenly dense along its length."""
    steps = np.linspace(0, 1, 2001)
    path = np.c_[2 * steps, np.sin(2 * np.pi * steps)]
    length = np.r_[0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]
    t = np.interp(rng.uniform(0, length[-1], n), length, steps)
    X = 0.03 * rng.normal(size=(n, d))
    X[:, :2] += np.c_[2 * t, np.sin(2 * np.pi * t)]
    return X


STRUCTURELESS = {
    "Gaussian": (gaussian, [(200, 2), (200, 10), (200, 50), (1000, 2), (1000, 10), (1000, 100), (5000, 2), (5000, 20), (20000, 2), (20000, 10)]),
    "uniform": (uniform, [(200, 2), (200, 5), (1000, 2), (1000, 10), (1000, 50), (5000, 2), (5000, 10), (20000, 3)]),
    "t3": (heavy_tails, [(200, 2), (200, 10), (1000, 2), (1000, 20), (5000, 5), (20000, 2)]),
    "anisotropic": (anisotropic, [(200, 5), (1000, 5), (1000, 30), (5000, 10), (20000, 10)]),
    "ring": (ring, [(200, 2), (1000, 2), (1000, 10), (5000, 2), (20000, 2)]),
    "curve": (curve, [(200, 2), (1000, 2), (1000, 10), (5000, 2), (20000, 2)]),
}


def structureless(seed: int):
    for name, (make, sizes) in STRUCTURELESS.items():
        for n, d in sizes:
            title = f"{name} {n} × {d}"
            yield Set("structureless", title, make(generator(title, seed), n, d), np.zeros(n, int))


def blobs(rng, n, d, k, separation, uneven=False):
    """k Gaussians whose nearest centers are `separation` standard deviations apart."""
    scale = 1.0
    centers = rng.normal(size=(k, d))
    gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    # Centers too close to another are drawn again.
    for _ in range(1000):
        bad = np.flatnonzero(gaps.min(1) < 0.5 * np.median(gaps.min(1)))
        if len(bad) == 0:
            break
        centers[bad[0]] = rng.normal(size=d)
        gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)
        np.fill_diagonal(gaps, np.inf)
    centers *= separation * scale / gaps.min()
    share = rng.dirichlet(np.full(k, 3.0)) if uneven else np.full(k, 1 / k)
    sizes = np.maximum((share * n).astype(int), 15)
    widths = rng.uniform(0.5, 1.0, k) if uneven else np.ones(k)
    X = np.concatenate([center + width * rng.normal(size=(size, d)) for center, size, width in zip(centers, sizes, widths)])
    return X, np.repeat(np.arange(k), sizes)


def synthetic(seed: int):
    def make(name):
        return generator(name, seed)

    for k, n, d in [(2, 300, 2), (3, 300, 5), (5, 1000, 2), (10, 1000, 10), (15, 3000, 2), (30, 3000, 5), (50, 5000, 10), (100, 10000, 10), (300, 15000, 20)]:
        for uneven in (False, True):
            name = f"{k} {'uneven ' if uneven else ''}blobs {n} × {d}, 8σ"
            yield Set("blobs", name, *blobs(make(name), n, d, k, 8, uneven))
    for k, n, d in [(3, 500, 2), (8, 2000, 5), (20, 4000, 10)]:
        name = f"{k} blobs {n} × {d}, 6σ"
        yield Set("blobs", name, *blobs(make(name), n, d, k, 6))
    for side, per in [(3, 100), (5, 60), (10, 50)]:
        name = f"grid {side} × {side}, 6σ"
        rng = make(name)
        y = np.repeat(np.arange(side * side), per)
        yield Set("grids", name, 6.0 * np.c_[y // side, y % side] + rng.normal(size=(len(y), 2)), y)
    for n, tiny in [(2000, 5), (5000, 15)]:
        name = f"giant + {tiny} tiny, {n}"
        rng = make(name)
        angle = 2 * np.pi * np.arange(tiny) / tiny
        centers = np.c_[np.cos(angle), np.sin(angle)] * 12
        X = np.concatenate([rng.normal(size=(n, 2)), *(center + 0.3 * rng.normal(size=(30, 2)) for center in centers)])
        yield Set("giant + tiny", name, X, np.repeat(np.arange(tiny + 1), [n] + [30] * tiny))
    for n, noise in [(300, 0.0), (1000, 0.0), (1000, 0.3), (5000, 0.2)]:
        name = f"two spirals {n}, σ = {noise}"
        rng = make(name)
        y = np.arange(n) % 2
        t = np.pi / 2 + 2 * np.pi * np.sqrt(rng.uniform(size=n))
        sign = 2 * y - 1
        X = np.c_[sign * t * np.cos(t), -sign * t * np.sin(t)] + rng.uniform(0, 0.2, (n, 2)) + noise * rng.normal(size=(n, 2))
        yield Set("curves", name, X, y)
    for n, noise in [(300, 0.05), (1000, 0.08), (5000, 0.08)]:
        name = f"moons {n}, σ = {noise}"
        yield Set("curves", name, *datasets.make_moons(n, noise=noise, random_state=seed))
    for n, rings in [(500, 2), (1500, 3), (6000, 3)]:
        name = f"{rings} rings {n}"
        rng = make(name)
        y = np.arange(n) % rings
        angle = rng.uniform(0, 2 * np.pi, n)
        yield Set("curves", name, (1 + y)[:, None] * np.c_[np.cos(angle), np.sin(angle)] + 0.08 * rng.normal(size=(n, 2)), y)
    for n, d, gap in [(400, 2, 4), (400, 2, 5), (400, 2, 6), (2000, 2, 4), (2000, 2, 5), (2000, 5, 5), (2000, 10, 5), (2000, 10, 6)]:
        name = f"2 Gaussians {n} × {d}, {gap}σ apart"
        rng = make(name)
        y = np.arange(n) % 2
        X = rng.normal(size=(n, d))
        X[:, 0] += gap * y
        yield Set("two Gaussians", name, X, y)
    for n, k, d in [(4000, 40, 384), (3000, 12, 128)]:
        name = f"{k} topics {n} × {d}, cosine"
        rng = make(name)
        centers = rng.normal(size=(k, d))
        y = rng.integers(0, k, n)
        X = centers[y] + 0.9 * rng.normal(size=(n, d)) * np.sqrt(1.0)
        yield Set("topics", name, X / np.linalg.norm(X, axis=1, keepdims=True), y, "cosine")


def real(mnist: bool = True):
    """Tables that scikit-learn ships, those of TAUGRAPH_DATA and MNIST, as far as they are there."""
    for name, load in [("iris", datasets.load_iris), ("wine", datasets.load_wine), ("breast cancer (diagnostic)", datasets.load_breast_cancer), ("digits", datasets.load_digits)]:
        yield Set("tables", name, *load(return_X_y=True))
    folder = os.environ.get("TAUGRAPH_DATA")
    if not folder or not mnist:
        return
    images, labels = [], []
    for part in ("train", "t10k"):
        images.append(read_idx(Path(folder) / "mnist" / f"{part}-images-idx3-ubyte.gz").reshape(-1, 784))
        labels.append(read_idx(Path(folder) / "mnist" / f"{part}-labels-idx1-ubyte.gz"))
    X, y = np.concatenate(images).astype(float) / 255, np.concatenate(labels).astype(int)
    X = X - X.mean(0)
    vectors = np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :50]
    X = X @ vectors
    yield Set("images", "MNIST, first 10,000", X[:10000], y[:10000])
    yield Set("images", "MNIST, 70,000", X, y)


def read_idx(path: Path) -> np.ndarray:
    data = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(data, ">i4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)
