"""Values of nodes elsewhere: each partition lends those of its own nodes to the partitions that have edges to them."""

from __future__ import annotations

import numpy as np

from ._plan import Plan
from ._tasks import Context


def owned(own: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Which ids are among the own ones, which are ascending."""
    if not len(own):
        return np.zeros(len(ids), dtype=bool)
    places = np.minimum(np.searchsorted(own, ids), len(own) - 1)
    found: np.ndarray = own[places] == ids
    return found


def lend(context: Context, plan: Plan, part: int, name: str, own: np.ndarray, values: np.ndarray) -> None:
    """Write a value of each own node, and for each other partition those that it needs."""
    context.write(f"{name}/{part:05}", {"values": values})
    for by in range(plan.n_parts):
        if by != part:
            places = np.searchsorted(own, context.read(f"halo/{by:05}/{part:05}")["ids"])
            context.write(f"lent/{name}/{part:05}/{by:05}", {"values": values[places]})


def with_halo(context: Context, plan: Plan, part: int, name: str, ids: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Values of own nodes and the halo: ``ids`` are all of them, ``own`` the places of the own ones."""
    mine = context.read(f"{name}/{part:05}")["values"]
    values = np.empty(len(ids), dtype=mine.dtype)
    values[own] = mine
    for of in range(plan.n_parts):
        if of != part:
            places = np.searchsorted(ids, context.read(f"halo/{part:05}/{of:05}")["ids"])
            values[places] = context.read(f"lent/{name}/{of:05}/{part:05}")["values"]
    return values
