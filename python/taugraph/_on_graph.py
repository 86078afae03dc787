"""Shared code of the estimators that work on a graph, given by its name or as a :class:`RobustGraph`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _core
from ._base import GraphEstimator
from ._config import BASELINES, PRESETS, changed, config, neighbors
from ._graph import RobustGraph
from ._run import RunArgs, seed_of
from .exceptions import ParameterError


class OnGraph(GraphEstimator):
    """An estimator with the argument ``graph``."""

    def __init__(
        self, *, graph: str | RobustGraph, n_neighbors: int | None, metric: str, params: Mapping[str, Any] | None, **run: Any
    ) -> None:
        super().__init__(params=params, metric=metric, **run)
        self.graph = graph
        self.n_neighbors = n_neighbors

    def _own(self) -> dict[str, Any]:
        """Paths and values of the estimator's own arguments."""
        return {}

    def _baseline(self) -> str | None:
        """The name of a baseline, if the graph is one."""
        name = self.graph.replace("_", "-") if isinstance(self.graph, str) else None
        return name if name in BASELINES else None

    def _is_graph(self) -> bool:
        return isinstance(self.graph, str) and self.graph == "precomputed"

    def _is_precomputed(self) -> bool:
        return super()._is_precomputed() or (isinstance(self.graph, RobustGraph) and self.graph._is_precomputed())

    def _has_points(self) -> bool:
        return super()._has_points() and self._baseline() is None

    def _config(self) -> _core.Config:
        short = {
            "metric": None if self.metric in ("auto", "precomputed") else self.metric,
            "graph.candidates": neighbors(self.n_neighbors),
            **self._own(),
        }
        if isinstance(self.graph, RobustGraph):
            return changed(self.graph._config(), short, self.params)
        if self._is_graph() or self._baseline():
            return config("robust", short, self.params)
        if not isinstance(self.graph, str) or self.graph.replace("_", "-") not in PRESETS:
            names = ", ".join([*PRESETS, *BASELINES, "precomputed"])
            raise ParameterError(f"graph = {self.graph!r}: must be a RobustGraph or one of {names}")
        return config(self.graph, short, self.params)

    def _before(self, run: RunArgs) -> tuple[str | None, int | None]:
        """The baseline, if any, and the seed of the graph, if it has its own."""
        seed = seed_of(self.graph.random_state) if isinstance(self.graph, RobustGraph) else run[0]
        return self._baseline(), None if seed == run[0] else seed
