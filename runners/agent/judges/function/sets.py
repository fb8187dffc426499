"""Cases of several input sets: whether a call with a single set bears out the time of a call among them."""

from collections.abc import Sequence

from runners.agent.judges.function.contest import Reply


def one_set_ms(replies: Sequence[Reply]) -> float:
    """The least time of a go with one set, less its cost: other work on the machine only lengthens one."""
    return min((ns - one["single_overhead_ns"]) / 1e6 for one in replies for ns in one["single_ns"])
