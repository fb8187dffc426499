"""The flag of a time that is shorter than the device allows for the declared work."""

from runners.agent.judges.judgement import Finding

TOLERANCE = 0.9
"""A time below this share of the bound is flagged. The share is below 1 because peaks are measured to a few percent."""
CACHES = 2
"""Data of more than so many L2 caches cannot lie there when the work begins."""


def below_roofline(time_ms: float, bound_ms: float | None, where: str = "") -> Finding | None:
    """None for a plausible time, and where there is no bound. `where` begins the words."""
    if bound_ms is None or time_ms >= TOLERANCE * bound_ms:
        return None
    words = f"{time_ms:.4g} ms is less than {TOLERANCE:g} × the {bound_ms:.4g} ms that the device needs at its peaks."
    return Finding("below_roofline", where + words)
