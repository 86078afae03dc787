"""What can go wrong, one class for each broken rule.

All errors are :class:`TaugraphError`, named after those of the library. Those that a different input or parameter would avoid are
``ValueError`` as well, as scikit-learn has it; those of computations that failed are ``RuntimeError``.
"""

from __future__ import annotations

__all__ = [
    "BadArrayError",
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
    """Something to know about the data of a fit that succeeded: what was filled, left out, made smaller or joined."""


class EmptyError(TaugraphError, ValueError):
    """There is nothing to work on."""


class ShapeError(TaugraphError, ValueError):
    """The values do not fill a rectangle."""


class NotFiniteError(TaugraphError, ValueError):
    """A cell is infinite, or missing where that is not allowed."""


class NoVaryingColumnError(TaugraphError, ValueError):
    """No column tells the points apart."""


class ZeroRowError(TaugraphError, ValueError):
    """The cosine distance of a row of zeros."""


class TooManyPointsError(TaugraphError, ValueError):
    """More points than 32-bit ids can name."""


class TooFewPointsError(TaugraphError, ValueError):
    """Fewer distinct points than neighbors asked for."""


class ParameterError(TaugraphError, ValueError):
    """A parameter is outside its range."""


class UnknownParameterError(ParameterError):
    """A path leads to no parameter."""


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
    """A new point is too far away for its distances to be numbers."""


class TooManyClustersError(TaugraphError, ValueError):
    """More clusters than points that can be told apart."""


class FewerClustersThanComponentsError(TaugraphError, ValueError):
    """Components clustered one by one give more clusters than were asked for."""


class DisconnectedError(TaugraphError, ValueError):
    """The graph is in components and was asked to be in one."""


class BadArrayError(TaugraphError, ValueError):
    """An array of a model is not what belongs there."""


class BadEncodingError(TaugraphError, ValueError):
    """Bytes that are not those of a saved model."""


class BadHeaderError(TaugraphError, ValueError):
    """The header of a model is not what belongs there."""


class IoError(TaugraphError, OSError):
    """A reader or writer failed."""


class ModelVersionError(TaugraphError, ValueError):
    """A model of another version."""


class MemoryError(TaugraphError, _MemoryError):  # noqa: A001
    """The run would need more memory than there is; nothing was allocated."""


class ScratchError(TaugraphError, OSError):
    """A table could not be kept outside memory."""


class SolveNotConvergedError(TaugraphError, RuntimeError):
    """Conjugate gradients gave up."""


class EigenNotConvergedError(TaugraphError, RuntimeError):
    """The eigensolvers gave up."""


class DivergedError(TaugraphError, RuntimeError):
    """Training diverged."""


class NumericalError(TaugraphError, RuntimeError):
    """A dense eigenproblem or factorization failed."""


class CanceledError(TaugraphError, RuntimeError):
    """The run was asked to stop."""
