"""Robust neighborhood graphs, and what they are good for: clustering, labels from a few labeled rows, embeddings.

>>> import taugraph
>>> X, y = taugraph.make_spirals(300, random_state=1)
>>> labels = taugraph.SpectralClustering().fit_predict(X)
>>> float(taugraph.metrics.nmi(y, labels))
1.0
"""

from __future__ import annotations

from . import convert, exceptions, metrics, paper, plot, scanpy
from ._clustering import SpectralClustering
from ._config import BASELINES, PRESETS, params
from ._consensus import ConsensusClustering
from ._core import __version__
from ._embedding import SpectralEmbedding
from ._generators import make_blobs, make_circles, make_moons, make_pinwheel, make_spirals
from ._graph import RobustGraph
from ._labels import LabelPropagation
from ._neighbors import RobustNeighbors
from ._saved import SavedModel, load
from ._spreading import LabelSpreading
from ._stages import (
    Quantiles,
    StochasticGraph,
    knn_graph,
    local_scales,
    propagate,
    quantile_reconstruction,
    spectral_clustering,
    stochastic_graph,
)

__all__ = [
    "BASELINES",
    "PRESETS",
    "ConsensusClustering",
    "LabelPropagation",
    "LabelSpreading",
    "Quantiles",
    "RobustGraph",
    "RobustNeighbors",
    "SavedModel",
    "SpectralClustering",
    "SpectralEmbedding",
    "StochasticGraph",
    "__version__",
    "convert",
    "exceptions",
    "knn_graph",
    "load",
    "local_scales",
    "make_blobs",
    "make_circles",
    "make_moons",
    "make_pinwheel",
    "make_spirals",
    "metrics",
    "paper",
    "params",
    "plot",
    "propagate",
    "quantile_reconstruction",
    "scanpy",
    "spectral_clustering",
    "stochastic_graph",
]
