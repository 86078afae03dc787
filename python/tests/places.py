"""Where the project's files are; not in conftest.py, since each folder of tests has one of that name."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
