"""In which order tasks begin: a long one that begins last ends alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

HEAVY_IN_A_ROW = 3
"""Builds of so many tasks are begun before one that gives the GPU something to do meanwhile."""


@dataclass(frozen=True)
class Prospect:
    """What is known of a task beforehand."""

    task: str
    run_seconds: float | None
    """What testing and timing one of its samples took so far; None where none ran."""
    build_seconds: float
    """What the longest build of its samples is guessed to take; 0 where nothing is built."""
    has_benchmark: bool


def longest_first(prospects: Sequence[Prospect], build_slots: int) -> list[Prospect]:
    """By their runs, where any task's are known: one that never ran stands where an average one does.

    Of equals those with heavier builds come first, then those with a benchmark. Where no runs are known builds alone
    decide, see `heavy_beside_light`.
    """
    known = [one.run_seconds for one in prospects if one.run_seconds is not None]
    if not known:
        return heavy_beside_light(prospects, build_slots)
    average = mean(known)

    def weight(one: Prospect) -> tuple[float, float, bool]:
        return average if one.run_seconds is None else one.run_seconds, one.build_seconds, one.has_benchmark

    return sorted(prospects, key=weight, reverse=True)


def heavy_beside_light(prospects: Sequence[Prospect], build_slots: int) -> list[Prospect]:
    """First as many as are built at once: three of four of them the heaviest, the others the lightest with a benchmark.

    Then all others, the lightest first and of equals those with a benchmark: most slots pick the heaviest build that
    waits whatever the order, and the rest of them go by it.
    """
    left = sorted(prospects, key=lambda one: (one.build_seconds, one.has_benchmark), reverse=True)
    order: list[Prospect] = []
    while left and len(order) < build_slots:
        timed = [one for one in left if one.has_benchmark]
        wants_light = len(order) % (HEAVY_IN_A_ROW + 1) == HEAVY_IN_A_ROW
        order.append(min(timed, key=lambda one: one.build_seconds) if wants_light and timed else left[0])
        left.remove(order[-1])
    return order + sorted(left, key=lambda one: (one.build_seconds, not one.has_benchmark))
