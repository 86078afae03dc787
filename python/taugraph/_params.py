"""Arguments of estimators as the parameters of the library: the names are the same, the forms those of its JSON."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from .exceptions import ParameterError

PRESETS: dict[str, dict[str, Any]] = {name: json.loads(text) for name, text in _core.presets()}
"""Every preset with its parameters."""

_PREPARATION, _CLUSTER, _PROPAGATE = (json.loads(text) for text in _core.defaults())


def preset_name(name: str, *others: str) -> str:
    """The name with hyphens; ``others`` would have been understood beside the presets."""
    found = hyphened(name)
    if found not in PRESETS:
        raise ParameterError(f"{name!r} is no graph: must be one of {', '.join([*PRESETS, *others])}")
    return found


def merged(base: dict[str, Any], changes: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """``base`` with the values of ``changes``; a choice of another kind replaces the whole."""
    result = dict(base)
    for key, value in changes.items():
        if key not in base:
            known = ", ".join(sorted(base))
            raise ParameterError(f"{path}{key} is not a parameter; known are {known}")
        before = base[key]
        both = isinstance(value, Mapping) and isinstance(before, dict)
        if both and set(value) <= set(before):
            result[key] = merged(before, value, f"{path}{key}.")
        else:
            result[key] = value
    return result


def to_json(value: Any) -> str:
    """JSON, numbers of NumPy included."""
    return json.dumps(value, default=lambda other: other.item() if hasattr(other, "item") else other.tolist())


def _estimator(names: str | Mapping[str, Any] | Sequence[str], before: Any) -> Any:
    if isinstance(names, Mapping):
        listed = list(names)
        parts = [{name: merged(_settings(name), names[name] or {}, f"estimator.{name}.")} for name in _known(listed)]
        return parts[0] if len(parts) == 1 else {"product": parts}
    listed = names.split(",") if isinstance(names, str) else list(names)
    listed = [name.strip().replace("_", "-") for name in listed]
    # What the preset has of them keeps its settings.
    same = [isinstance(before, dict) and name in before for name in _known(listed)]
    parts = [before if is_same else copy.deepcopy(_USUAL[name]) for name, is_same in zip(listed, same, strict=True)]
    return parts[0] if len(parts) == 1 else {"product": parts}


def _settings(name: str) -> dict[str, Any]:
    usual = _USUAL[name]
    return dict(usual[name] or {}) if isinstance(usual, dict) else {}


def _known(names: list[str]) -> list[str]:
    for name in names:
        if name not in _USUAL:
            raise ParameterError(f"estimator = {name!r}: must be one of {', '.join(_USUAL)}")
    return names


def _usual_estimators() -> dict[str, Any]:
    """Every estimator with its usual parameters."""
    return {name: json.loads(text) for name, text in _core.estimators()}


_USUAL = _usual_estimators()


def graph_json(
    preset: str,
    *,
    n_neighbors: int | None = None,
    estimator: str | Mapping[str, Any] | Sequence[str] | None = None,
    taus: Sequence[float] | None = None,
    threshold: float | None = None,
    search: str | None = None,
    recall: float | None = None,
    link_components: bool | str | None = None,
    graph_params: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Parameters of a graph: the preset's, and what was given beside it."""
    params = copy.deepcopy(PRESETS[preset_name(preset)])
    if n_neighbors is not None:
        before = params["candidates"]
        symmetrize = before["neighbors"]["symmetrize"] if isinstance(before, dict) else "union"
        params["candidates"] = {"neighbors": {"k": whole("n_neighbors", n_neighbors), "symmetrize": symmetrize}}
    if estimator is not None:
        params["estimator"] = _estimator(estimator, params["estimator"])
    if taus is not None:
        params["taus"] = [float(tau) for tau in taus]
    if threshold is not None:
        params["threshold"] = float(threshold)
    if link_components is not None:
        linked = link_components if isinstance(link_components, str) else ("weakly" if link_components else "no")
        params["link_components"] = linked
    method = {} if search is None else {"method": search}
    asked = {} if recall is None else {"recall": float(recall)}
    params["search"] = {**params["search"], **method, **asked}
    return merged(params, graph_params or {}, "graph_params.")


def for_few(params: dict[str, Any], n_distinct: int, asked: int | None = None) -> dict[str, Any]:
    """The same with neighborhoods that so few points can have; what was asked for stays, to be refused."""
    most = max(n_distinct - 1, 1)
    params = copy.deepcopy(params)
    if isinstance(params["candidates"], dict):
        neighbors = params["candidates"]["neighbors"]
        neighbors["k"] = min(neighbors["k"], most) if asked is None else neighbors["k"]
    if isinstance(params["first_scale"], dict):
        for kind, k in params["first_scale"].items():
            if isinstance(k, int):
                params["first_scale"][kind] = min(k, most)
    parts = params["estimator"]
    parts = parts["product"] if isinstance(parts, dict) and "product" in parts else [parts]
    for part in parts:
        for settings in part.values() if isinstance(part, dict) else []:
            if isinstance(settings, dict) and "pool" in settings:
                settings["pool"] = min(settings["pool"], most)
    return params


def preparation_json(standardize: str, missing: str, pca: int | None, is_sparse: bool) -> str:
    """``auto`` scales the columns of tables, and leaves those of sparse matrices, whose zeros mean "not there"."""
    if standardize == "auto":
        standardize = "none" if is_sparse else _PREPARATION["standardize"]
    chosen = {"standardize": hyphened(standardize), "missing": missing, "pca": None if pca is None else whole("pca", pca)}
    return to_json({**_PREPARATION, **chosen})


def cluster_json(
    n_clusters: int | None,
    *,
    max_clusters: int = 15,
    laplacian: str = "symmetric",
    rows: str = "unit-length",
    components: str = "link",
    solver: str | None = None,
    cluster_params: Mapping[str, Any] | None = None,
) -> str:
    """Parameters of a clustering."""
    params = dict(_CLUSTER)
    if n_clusters is None:
        params["clusters"] = {"automatic": {"max": whole("max_clusters", max_clusters)}}
    else:
        params["clusters"] = {"exactly": whole("n_clusters", n_clusters)}
    params |= {"laplacian": hyphened(laplacian), "rows": hyphened(rows), "components": components}
    if solver is not None:
        params["eigen"] = {**params["eigen"], "solver": {"only": hyphened(solver)}}
    return to_json(merged(params, cluster_params or {}, "cluster_params."))


def propagate_json(
    rule: str,
    *,
    alpha: float = 0.99,
    max_walk: int = 5,
    kernel_pairs: int | None = None,
    soft: float | None = None,
    priors: list[float] | None = None,
    sizes: list[float] | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
) -> str:
    """Parameters of a propagation."""
    name = hyphened(rule)
    pairs = None if kernel_pairs is None else whole("kernel_pairs", kernel_pairs)
    rules: dict[str, Any] = {
        "harmonic": "harmonic",
        "poisson": "poisson",
        "consistency": {"consistency": {"alpha": float(alpha)}},
        "kernel-cosine": "kernel-cosine",
        "nearest-in-kernel": "nearest-in-kernel",
        "greedy-walk": {"greedy-walk": {"max_walk": whole("max_walk", max_walk), "pairs": pairs}},
    }
    if name not in rules:
        raise ParameterError(f"rule = {rule!r}: must be one of {', '.join(rules)}")
    params = dict(_PROPAGATE)
    params["rule"] = rules[name]
    params["clamping"] = "hard" if soft is None else {"soft": {"strength": float(soft)}}
    params["priors"] = "uniform" if priors is None else {"given": priors}
    params["sizes"] = sizes
    solver = dict(params["solver"])
    if tol is not None:
        solver["tolerance"] = float(tol)
    if max_iter is not None:
        solver["max_iterations"] = whole("max_iter", max_iter)
    return to_json({**params, "solver": solver})


def in_order(name: str, shares: Mapping[Any, float] | None, classes: Any) -> list[float] | None:
    """Shares of the classes, by label, in the order of the classes."""
    if shares is None:
        return None
    if not isinstance(shares, Mapping):
        raise ParameterError(f"{name}: a dict of label to share is needed")
    known = classes.tolist()
    unknown = [label for label in shares if label not in known]
    if unknown:
        raise ParameterError(f"{name}: class {unknown[0]!r} has no example")
    missing = [label for label in known if label not in shares]
    if missing:
        raise ParameterError(f"{name}: class {missing[0]!r} is missing")
    return [float(shares[label]) for label in known]


def hyphened(name: Any) -> str:
    """Names with hyphens, as the library has them."""
    if not isinstance(name, str):
        raise ParameterError(f"{name!r}: a name is needed")
    return name.replace("_", "-")


def whole(name: str, number: Any, least: int = 0) -> int:
    """A whole number of at least ``least``; everything else is a mistake."""
    try:
        found = int(number)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} = {number!r}: must be a whole number") from None
    if isinstance(number, (bool, str)) or found != number or not least <= found < 2**63:
        raise ParameterError(f"{name} = {number!r}: must be a whole number of at least {least}")
    return found
