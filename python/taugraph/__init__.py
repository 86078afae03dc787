"""Robust neighborhood graphs, and what they are good for: clustering, labels from a few labeled rows, embeddings.

>>> import taugraph
>>> X, y = taugraph.make_spirals(300, random_state=1)
>>> labels = taugraph.SpectralClustering().fit_predict(X)
>>> float(taugraph.metrics.nmi(y, labels))
1.0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import exceptions
from ._core import __version__

if TYPE_CHECKING:
    from . import convert, metrics, paper, plot, scanpy
    from ._clustering import SpectralClustering
    from ._config import BASELINES, PRESETS, params
    from ._consensus import ConsensusClustering
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
else:
    # Imported when first used: scikit-learn, the base of every estimator, loads scipy.stats and pandas and takes a second or more, for which
    # whoever lists parameters, draws points or catches an exception need not wait.
    _MODULES = ("convert", "metrics", "paper", "plot", "scanpy")
    _MODULE_OF = {
        name: module
        for module, names in {
            "_clustering": ("SpectralClustering",),
            "_config": ("BASELINES", "PRESETS", "params"),
            "_consensus": ("ConsensusClustering",),
            "_embedding": ("SpectralEmbedding",),
            "_generators": ("make_blobs", "make_circles", "make_moons", "make_pinwheel", "make_spirals"),
            "_graph": ("RobustGraph",),
            "_labels": ("LabelPropagation",),
            "_neighbors": ("RobustNeighbors",),
            "_saved": ("SavedModel", "load"),
            "_spreading": ("LabelSpreading",),
            "_stages": (
                "Quantiles",
                "StochasticGraph",
                "knn_graph",
                "local_scales",
                "propagate",
                "quantile_reconstruction",
                "spectral_clustering",
                "stochastic_graph",
            ),
        }.items()
        for name in names
    }

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted(__all__)


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
