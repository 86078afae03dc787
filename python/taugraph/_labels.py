"""Labels from a few labeled rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from . import _core
from ._base import has_points
from ._config import changed, in_order
from ._graph import RobustGraph
from ._input import decoded_labels, encoded_labels
from ._on_graph import OnGraph
from ._report import Reported
from .exceptions import NeedsPointsError

if TYPE_CHECKING:
    from typing_extensions import Self


class LabelPropagation(ClassifierMixin, Reported, OnGraph):
    """Label propagation from as few as one labeled row per class.

    Rows without a label have -1, ``None`` or NaN in ``y``. Rows that no label reaches stay unlabeled: ``transduction_`` is -1
    there for numeric labels and ``None`` for others, and ``abstained_`` is true.

    Parameters
    ----------
    rule : {"harmonic", "poisson", "consistency", "kernel-cosine", "nearest-in-kernel", "greedy-walk"}, default="harmonic"
        How labels spread.
    graph, n_neighbors, metric
        The graph: see :class:`SpectralClustering`.
    priors, sizes : dict of label to share, optional
        Prior probabilities of the classes, by default as frequent as among the labeled rows; known shares of the classes among the rows
        without a label.
    params : dict, optional
        Any other parameter by its path, as in ``{"propagate.rule.alpha": 0.9}`` or ``{"propagate.clamping": "soft"}``;
        :func:`taugraph.params` lists them.
    random_state, n_jobs, verbose, memory_limit
        Arguments of the run: see :class:`RobustGraph`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    transduction_ : ndarray of shape (n_samples,)
        Label of each row.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Probability of each class; zeros where no label reaches.
    margin_ : ndarray of shape (n_samples,)
        Lead of the likeliest class over the second.
    abstained_ : ndarray of shape (n_samples,)
        Rows that no label reaches.
    temperature_ : float or None
        The temperature of the probabilities, fitted on the labeled rows, each left out in turn; ``None`` if fewer than 20 can be, or
        the rule is not ``harmonic``.
    outside_group_ : ndarray
        Labeled rows that lie in the group of another class, where a large graph has as many groups as there are classes.
    n_iter_ : int
        Iterations of the linear systems.
    n_conflicts_ : int
        Number of points whose copies were given different labels.

    Examples
    --------
    >>> import numpy as np, taugraph
    >>> X, y = taugraph.make_spirals(300, random_state=1)
    >>> few = np.full(300, -1)
    >>> few[[0, 299]] = y[[0, 299]]
    >>> labels = taugraph.LabelPropagation().fit(X, few)
    >>> float((labels.transduction_ == y).mean())
    1.0
    """

    def __init__(
        self,
        rule: str = "harmonic",
        *,
        graph: str | RobustGraph = "robust",
        n_neighbors: int | None = None,
        metric: str = "auto",
        priors: Mapping[Any, float] | None = None,
        sizes: Mapping[Any, float] | None = None,
        params: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
    ) -> None:
        super().__init__(
            graph=graph,
            n_neighbors=n_neighbors,
            metric=metric,
            params=params,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            memory_limit=memory_limit,
        )
        self.rule = rule
        self.priors = priors
        self.sizes = sizes

    def _own(self) -> dict[str, Any]:
        return {"propagate.rule": self.rule}

    def _shares(self, classes: np.ndarray) -> dict[str, Any]:
        priors = in_order("priors", self.priors, classes)
        return {
            "propagate.priors": None if priors is None else {"kind": "given", "shares": priors},
            "propagate.sizes": in_order("sizes", self.sizes, classes),
        }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Spread the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points; distances if ``metric="precomputed"``; weights if ``graph="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels; -1, ``None`` or NaN for rows without one.
        sample_weight : array-like of shape (n_samples,), optional
            How much the label of each row counts: one of weight 2 pulls like those of two points with the same neighbors, one of weight 0
            is taken away. Rows without a label, and the graph itself, have no weights. For the rules ``harmonic``, ``poisson``
            and ``consistency``.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        encoded, classes = encoded_labels(y)
        config = self._config()
        given = self._input(X, reset=True, labels=encoded, config=config)
        # Names and whole numbers are classes; this check takes longer than a search for the neighbors of 200 rows.
        if classes.dtype.kind not in "iubUS" or len(classes) == 0:
            check_classification_targets(classes)
        weights = None
        if sample_weight is not None:
            weights = np.ascontiguousarray(column_or_1d(sample_weight), dtype=np.float64)
            check_consistent_length(encoded, weights)
            if not weights.any():
                raise ValueError("all sample weights are zero: no label is left")
            encoded, classes = _without(weights == 0, encoded, classes)
        config = changed(config, self._shares(classes), None)
        with self._run() as run:
            fitted = _core.fit_labels(given, encoded, len(classes), config, run, *self._before(run), weights)
        codes = fitted.labels()
        self.classes_ = classes
        self.transduction_ = decoded_labels(codes, classes)
        self.label_distributions_ = fitted.probabilities()
        self.margin_ = fitted.margins()
        self.abstained_ = codes < 0
        self.temperature_ = fitted.temperature()
        self.outside_group_ = fitted.outside_group()
        # Rules without a linear system take no iterations, but scikit-learn expects at least 1.
        self.n_iter_ = max(fitted.n_iterations(), 1)
        self.n_conflicts_ = fitted.n_conflicts()
        self._keep(fitted, given)
        return self

    def suggest(self, n: int = 10) -> np.ndarray:
        """Rows whose label would help most, the most useful first.

        Rows that no label reaches come first, then dense regions far from labels and rows whose classes are nearly tied; each as if the
        ones before were labeled. This needs the fit itself, which pickles do not contain.

        Parameters
        ----------
        n : int, default=10
            Maximum number of rows.

        Returns
        -------
        ndarray of int
        """
        check_is_fitted(self)
        if self._fitted is None:
            raise NeedsPointsError("suggestions need the graph, which is not pickled: fit again")
        with self._run(seed=0) as run:
            return np.array([row for row, _ in self._fitted.suggest(n, run)], dtype=np.int64)

    def _classes(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        placed = self._placed(X).classes()
        assert placed is not None, "a model of labels has classes"
        return placed[0], placed[1]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; a point left without a label counts as wrong.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points.
        y : array-like of shape (n_queries,)
            True labels.
        sample_weight : array-like of shape (n_queries,), optional
            Weights.

        Returns
        -------
        float
        """
        found, true = self.predict(X), column_or_1d(np.asarray(y))
        check_consistent_length(found, true, sample_weight)
        right = np.array([a == b for a, b in zip(found.tolist(), true.tolist(), strict=True)], dtype=float)
        return float(np.average(right, weights=sample_weight))

    @available_if(has_points)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for new points; all classes equally likely where no labeled point is near.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
        """
        codes, probabilities = self._classes(X)
        return np.where((codes < 0)[:, None], 1 / len(self.classes_), probabilities)

    @available_if(has_points)
    def predict(self, X: Any) -> np.ndarray:
        """Label of new points; where no labeled point is near, -1 for numeric labels and ``None`` for others.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        codes, _ = self._classes(X)
        return decoded_labels(codes, self.classes_)


def _without(rows: np.ndarray, encoded: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels without those of some rows, and the classes that are left."""
    encoded = np.where(rows, -1, encoded)
    present = np.unique(encoded[encoded >= 0])
    return np.where(encoded >= 0, np.searchsorted(present, encoded), -1), classes[present]
