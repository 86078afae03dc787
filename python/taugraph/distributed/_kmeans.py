"""k-means on the eigenvectors of all partitions: starts on a sample in the driver, then rounds on all nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _core
from ._errors import ResidentLostError
from ._executor import BaseExecutor, Group
from ._plan import Plan
from ._tasks import Context

# Rows of the sample; up to so many nodes it has all of them.
_SAMPLE = 200_000


class Rows:
    """The embedded nodes of a partition. All rounds are methods in Rust."""

    def __init__(self, context: Context, part: int, preset: str, params: Mapping[str, Any]) -> None:
        self.context, self.part = context, part
        found = context.read(f"eigen/{part:05}")
        config = _core.Config(preset, dict(params))
        self.rows = _core.EmbeddedRows(found["ids"], found["vectors"], found["values"], found["roots"], config)

    def __getattr__(self, method: str) -> Any:
        return getattr(self.rows, method)

    def write(self, names: list[int]) -> dict[str, dict[str, Any]]:
        """Write the label of each node."""
        name = f"spectral/{self.part:05}"
        self.context.write(name, {"labels": self.rows.labels(names)})
        return {name: self.context.outputs[name]}


def clusters(executor: BaseExecutor, plan: Plan, n_nodes: int, n_clusters: int) -> dict[str, Any]:
    """Group the rows of ``eigen/…`` and write ``spectral/…``.

    Nothing is kept between the rounds that is not made anew soon: after a loss they begin again.
    """
    arguments = [{"part": part, "preset": plan.preset, "params": plan.params} for part in range(plan.n_parts)]
    sizes = [executor.job.storage.size(f"eigen/{part:05}") or 0 for part in range(plan.n_parts)]
    rows = executor.residents(f"{__name__}:Rows", arguments, [3 * size for size in sizes])
    try:
        while True:
            try:
                return _rounds(rows, plan, n_nodes, n_clusters)
            except ResidentLostError as error:
                executor.job.progress.note(f"k-means: from the beginning, for {error}")
                rows.restart_dead()
    finally:
        rows.close()


def _rounds(rows: Group, plan: Plan, n_nodes: int, k: int) -> dict[str, Any]:
    def each(method: str, *arguments: Any) -> list[Any]:
        return rows.get(rows.call(method, [arguments] * len(rows)))

    params = plan.config.get("cluster.kmeans")
    sample = _joined(each("sample", n_nodes, _SAMPLE, plan.seed))
    if n_nodes > _SAMPLE:
        # A rare group may have no node in the sample.
        sample = np.concatenate([sample, _joined(each("distinct", k))])
    centers = _core.embedding_centers(sample, k, plan.config, plan.run_args(0))
    before, n_rounds, converged = np.inf, 0, False
    for n_rounds in range(1, int(params["max_rounds"]) + 1):
        sums = _core.sum_in_order(each("assign", centers))
        while (sums[:, -2] == 0).any():
            _fill_empty(rows, sums[:, -2].astype(np.uint64))
            sums = _core.sum_in_order(each("sums", k))
        centers = np.ascontiguousarray(sums[:, :-2] / sums[:, -2:-1])
        # One after the other: NumPy's own sum would add in another order on other machines.
        inertia = 0.0
        for part in sums[:, -1]:
            inertia += float(part)
        converged = before - inertia <= float(params["tolerance"]) * inertia
        if converged:
            break
        before = inertia
    firsts = each("firsts", k)
    lowest = [min(first for first in column if first is not None) for column in zip(*firsts)]
    names = np.argsort(np.argsort(lowest)).tolist()
    outputs = {name: about for one in each("write", names) for name, about in one.items()}
    return {"rounds": n_rounds, "converged": bool(converged), "inertia": inertia, "outputs": outputs}


def _joined(parts: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Rows of all partitions in the order of their nodes."""
    order = np.argsort(np.concatenate([ids for ids, _ in parts]), kind="stable")
    return np.ascontiguousarray(np.concatenate([rows for _, rows in parts])[order])


def _fill_empty(rows: Group, sizes: np.ndarray) -> None:
    """Give the first empty group the node farthest from its center that its own group can spare, the lowest of several."""
    found = [each for each in rows.get(rows.call("farthest", [(sizes.tolist(),)] * len(rows))) if each is not None]
    _, node, _ = min(found, key=lambda one: (-one[0], one[1]))
    empty = int(np.flatnonzero(sizes == 0)[0])
    rows.get(rows.call("give", [(node, empty)] * len(rows)))
