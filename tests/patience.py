"""How long tests wait for what comes at once on a quiet machine. Only a failure takes so long."""

import time
from collections.abc import Callable

SOON = 60.0
"""Seconds."""


def until(condition: Callable[[], object], seconds: float = SOON) -> bool:
    """Whether the condition comes to hold."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.001)
    return bool(condition())
