"""Labels from a few examples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from . import _core
from ._base import GraphEstimator, knows_points, warn_of_training
from ._input import as_graph, decoded_labels, encoded_labels
from ._params import in_order, preset_name, propagate_json


class LabelPropagation(ClassifierMixin, GraphEstimator):
    """Labels spread from as little as one example of each class.

    Rows without a label have -1, ``None`` or NaN in ``y``. Where no example reaches, there is no label: ``transduction_`` has -1
    there among numbers and ``None`` among all else, and ``abstained_`` says so.

    Parameters
    ----------
    rule : {"harmonic", "poisson", "consistency", "kernel-cosine", "nearest-in-kernel", "greedy-walk"}, default="harmonic"
        How labels spread.
    affinity : str, default="robust"
        A preset of :class:`RobustGraph`, or ``precomputed`` if ``X`` is a matrix of weights.
    alpha : float, default=0.99
        Consistency: how much a node listens to its neighbors.
    max_walk : int, default=5
        Greedy walk: most steps.
    kernel_pairs : int, optional
        Greedy walk: eigenpairs that are used; all by default.
    soft : float, optional
        Lets examples be outvoted: their strength, in units of their degree.
    priors, sizes : dict of label to share, optional
        How likely classes are; shares of the classes among rows without a label.
    tol : float, optional
        Residual of the linear systems.
    max_iter : int, optional
        Most iterations of the linear systems.
    n_neighbors, metric, standardize, missing, pca, estimator, taus, threshold, search, recall, link_components, graph_params
        Parameters of the graph: see :class:`RobustGraph`.
    random_state, n_jobs, verbose, memory_limit
        Parameters of the run: see :class:`RobustGraph`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    transduction_ : ndarray of shape (n_samples,)
        Label of each row.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Probability of each class; zeros where no example reaches.
    margin_ : ndarray of shape (n_samples,)
        How far the likeliest class is ahead of the second.
    abstained_ : ndarray of shape (n_samples,)
        Rows that no example reaches.
    n_iter_ : int
        Iterations of the linear systems.

    LabeledNodes
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
        affinity: str = "robust",
        alpha: float = 0.99,
        max_walk: int = 5,
        kernel_pairs: int | None = None,
        soft: float | None = None,
        priors: Mapping[Any, float] | None = None,
        sizes: Mapping[Any, float] | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        standardize: str = "auto",
        missing: str = "median",
        pca: int | None = None,
        estimator: str | Sequence[str] | Mapping[str, Any] | None = None,
        taus: Sequence[float] | None = None,
        threshold: float | None = None,
        search: str | None = None,
        recall: float | None = None,
        link_components: bool | None = None,
        graph_params: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
    ) -> None:
        self.rule = rule
        self.affinity = affinity
        self.alpha = alpha
        self.max_walk = max_walk
        self.kernel_pairs = kernel_pairs
        self.soft = soft
        self.priors = priors
        self.sizes = sizes
        self.tol = tol
        self.max_iter = max_iter
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.standardize = standardize
        self.missing = missing
        self.pca = pca
        self.estimator = estimator
        self.taus = taus
        self.threshold = threshold
        self.search = search
        self.recall = recall
        self.link_components = link_components
        self.graph_params = graph_params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit

    def _is_precomputed(self) -> bool:
        return self.metric == "precomputed" or self.affinity == "precomputed"

    def fit(self, X: Any, y: Any) -> LabelPropagation:
        """Spread the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points; distances if ``metric="precomputed"``; weights if ``affinity="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels; -1, ``None`` or NaN where there is none.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError("This LabelPropagation estimator requires y to be passed, but the target y is None.")
        X = self._validated(X, reset=True)
        encoded, classes = encoded_labels(y)
        check_consistent_length(X, encoded)
        self.classes_ = classes
        check_classification_targets(self.classes_)
        params = propagate_json(
            self.rule,
            alpha=self.alpha,
            max_walk=self.max_walk,
            kernel_pairs=self.kernel_pairs,
            soft=self.soft,
            priors=in_order("priors", self.priors, classes),
            sizes=in_order("sizes", self.sizes, classes),
            tol=self.tol,
            max_iter=self.max_iter,
        )
        with self._run() as run:
            if self.affinity == "precomputed":
                parts, _ = as_graph(X)
                found = _core.propagate_graph(parts, encoded, len(self.classes_), params, run)
                self._model, self._make_model = None, None
            else:
                graph = self._graph_of(X, preset_name(self.affinity, "precomputed"), run)
                found = graph.propagate(encoded, len(self.classes_), params, run)
                warn_of_training(json.loads(graph.diagnostics()))
                self._keep_model(graph, X, classes=found)
        codes = found.labels()
        self.transduction_ = decoded_labels(codes, self.classes_)
        self.label_distributions_ = found.probabilities()
        self.margin_ = found.margins()
        self.abstained_ = codes < 0
        self.n_iter_, _, self.n_conflicts_ = found.info()
        self.n_iter_ = max(self.n_iter_, 1)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of points whose label is found; one without a label counts as not found.

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

    @available_if(knows_points)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for new points; all classes alike where no labeled point is near.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
        """
        codes, probabilities, _ = self._placed(X).classes()
        return np.where((codes < 0)[:, None], 1 / len(self.classes_), probabilities)

    @available_if(knows_points)
    def predict(self, X: Any) -> np.ndarray:
        """Label of new points: -1 among numbers, and ``None`` among all else, where no labeled point is near.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        codes, _, _ = self._placed(X).classes()
        return decoded_labels(codes, self.classes_)
