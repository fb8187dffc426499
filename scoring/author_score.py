"""Scores of FlashInfer-Bench: a solution's mean ratio over its cases and the share that it wins, and an author's means.

Their formula, by our clock. Standard library only. Shown beside our metrics; never ranked.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class SolutionScore(NamedTuple):
    """`ratio` is the arithmetic mean of baseline ÷ own over cases, `wins` the share of cases with a ratio above 1."""

    ratio: float
    wins: float


NOTHING = SolutionScore(0.0, 0.0)


def solution_score(baseline_ms: Mapping[str, float], own_ms: Mapping[str, float | None]) -> SolutionScore:
    """Over the cases that have a baseline time. One without an own time gives the solution nothing."""
    own = [own_ms.get(case) for case in baseline_ms]
    if not own or None in own:
        return NOTHING
    ratios = [baseline_ms[case] / own_ms[case] for case in baseline_ms]  # type: ignore[operator]  # none is None
    return SolutionScore(sum(ratios) / len(ratios), sum(ratio > 1 for ratio in ratios) / len(ratios))


def best(solutions: Iterable[SolutionScore]) -> SolutionScore:
    """The solution with the largest ratio: repeats keep the luckiest. Nothing without any."""
    return max(solutions, default=NOTHING, key=lambda one: one.ratio)
