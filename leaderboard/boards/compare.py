"""Compares two to six entrants of one board: differences with intervals, wins, groups, and who passed what."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.boards.written import written
from leaderboard.models import ReleaseTrack, Standing
from leaderboard.models.boards.estimates import Triple
from leaderboard.standings import rank
from leaderboard.standings.rank import SampleCounts
from problems.models import Problem
from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.board import incomplete
from scoring.board_input import BoardInput
from scoring.computed import BoardWork, Scored, means_of_groups, scored_by
from scoring.metrics import PASS_AT_1, Average, Metric, metric_named
from scoring.paired import DrawnPairs, PairedDifference, paired_differences
from scoring.pass_at_k import pass_at_k

LEAST, MOST = 2, 6
"""Bounds of the number of entrants in a comparison."""


@dataclass(frozen=True)
class Pair:
    """The first entrant of the comparison against another one, over the problems that count for both."""

    other: Standing
    primary: PairedDifference
    """The difference in the metric that ranks, other − first, on the scale of its mean: logarithms for ratios."""
    passes: PairedDifference
    """The difference of pass@1, other − first, in shares."""
    speedup: Triple
    """Other ÷ first, geometric mean; all None where no problem has a baseline time for both."""
    n_timed: int


@dataclass(frozen=True)
class ComparedProblem:
    """Each entrant's figure in the metric that ranks, and how many samples it passed of how many; None where the
    problem does not count for it."""

    problem: Problem
    metric: Metric
    values: Sequence[float | None]
    cells: Sequence[tuple[int, int] | None]

    @property
    def figures(self) -> list[str]:
        """The values as they are written; empty where pass@1 ranks, which the passes say."""
        return ["" if self.metric == PASS_AT_1 else written(self.metric, one) for one in self.values]

    @property
    def shown(self) -> list[tuple[str, tuple[int, int] | None]]:
        """Each entrant's figure and passes."""
        return list(zip(self.figures, self.cells, strict=True))

    @property
    def differs(self) -> bool:
        """Whether the figures or the shares passed are not all the same."""
        shares = [None if one is None else one[0] / max(1, one[1]) for one in self.cells]
        return len(set(zip(self.figures, shares, strict=True))) > 1


@dataclass(frozen=True)
class BoardComparison:
    """`entrants` are in the order asked for; every other sequence follows it."""

    entrants: Sequence[Standing]
    metric: Metric
    """The one that ranks."""
    pairs: Sequence[Pair]
    groups: Mapping[str, Sequence[tuple[float | None, int]]]
    """Groups by name, each with the mean of pass@1 and the number of its problems."""
    scores: Mapping[str, Sequence[float | None]]
    """Groups by name, each with the metric that ranks over its problems."""
    rows: Sequence[ComparedProblem]
    speedups: Sequence[tuple[Problem, Sequence[float | None]]]
    """Per problem: the geometric mean of each entrant's speedups, where one that fails or is slower counts as 1."""


def compare(place: ReleaseTrack, standings: Sequence[Standing], draws: int) -> BoardComparison:
    """Compare the entrants of these standings, all of the one board. A fixed number of queries."""
    board = rank.load(place, [one.entrant_id for one in standings])
    found = {one.entrant_id: n for n, one in enumerate(board.counted)}
    order = [found[one.entrant_id] for one in standings]
    given = board.input
    n, passed = given.n[order], given.passed[order]
    counted = counting(given)[order]
    first_pass = pass_at_k(n, passed, 1)
    timed = counted & given.has_rankable_baseline
    ln_speedup = np.where(n > 0, given.ln_speedup_sum[order] / np.maximum(n, 1), 0.0)
    metric, scored = ranking_values(given)
    both = scored.over(order)
    means = means_of_groups(BoardWork(given, incomplete(given)), metric.name, board.groups)
    problems = {one.pk: one for one in place.release.problems.only("task_id", "slug", "title", "group", "release")}
    listed = [problems[pk] for pk in board.problem_ids]
    return BoardComparison(
        entrants=standings,
        metric=metric,
        pairs=_pairs(standings, (metric, both), first_pass, ln_speedup, (counted, timed), drawn(place, draws)),
        groups=_groups(board.groups, first_pass, counted),
        scores={group: [_finite(value) for value in values[order]] for group, values in means.items()},
        rows=_rows(listed, metric, both, (n, passed, counted)),
        speedups=_speedups(listed, ln_speedup, timed),
    )


def ranking_values(given: BoardInput) -> tuple[Metric, Scored]:
    """The metric that ranks the board and its values by problem; pass@1 where the board lacks that metric's inputs."""
    work = BoardWork(given, incomplete(given))
    scored = scored_by(work, given.primary)
    if scored is not None:
        return metric_named(given.primary), scored
    return PASS_AT_1, Scored(work.first_pass, work.counted)


def against_first(scored: Scored, most: float, board: DrawnPairs) -> list[PairedDifference]:
    """Each entrant after the first against it, over the problems that count for both."""
    weights = np.where(np.isfinite(scored.values), scored.weights, 0.0)
    both = np.where(weights[0] > 0, weights[1:], 0.0)
    return paired_differences(scored.values[1:], scored.values[0], both, board, most)


def most_of(metric: Metric) -> float:
    """The largest difference that can be."""
    return math.inf if metric.average is Average.GEOMETRIC else 1.0


def told(metric: Metric, value: float) -> float | None:
    """A value on the scale of the metric's mean, or a difference of two, as it is told: not as a logarithm. A
    difference of logarithms is a ratio."""
    return _ratio(value) if metric.average is Average.GEOMETRIC else _finite(value)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def drawn(place: ReleaseTrack, draws: int) -> DrawnPairs:
    """The rules by which the pairs of the board are compared."""
    return DrawnPairs(place.release.digest, draws, place.release.rules)


def counting(given: BoardInput | SampleCounts) -> BoolArray:
    """Whether each problem counts for each entrant: E × P."""
    return np.asarray(~given.voided & ~given.skipped & (given.pending == 0) & (given.n > 0))


def _pairs(
    standings: Sequence[Standing], ranking: tuple[Metric, Scored], passes: FloatArray, ln_speedup: FloatArray,
    masks: tuple[BoolArray, BoolArray], board: DrawnPairs,
) -> list[Pair]:  # fmt: skip
    metric, scored = ranking
    both_counted, both_timed = (mask[1:] & mask[0] for mask in masks)
    of_primary = against_first(scored, most_of(metric), board)
    of_passes = paired_differences(passes[1:], passes[0], both_counted, board, most=1.0)
    of_speeds = paired_differences(ln_speedup[1:], ln_speedup[0], both_timed, board)
    return [
        Pair(other, first, one, (_ratio(speed.value), _ratio(speed.low), _ratio(speed.high)), speed.problems)
        for other, first, one, speed in zip(standings[1:], of_primary, of_passes, of_speeds, strict=True)
    ]


def _ratio(ln: float) -> float | None:
    return None if math.isnan(ln) else math.exp(ln)


def _groups(groups: Sequence[str], passes: FloatArray, counted: BoolArray) -> dict[str, list[tuple[float | None, int]]]:
    of_problem = np.array(groups)
    return {
        group: [_mean(one, mask & (of_problem == group)) for one, mask in zip(passes, counted, strict=True)]
        for group in dict.fromkeys(groups)
    }


def _mean(values: FloatArray, mask: BoolArray) -> tuple[float | None, int]:
    n = int(mask.sum())
    return (float(values[mask].mean()) if n else None), n


def _rows(
    problems: Sequence[Problem], metric: Metric, scored: Scored, passes: tuple[IntArray, IntArray, BoolArray]
) -> list[ComparedProblem]:
    n, passed, counted = passes
    values = np.where(scored.weights > 0, scored.values, np.nan)
    return [
        ComparedProblem(
            problem,
            metric,
            [told(metric, float(value)) for value in values[:, p]],
            [(int(passed[e, p]), int(n[e, p])) if counted[e, p] else None for e in range(len(n))],
        )
        for p, problem in enumerate(problems)
    ]


def _speedups(
    problems: Sequence[Problem], ln_speedup: FloatArray, timed: BoolArray
) -> list[tuple[Problem, list[float | None]]]:
    return [
        (problem, [math.exp(ln_speedup[e, p]) if timed[e, p] else None for e in range(len(timed))])
        for p, problem in enumerate(problems)
        if timed[:, p].any()
    ]
