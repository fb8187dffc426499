"""The shortest calls of a function that can be timed."""

LEAST_MS = 0.02
"""The cost of a go itself is not known better: a shorter one counts as this one."""
LEAST_GO_MS = 0.2
"""On a CPU a shorter go says more of the go than of the solution: a case with such a baseline has no time for
anybody."""


def least_baseline_ms(device: str) -> float:
    """A case whose baseline takes less on this kind of device has no time; on a CPU all its input sets together."""
    return LEAST_GO_MS if device == "cpu" else LEAST_MS
