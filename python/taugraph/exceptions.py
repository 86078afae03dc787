"""Errors, one class for each violated rule.

All errors are :class:`TaugraphError`, named after those of the library. Those that a different input or parameter would avoid are also
``ValueError``, as in scikit-learn; those of failed computations are also ``RuntimeError``.
"""

from __future__ import annotations

__all__ = [
    "BadArrayError",
    "BadConstraintError",
    "BadDistanceError",
    "BadEncodingError",
    "BadHeaderError",
    "BadLabelError",
    "BadStructureError",
    "BadWeightError",
    "CanceledError",
    "DataWarning",
    "DisconnectedError",
    "DivergedError",
    "EigenNotConvergedError",
    "EmptyError",
    "FewClassesError",
    "FewerClustersThanComponentsError",
    "IoError",
    "LengthError",
    "MemoryError",
    "ModelVersionError",
    "NeedsAllPairsError",
    "NeedsPointsError",
    "NoEdgesError",
    "NoVaryingColumnError",
    "NotFiniteError",
    "NotSymmetricError",
    "NothingToLabelError",
    "NumericalError",
    "ParameterError",
    "ParameterOfOtherError",
    "ScratchError",
    "ShapeError",
    "SolveNotConvergedError",
    "TaugraphError",
    "TooDistantError",
    "TooFewPointsError",
    "TooManyClustersError",
    "TooManyPointsError",
    "UnknownParameterError",
    "UnlabeledClassError",
    "ZeroRowError",
]

_MemoryError = MemoryError


class TaugraphError(Exception):
    """Everything that taugraph refuses or cannot finish."""


class DataWarning(UserWarning):
    """A warning about the data of a fit that succeeded: what was filled, dropped, made smaller or joined."""


class EmptyError(TaugraphError, ValueError):
    """The input is empty."""


class ShapeError(TaugraphError, ValueError):
    """The values do not fill a rectangle."""


class NotFiniteError(TaugraphError, ValueError):
    """A cell is infinite, or missing where that is not allowed."""


class NoVaryingColumnError(TaugraphError, ValueError):
    """No column tells the points apart."""


class ZeroRowError(TaugraphError, ValueError):
    """The cosine distance of an all-zero row is undefined."""


class TooManyPointsError(TaugraphError, ValueError):
    """More points than 32-bit ids can name."""


class TooFewPointsError(TaugraphError, ValueError):
    """There are too few distinct points for the requested number of neighbors."""


class ParameterError(TaugraphError, ValueError):
    """A parameter is outside its range."""


class UnknownParameterError(ParameterError):
    """A path names no parameter."""


class ParameterOfOtherError(ParameterError):
    """A parameter belongs to a choice that was not made, and would have no effect."""


class LengthError(TaugraphError, ValueError):
    """Two inputs that belong together differ in length."""


class BadLabelError(TaugraphError, ValueError):
    """A label is not one of the classes."""


class FewClassesError(TaugraphError, ValueError):
    """Fewer than two classes have a labeled row."""


class UnlabeledClassError(TaugraphError, ValueError):
    """A class has no labeled row."""


class NothingToLabelError(TaugraphError, ValueError):
    """Every point has a label already."""


class BadDistanceError(TaugraphError, ValueError):
    """A distance is negative, infinite or NaN."""


class NotSymmetricError(TaugraphError, ValueError):
    """A matrix that must be symmetric is not."""


class BadWeightError(TaugraphError, ValueError):
    """A weight is negative, infinite or NaN."""


class BadStructureError(TaugraphError, ValueError):
    """The arrays of a sparse matrix contradict each other."""


class NeedsAllPairsError(TaugraphError, ValueError):
    """Distances between all pairs are needed, but only neighbors were given."""


class NeedsPointsError(TaugraphError, ValueError):
    """The points themselves are needed, but only distances were given."""


class TooDistantError(TaugraphError, ValueError):
    """A new point is so far away that its distances overflow."""


class TooManyClustersError(TaugraphError, ValueError):
    """More clusters were requested than points can be told apart."""


class FewerClustersThanComponentsError(TaugraphError, ValueError):
    """Clustering each component separately gives more clusters than requested."""


class BadConstraintError(TaugraphError, ValueError):
    """Pairs of rows that must or must not share a cluster contradict each other."""


class NoEdgesError(TaugraphError, ValueError):
    """A graph without edges cannot be clustered."""


class DisconnectedError(TaugraphError, ValueError):
    """The graph is disconnected, but a connected one is required."""


class BadArrayError(TaugraphError, ValueError):
    """An array of a model is not what is expected."""


class BadEncodingError(TaugraphError, ValueError):
    """The bytes are not a saved model."""


class BadHeaderError(TaugraphError, ValueError):
    """The header of a model is malformed."""


class IoError(TaugraphError, OSError):
    """A reader or writer failed."""


class ModelVersionError(TaugraphError, ValueError):
    """The model has another version."""


class MemoryError(TaugraphError, _MemoryError):  # noqa: A001
    """The run needs more memory than there is; it was refused, or it ended when the system gave no more."""


class ScratchError(TaugraphError, OSError):
    """An out-of-core table could not be created."""


class SolveNotConvergedError(TaugraphError, RuntimeError):
    """Conjugate gradients did not converge."""


class EigenNotConvergedError(TaugraphError, RuntimeError):
    """The eigensolvers did not converge."""


class DivergedError(TaugraphError, RuntimeError):
    """Training diverged."""


class NumericalError(TaugraphError, RuntimeError):
    """A dense eigenproblem or factorization failed."""


class CanceledError(TaugraphError, RuntimeError):
    """The run was canceled."""
