"""Label spreading: local and global consistency with scikit-learn's argument and default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._graph import RobustGraph
from ._labels import LabelPropagation


class LabelSpreading(LabelPropagation):
    """Label spreading by local and global consistency: :class:`LabelPropagation` with the rule ``consistency``.

    The scores F of the classes solve F = α·S·F + (1 − α)·Y, where S = D^−½·W·D^−½ is the normalized graph and Y has the given labels. This
    is the equation that scikit-learn's ``LabelSpreading`` iterates, with the same ``alpha``. Class masses are then normalized, and
    labeled rows keep their labels.

    Parameters
    ----------
    alpha : float, default=0.2
        Clamping factor, between 0 and 1: how much a row takes from its neighbors as opposed to its own label. Values near 1, such as
        0.99, are better if few rows are labeled.
    graph, n_neighbors, metric
        The graph: see :class:`SpectralClustering`.
    priors, sizes : dict of label to share, optional
        Prior probabilities of the classes, and their known shares: see :class:`LabelPropagation`.
    params : dict, optional
        Any other parameter by its path, as in ``{"propagate.priors": "uniform"}``; :func:`taugraph.params` lists them.
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
    margin_, abstained_, n_iter_, n_conflicts_
        As in :class:`LabelPropagation`.

    Examples
    --------
    >>> import numpy as np, taugraph
    >>> X, y = taugraph.make_spirals(300, random_state=1)
    >>> few = np.where(np.arange(300) % 30 == 0, y, -1)
    >>> labels = taugraph.LabelSpreading(alpha=0.9).fit(X, few)
    >>> float((labels.transduction_ == y).mean())
    1.0
    """

    def __init__(
        self,
        *,
        alpha: float = 0.2,
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
            "consistency",
            graph=graph,
            n_neighbors=n_neighbors,
            metric=metric,
            priors=priors,
            sizes=sizes,
            params=params,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            memory_limit=memory_limit,
        )
        self.alpha = alpha

    def _own(self) -> dict[str, Any]:
        return {"propagate.rule": {"kind": self.rule, "alpha": self.alpha}}
