"""Whether the worker's machine can confine uploaded Python, as its last look found. The shared cache keeps it."""

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.core.cache import cache

from leaderboard.packing.process import run_podium
from problems.formats.packing_events import Done

LOOK_SECONDS = 120
_KEY, _BUSY = "packing-ground", "packing-ground-look"
_HOLDS_SECONDS = {True: 3600, False: 600}
"""Until the worker looks again."""


@dataclass(frozen=True)
class Ground:
    """`why_not` is empty where a sandbox works, else what is missing and how to mend it."""

    why_not: str
    looked_at: datetime


def known() -> Ground | None:
    """None before the first look, or after the last one has grown old."""
    found = cache.get(_KEY)
    return Ground(found[0], datetime.fromisoformat(found[1])) if found else None


def look() -> None:
    """Looks, unless the last look still holds. Called by the worker."""
    if cache.get(_KEY) or not cache.add(_BUSY, 1, LOOK_SECONDS):
        return
    with tempfile.TemporaryDirectory(prefix="podium-packing-", ignore_cleanup_errors=True) as folder:
        ended = run_podium(["check"], Path(folder), LOOK_SECONDS, lambda _events: True)
    why_not = "" if isinstance(ended, Done) else "\n".join(ended.faults)
    cache.set(_KEY, [why_not, datetime.now(UTC).isoformat()], _HOLDS_SECONDS[not why_not])
    cache.delete(_BUSY)


def forget() -> None:
    """Have the worker look again at its next turn."""
    cache.delete(_KEY)
