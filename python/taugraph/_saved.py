"""Models in files, in the same format as the command line's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from . import _core
from ._input import as_csr, as_points, csr_parts, decoded_labels
from ._run import running
from .exceptions import NeedsPointsError

_KINDS = {"b": "truth", "i": "whole number", "u": "whole number", "f": "number"}


def save(model: _core.Model, path: str | os.PathLike[str], estimator: Any, config: _core.Config) -> None:
    """Write a model with the names of its columns and classes, and its origin."""
    names, classes = getattr(estimator, "feature_names_in_", None), getattr(estimator, "classes_", None)
    kind = None if classes is None else _KINDS.get(classes.dtype.kind, "name")
    made = {"program": f"taugraph {_core.__version__} in Python", "command": type(estimator).__name__, "labels": kind}
    named = model.with_names(
        columns=None if names is None else [str(name) for name in names],
        classes=None if classes is None else [str(label) for label in classes.tolist()],
        origin={**made, "settings": {"params": config.to_dict()}},
    )
    # Written whole or not at all.
    whole = Path(path)
    part = whole.with_name(f"{whole.name}.{os.getpid()}.part")
    try:
        part.write_bytes(named.to_bytes())
        part.replace(whole)
    finally:
        part.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model that an estimator's ``save`` or the command line's ``--save-model`` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    SavedModel

    Examples
    --------
    >>> import tempfile, taugraph
    >>> X, y = taugraph.make_moons(100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clusters = taugraph.SpectralClustering(2).fit(X).save(f"{folder}/model.safetensors")
    ...     bool((taugraph.load(f"{folder}/model.safetensors").predict(X) == clusters.labels_).all())
    True
    """
    return SavedModel(_core.Model.from_bytes(Path(path).read_bytes()))


class SavedModel(BaseEstimator):
    """A model that places new points: the part of a fitted estimator that a file stores. Created by :func:`load`.

    Attributes
    ----------
    n_features_in_ : int
        Columns of the points.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if known.
    classes_ : ndarray of shape (n_classes,) or None
        The labels, if labels were propagated.
    origin_ : dict or None
        What the program that saved it recorded.
    """

    def __init__(self, model: _core.Model) -> None:
        self.model = model
        self.n_features_in_ = model.n_columns()
        names, classes = model.columns(), model.class_names()
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self.origin_: dict[str, Any] | None = model.origin()
        # A model of an embedding counts as one cluster.
        self._is_embedding = bool(self.origin_) and self.origin_.get("command") in ("SpectralEmbedding", "embed")
        self.classes_ = None if classes is None else _labels(classes, (self.origin_ or {}).get("labels"))

    def _placed(self, X: Any) -> _core.Placement:
        X = as_points(self, X, reset=False, allow_nan=True)
        given = _core.Input.sparse(csr_parts(X), X.shape[1]) if sp.issparse(X) else _core.Input.points(X)
        with running(0, None, 0, None) as run:
            return self.model.place(given, run)

    def predict(self, X: Any) -> np.ndarray:
        """The label of each point if labels were propagated, its cluster otherwise."""
        placed = self._placed(X)
        classes, clusters = placed.classes(), placed.clusters()
        if classes is not None:
            return decoded_labels(classes[0], np.arange(classes[1].shape[1]) if self.classes_ is None else self.classes_)
        if clusters is None or self._is_embedding:
            raise NeedsPointsError("this model has neither labels nor clusters; transform gives the weights of its graph")
        return clusters[0]

    def predict_membership(self, X: Any) -> np.ndarray:
        """Strength of the membership in each cluster, as :meth:`SpectralClustering.predict_membership`."""
        return self._of_clusters(self._placed(X).memberships())

    def predict_layers(self, X: Any) -> np.ndarray:
        """Cluster in each layer from coarse to fine, as :meth:`SpectralClustering.predict_layers`."""
        return self._of_clusters(self._placed(X).layers())

    def outlier_scores(self, X: Any) -> np.ndarray:
        """Outlier score of each point: about 1 among its like, higher the farther apart."""
        return self._placed(X).outlier_scores()

    def _of_clusters(self, found: np.ndarray | None) -> np.ndarray:
        if found is None or self._is_embedding:
            raise NeedsPointsError("this model has no clusters")
        return found

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class; all classes equally likely where no labeled point is near."""
        classes = self._placed(X).classes()
        if classes is None:
            raise NeedsPointsError("this model has no labels")
        return np.where((classes[0] < 0)[:, None], 1 / classes[1].shape[1], classes[1])

    def transform(self, X: Any) -> Any:
        """Coordinates if this is a model of an embedding, weights to the known rows otherwise."""
        placed = self._placed(X)
        embedding = placed.embedding()
        if embedding is not None and self._is_embedding:
            # The first eigenvector of a connected graph carries no information.
            return np.ascontiguousarray(embedding[:, 1:])
        return as_csr(placed.graph(), (len(placed.same_as()), self.model.n_rows()))


def _labels(names: list[str], kind: str | None) -> np.ndarray:
    """Labels in their original type."""
    if kind == "truth":
        return np.asarray([name == "True" for name in names])
    return np.asarray(names).astype({"whole number": np.int64, "number": np.float64}.get(kind or "name", np.str_))
