"""Turns the arguments of estimators into a configuration of the library, which knows every parameter, its default and its range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _core
from .exceptions import ParameterError

PRESETS: dict[str, dict[str, Any]] = {name: _core.Config(name).get("graph") for name in _core.preset_names()}
"""Every preset with its graph parameters."""

BASELINES = tuple(_core.baseline_names())
"""Graphs without quantiles, for comparison."""

# These have their own arguments, which they would override.
_ARGUMENTS = {"preset": "preset= or graph=", "seed": "random_state="}


def params(preset: str = "robust") -> list[dict[str, Any]]:
    """Every parameter that ``params={...}`` takes.

    Parameters
    ----------
    preset : str, default="robust"
        The preset whose values are the defaults.

    Returns
    -------
    list of dict
        ``path``, ``default``, ``kind``, ``range`` and ``meaning`` of each; ``only_with`` is the choice that it belongs to.

    Examples
    --------
    >>> import taugraph
    >>> [row["default"] for row in taugraph.params() if row["path"] == "graph.threshold"]
    [0.3]
    """
    return [row for row in config(preset, {}).list() if row["path"] not in _ARGUMENTS]


def config(preset: Any, short: Mapping[str, Any], params: Mapping[str, Any] | None = None) -> _core.Config:
    """A preset, then the short arguments that were given, then ``params``."""
    made = _core.Config()
    made.set("preset", preset)
    return changed(made, short, params)


def changed(made: _core.Config, short: Mapping[str, Any], params: Mapping[str, Any] | None) -> _core.Config:
    """The configuration with changes, those of ``params`` last."""
    for path, value in short.items():
        if value is not None:
            made.set(path, value)
    for name, argument in _ARGUMENTS.items():
        if params is not None and name in params:
            raise ParameterError(f"params: {name} has its own argument, {argument}")
    if params is not None:
        made.set_all(params)
    return made


def neighbors(n_neighbors: Any) -> dict[str, Any] | None:
    """Candidate edges between this many neighbors, whatever the preset."""
    return None if n_neighbors is None else {"kind": "neighbors", "k": whole("n_neighbors", n_neighbors, 1)}


def estimator(given: Any) -> Any:
    """A single estimator unchanged, a list of estimators as their product."""
    return {"kind": "product", "parts": list(given)} if isinstance(given, (list, tuple)) else given


def in_order(name: str, shares: Mapping[Any, float] | None, classes: Any) -> list[float] | None:
    """Shares of the classes, by label, in the order of the classes."""
    if shares is None:
        return None
    if not isinstance(shares, Mapping):
        raise ParameterError(f"{name}: a dict of label to share is needed")
    known = classes.tolist()
    unknown = [label for label in shares if label not in known]
    if unknown:
        raise ParameterError(f"{name}: no row has the label {unknown[0]!r}")
    missing = [label for label in known if label not in shares]
    if missing:
        raise ParameterError(f"{name}: label {missing[0]!r} is missing")
    return [float(shares[label]) for label in known]


def whole(name: str, number: Any, least: int = 0) -> int:
    """Checks for a whole number of at least ``least``."""
    try:
        found = int(number)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} = {number!r}: must be a whole number") from None
    if isinstance(number, (bool, str)) or found != number or not least <= found < 2**63:
        raise ParameterError(f"{name} = {number!r}: must be a whole number of at least {least}")
    return found


def whole_or_none(name: str, number: Any, least: int = 1) -> int | None:
    """The same, but None is allowed."""
    return None if number is None else whole(name, number, least)
