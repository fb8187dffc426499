"""The shortest calls of a function that can be timed."""

LEAST_MS = 0.02
"""A shorter call counts as this long: the cost of a go itself is not known more exactly."""
LEAST_GO_MS = 0.2
"""On a CPU a case whose baseline's go is shorter is not timed: the go itself would be most of it."""


def least_baseline_ms(device: str) -> float:
    """The shortest baseline, in ms, of a case that is timed on this kind of device; on a CPU of all its input sets
    together."""
    return LEAST_GO_MS if device == "cpu" else LEAST_MS
