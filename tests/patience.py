"""How long tests wait for what comes at once on a quiet machine. Only a failure takes so long."""

import time
from collections.abc import Callable

SOON = 60.0
"""Seconds."""


def until(condition: Callable[[], object], seconds: float = SOON, tick: float = 0.001) -> bool:
    """Whether the condition comes to hold; it is looked at once a `tick`, in seconds."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(tick)
    return bool(condition())
