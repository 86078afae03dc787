"""What the tests share."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

import taugraph


@pytest.fixture(scope="session")
def spirals() -> tuple[np.ndarray, np.ndarray]:
    return taugraph.make_spirals(400, noise=0.1, share=0.3, random_state=3)


@pytest.fixture(scope="session")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    return taugraph.make_blobs(300, n_columns=5, n_blobs=4, random_state=2)


@pytest.fixture(scope="session")
def program() -> str:
    """The command-line program, built by the caller of the tests."""
    found = os.environ.get("TAUGRAPH_PROGRAM") or shutil.which("taugraph")
    if not found:
        pytest.fail("set TAUGRAPH_PROGRAM to the program: make test does")
    return found


def pytest_configure(config: pytest.Config) -> None:
    # Warnings about small and separate groups are tested in test_warnings.py.
    config.addinivalue_line("filterwarnings", "ignore::taugraph.exceptions.DataWarning")
