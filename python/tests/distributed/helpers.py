"""What several tests use."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


class Events(list[dict[str, Any]]):
    """A listener that remembers."""

    def __call__(self, event: dict[str, Any]) -> None:
        self.append(event)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self if event["event"] == kind]


def wait_until(condition: Callable[[], Any], seconds: float = 30) -> Any:
    """The first true value of the condition."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(f"not true within {seconds} s")
