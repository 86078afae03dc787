"""A fit as one HTML page: the same as the command line's."""

from __future__ import annotations

import html
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._base import GraphEstimator
from .exceptions import NeedsPointsError


class Reported(GraphEstimator):
    """An estimator with a page."""

    def report(self, path: str | os.PathLike[str] | None = None, X: Any = None, *, labels: Any = None, ids: Any = None) -> str:
        """Make the page of the fit: points, edges by quantile, scales, groups, and what to do about warnings.

        Parameters
        ----------
        path : path, optional
            File to write. It is whole, or what it was before.
        X : array-like of shape (n_samples, n_features), optional
            What was fitted. With it the page shows the columns.
        labels : array-like of shape (n_samples,), optional
            True labels to compare with; None or NaN where there is none.
        ids : array-like of shape (n_samples,), optional
            Names of the rows.

        Returns
        -------
        str
            The page. It needs no network and no other file.
        """
        fitted = getattr(self, "_fitted", None)
        if fitted is None:
            raise NeedsPointsError("a page needs the fit itself, which a pickle does not have: fit again")
        name = type(self).__name__
        about = (name, f"{' '.join(repr(self).split())}.fit(X)", json.dumps(self._config().to_dict()))
        given = None if X is None else self._input(X, reset=False)
        with self._run(seed=0) as run:
            page = _core.report(fitted, about, run, given, _texts(ids), _texts(labels))
        if path is not None:
            _write(Path(path), page)
        return page

    def _repr_html_(self) -> str:
        """In a notebook: the page in a frame of its own, once there is a fit."""
        if getattr(self, "_fitted", None) is None:
            return super()._repr_html_() if hasattr(super(), "_repr_html_") else f"<pre>{html.escape(repr(self))}</pre>"
        page = html.escape(self.report(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 720px; border: 0" sandbox="allow-scripts allow-downloads"></iframe>'


def _texts(values: Any) -> list[str] | None:
    if values is None:
        return None
    return ["" if value is None or value != value else str(value) for value in np.asarray(values, dtype=object)]


def _write(path: Path, page: str) -> None:
    """Under a temporary name first, so that a file is never half a page."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".taugraph-", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
