"""Plots with matplotlib (``pip install taugraph[plot]``). Each function draws into ``ax``, or into a new figure, and returns the axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["clusters", "decay", "graph", "scales", "stability"]

# Distinguishable with any kind of color vision (Okabe and Ito 2008).
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
_MARKERS = "os^Dv<>P"


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def _plane(X: Any) -> np.ndarray:
    """Two coordinates: the points' own, or their first principal components."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)
    if X.shape[1] == 2:
        return np.asarray(X)
    if X.shape[1] == 1:
        return np.column_stack([X[:, 0], np.zeros(len(X))])
    centered = np.nan_to_num(X - np.nanmean(X, axis=0))
    _, _, directions = np.linalg.svd(centered, full_matrices=False)
    return np.asarray(centered @ directions[:2].T)


def _bare(ax: Any, title: str) -> Any:
    ax.set_title(title, loc="left")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_aspect("equal", adjustable="datalim")
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def graph(model: Any, X: Any, *, labels: Any = None, ax: Any = None, least: float = 0.0) -> Any:
    """The points, and the edges colored by probability.

    Parameters
    ----------
    model : RobustGraph
        Fitted on ``X``.
    X : array-like of shape (n_samples, n_features)
        Points; more than two columns are projected onto their principal components.
    labels : array-like, optional
        Labels by which the points are colored.
    ax : matplotlib axes, optional
    least : float, default=0
        Edges of lower probability are not drawn.

    Returns
    -------
    matplotlib axes
    """
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap

    ax, plane = _axes(ax), _plane(X)
    shown = np.flatnonzero(model.edge_probabilities_ >= least)
    shown = shown[np.argsort(model.edge_probabilities_[shown], kind="stable")]
    # Start from a blue that is visible on white.
    blues = LinearSegmentedColormap.from_list("edges", ["#B5D3E9", "#08306B"])
    lines = LineCollection(plane[model.edges_[shown]], linewidths=0.6, cmap=blues, zorder=1)
    lines.set_array(model.edge_probabilities_[shown])
    lines.set_clim(0, 1)
    ax.add_collection(lines)
    _scatter(ax, plane, labels)
    ax.figure.colorbar(lines, ax=ax, label="probability of the edge", shrink=0.7)
    return _bare(ax, f"{len(shown):,} of {len(model.edges_):,} edges")


def _scatter(ax: Any, plane: np.ndarray, labels: Any) -> None:
    size = float(np.clip(4000 / len(plane), 2, 30))
    if labels is None:
        ax.scatter(*plane.T, s=size, c="#333333", linewidths=0, zorder=2)
        return
    labels = np.asarray(labels)
    names = sorted(set(labels.tolist()), key=str)
    for at, name in enumerate(names):
        own = labels == name
        style = {"c": _COLORS[at % 8], "marker": _MARKERS[(at // 8) % 8]}
        ax.scatter(*plane[own].T, s=size, linewidths=0, zorder=2, label=f"{name} ({own.sum():,})", **style)
    if len(names) <= 16:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, markerscale=2)


def clusters(model: Any, X: Any, *, ax: Any = None) -> Any:
    """The points in the colors of their clusters.

    Parameters
    ----------
    model : SpectralClustering
        Fitted on ``X``.
    X : array-like of shape (n_samples, n_features)
        Points.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    ax = _axes(ax)
    _scatter(ax, _plane(X), model.labels_)
    return _bare(ax, f"{model.n_clusters_} clusters")


def decay(model: Any, *, ax: Any = None) -> Any:
    """How many edges persist at each quantile.

    Parameters
    ----------
    model : RobustGraph
        Fitted.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    ax = _axes(ax)
    taus, counts = model.decay_.T
    ax.plot(taus, counts, "o-", color=_COLORS[0])
    ax.set_ylim(bottom=0)
    ax.set_xlabel("quantile τ")
    ax.set_ylabel("edges that persist")
    ax.set_title("Decay", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def scales(model: Any, *, ax: Any = None) -> Any:
    """Robust local scales against the first ones.

    Parameters
    ----------
    model : RobustGraph
        Fitted.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    ax = _axes(ax)
    first, robust = model.first_scales_, model.local_scales_
    ax.scatter(first, robust, s=8, c=_COLORS[0], alpha=0.6, linewidths=0)
    ends = [min(first.min(), robust.min()), max(first.max(), robust.max())]
    ax.plot(ends, ends, color="#999999", linewidth=1, zorder=0)
    ax.set_xlabel("first scale")
    ax.set_ylabel("robust scale")
    ax.set_title("Local scales", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def stability(model: Any, X: Any, *, ax: Any = None) -> Any:
    """The points colored by the stability of their labels.

    Parameters
    ----------
    model : SpectralClustering
        Fitted on ``X`` with ``stability`` above 0.
    X : array-like of shape (n_samples, n_features)
        Points.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    if model.stability_ is None:
        raise ValueError("the stability was not measured: fit with, for example, stability=10")
    ax, plane = _axes(ax), _plane(X)
    order = np.argsort(-model.stability_, kind="stable")
    size = float(np.clip(4000 / len(plane), 2, 30))
    points = ax.scatter(*plane[order].T, s=size, c=model.stability_[order], cmap="viridis", vmin=0, vmax=1, linewidths=0)
    ax.figure.colorbar(points, ax=ax, label="share of draws with the same cluster", shrink=0.7)
    return _bare(ax, f"Stability {model.overall_stability_:.2f}")
