"""Clusters of more rows than one machine holds, on the processes of one machine or on a Ray cluster."""

from __future__ import annotations

from ._cluster import cluster
from ._errors import (
    DamagedShardError,
    DistributedError,
    InputError,
    InsufficientResourcesError,
    MissingDependencyError,
    OutOfMemoryError,
    ResidentLostError,
    StorageError,
    StorageFullError,
    StorageNotSharedError,
    TaskFailedError,
    WorkerLostError,
)
from ._local import Local
from ._planning import plan
from ._ray import Ray
from ._status import clean, status

__all__ = [
    "DamagedShardError",
    "DistributedError",
    "InputError",
    "InsufficientResourcesError",
    "Local",
    "MissingDependencyError",
    "OutOfMemoryError",
    "Ray",
    "ResidentLostError",
    "StorageError",
    "StorageFullError",
    "StorageNotSharedError",
    "TaskFailedError",
    "WorkerLostError",
    "clean",
    "cluster",
    "plan",
    "status",
]
