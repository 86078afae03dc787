"""The HTML report of a fit: the same as the command line's."""

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
    """An estimator with an HTML report."""

    def report(self, path: str | os.PathLike[str] | None = None, X: Any = None, *, labels: Any = None, ids: Any = None) -> str:
        """Write the HTML report of the fit: points, edges by quantile, scales, groups, and what to do about warnings.

        Parameters
        ----------
        path : path, optional
            File to write. It is written completely or left unchanged.
        X : array-like of shape (n_samples, n_features), optional
            The data that was fitted. With it, the report shows the columns.
        labels : array-like of shape (n_samples,), optional
            True labels to compare with; None or NaN for rows without one.
        ids : array-like of shape (n_samples,), optional
            Names of the rows.

        Returns
        -------
        str
            The report. It needs no network and no other file.
        """
        fitted = getattr(self, "_fitted", None)
        if fitted is None:
            raise NeedsPointsError("a report needs the fit itself, which a pickle does not contain: fit again")
        name = type(self).__name__
        about = (name, f"{' '.join(repr(self).split())}.fit(X)", json.dumps(self._config().to_dict()))
        given = None if X is None else self._input(X, reset=False)
        with self._run(seed=0) as run:
            page = _core.report(fitted, about, run, given, _texts(ids), _texts(labels))
        if path is not None:
            _write(Path(path), page)
        return page

    def _repr_html_(self) -> str:
        """In a notebook: the report in its own frame, once there is a fit."""
        if getattr(self, "_fitted", None) is None:
            return super()._repr_html_() if hasattr(super(), "_repr_html_") else f"<pre>{html.escape(repr(self))}</pre>"
        page = html.escape(self.report(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 720px; border: 0" sandbox="allow-scripts allow-downloads"></iframe>'


def _texts(values: Any) -> list[str] | None:
    if values is None:
        return None
    return ["" if value is None or value != value else str(value) for value in np.asarray(values, dtype=object)]


def _write(path: Path, page: str) -> None:
    """Writes under a temporary name first, so that a file is never half written."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".taugraph-", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
