"""The sol_score of each entrant on each problem of a board, from the times of its samples by case."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from leaderboard.models import ProblemScore
from leaderboard.results.rates import speed_of_light_ms
from leaderboard.standings.sample_times import sample_times
from problems.models import Problem
from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.sol_score import has_room, sol_score

_Bounds = Mapping[str, tuple[float, float]]
"""Baseline and least time in ms of each case that can be scored."""


def sol_scores(
    problems: Sequence[Problem],
    baselines_ms: Mapping[int, Mapping[str, float]],
    peaks: Mapping[str, Any],
    submission_ids: Sequence[int],
    track_id: int,
    n_samples: IntArray,
    instead: Sequence[ProblemScore] = (),
) -> tuple[FloatArray | None, BoolArray | None]:
    """The scores (E × P) and the problems whose baseline is at its bound (P).

    None and None if no problem's work has a bound at these peaks.

    `baselines_ms` holds the rankable baseline's time of each case, by problem; `n_samples` is E × P. The score is the
    mean over samples of the mean over a sample's timed cases whose baseline leaves room. A sample or case whose time
    does not rank counts 0. `instead` replaces stored aggregates. Makes at most one query.
    """
    least_ms = [_least_ms(one, peaks) for one in problems]
    if not any(least_ms):
        return None, None
    known = [_with_baseline(baselines_ms.get(one.pk, {}), least) for one, least in zip(problems, least_ms, strict=True)]
    bounds = [{case: pair for case, pair in of_one.items() if has_room(*pair)} for of_one in known]
    columns = {one.pk: place for place, one in enumerate(problems) if bounds[place]}
    sums = _sums(bounds, columns, submission_ids, track_id, instead)
    scored = np.array([bool(one) for one in bounds], dtype=np.bool_)
    at_bound = np.array([bool(one) for one in known], dtype=np.bool_) & ~scored
    return np.where(scored, sums / np.maximum(n_samples, 1), np.nan), at_bound


def _least_ms(problem: Problem, peaks: Mapping[str, Any]) -> Mapping[str, float]:
    """The bound of each timed case; empty if a case has none, because a score is a mean over the cases."""
    bounds = {case.name: speed_of_light_ms(case, peaks) for case in problem.public_cases}
    known = {case: bound for case, bound in bounds.items() if bound is not None}
    return known if len(known) == len(bounds) else {}


def _with_baseline(baseline_ms: Mapping[str, float], least_ms: Mapping[str, float]) -> _Bounds:
    return {case: (baseline_ms[case], least) for case, least in least_ms.items() if case in baseline_ms}


def _sums(
    bounds: Sequence[_Bounds],
    columns: Mapping[int, int],
    submission_ids: Sequence[int],
    track_id: int,
    instead: Sequence[ProblemScore],
) -> FloatArray:
    """E × P: the sum over samples of the mean over cases."""
    cases = _timed_cases(bounds, columns, submission_ids, track_id, instead)
    timed = np.fromiter(cases, dtype=np.dtype((np.float64, 6)))
    row, column, n_cases, time_ms, baseline_ms, least_ms = timed.T
    sums = np.zeros((len(submission_ids), len(bounds)))
    place = row.astype(np.int64), column.astype(np.int64)
    np.add.at(sums, place, sol_score(time_ms, baseline_ms, least_ms) / n_cases)
    return sums


def _timed_cases(
    bounds: Sequence[_Bounds],
    columns: Mapping[int, int],
    submission_ids: Sequence[int],
    track_id: int,
    instead: Sequence[ProblemScore],
) -> Iterator[tuple[float | None, ...]]:
    """Row, column, number of the sample's scored cases, own time (None: does not rank), baseline's and least time."""
    for row, column, samples in sample_times(submission_ids, track_id, columns, instead):
        for times_ms in samples:
            scored = [case for case in bounds[column] if case in times_ms]
            for case in scored:
                yield row, column, len(scored), times_ms[case], *bounds[column][case]
