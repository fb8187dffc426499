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


def longest_first(prospects: Sequence[Prospect]) -> list[Prospect]:
    """By their runs, where any task's are known: one that never ran stands where an average one does.

    Of equals those with heavier builds come first, then those with a benchmark. Where no runs are known builds alone
    decide, and some light ones come early.
    """
    known = [one.run_seconds for one in prospects if one.run_seconds is not None]
    if not known:
        return heavy_with_light_between(prospects)
    average = mean(known)

    def weight(one: Prospect) -> tuple[float, float, bool]:
        return average if one.run_seconds is None else one.run_seconds, one.build_seconds, one.has_benchmark

    return sorted(prospects, key=weight, reverse=True)


def heavy_with_light_between(prospects: Sequence[Prospect]) -> list[Prospect]:
    """By turns the three with the heaviest builds left and the one with the lightest left that has a benchmark.

    All in a row are heavy once no benchmark is left. Of equals those with a benchmark come first, else they keep their
    order.
    """
    left = sorted(prospects, key=lambda one: (one.build_seconds, one.has_benchmark), reverse=True)
    order: list[Prospect] = []
    while left:
        order += left[:HEAVY_IN_A_ROW]
        del left[:HEAVY_IN_A_ROW]
        timed = [one for one in left if one.has_benchmark]
        if timed:
            lightest = min(timed, key=lambda one: one.build_seconds)
            left.remove(lightest)
            order.append(lightest)
    return order
