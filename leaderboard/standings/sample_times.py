"""The times of a board's single samples by case, as the aggregates hold them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from statistics import median

import numpy as np
from django.db.models import Count

from leaderboard.models import ProblemScore, Sample
from problems.spec.case import is_held_out
from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.author_score import best, solution_score
from scoring.metrics import AUTHOR_SCORE, MEDIAN_TIME, WIN_RATE
from scoring.throughput import geometric_mean

Times = Mapping[str, float | None]
"""Case → median in ms; None if the case's time does not rank."""


def sample_times(
    submission_ids: Sequence[int], track_id: int, columns: Mapping[int, int], instead: Sequence[ProblemScore]
) -> Iterator[tuple[int, int, Sequence[Times]]]:
    """Row, column and the times of the samples whose time ranks, of each submission on each of these problems.

    `columns` has the problems' columns by id. `instead` replaces stored aggregates. Makes one query.
    """
    rows = {pk: place for place, pk in enumerate(submission_ids)}
    replaced = {(one.submission_id, one.problem_id): one.times_ms for one in instead if one.problem_id in columns}
    stored = ProblemScore.objects.filter(
        submission_id__in=submission_ids, track_id=track_id, problem_id__in=columns, n_timed__gt=0
    ).values_list("submission_id", "problem_id", "times_ms")
    kept = (row for row in stored.iterator(5000) if row[:2] not in replaced)
    for submission_id, problem_id, samples in chain(kept, ((*key, times) for key, times in replaced.items())):
        yield rows[submission_id], columns[problem_id], samples


def figures_of_times(
    submission_ids: Sequence[int],
    track_id: int,
    problem_ids: Sequence[int],
    baselines_ms: Mapping[int, Times],
    attempted: BoolArray,
    instead: Sequence[ProblemScore],
) -> dict[str, FloatArray]:
    """E × P figures of single samples' times by name of metric; a metric of which nothing is known is left out.

    The median is that of the samples' times in ms, each the geometric mean over its cases; NaN without one. A sample
    with a case that does not rank has no such time. The scores of FlashInfer-Bench are those of the best sample, 0 if
    none has times, and NaN where nothing was attempted (E × P) or the baseline has no time (`baselines_ms` by problem).
    """
    known = [_public(baselines_ms.get(pk, {})) for pk in problem_ids]
    scored = attempted & np.array([bool(one) for one in known], dtype=np.bool_)
    medians = np.full(attempted.shape, np.nan)
    ratios, wins = (np.where(scored, 0.0, np.nan) for _ in range(2))
    columns = {pk: place for place, pk in enumerate(problem_ids)}
    for row, column, samples in sample_times(submission_ids, track_id, columns, instead):
        times_ms = [time_ms for times in samples if (time_ms := geometric_mean(times.values())) is not None]
        if times_ms:
            medians[row, column] = median(times_ms)
        if scored[row, column]:
            found = best(solution_score(known[column], times) for times in samples)
            ratios[row, column], wins[row, column] = found
    figures = {MEDIAN_TIME.name: medians, AUTHOR_SCORE.name: ratios, WIN_RATE.name: wins}
    return {name: values for name, values in figures.items() if not np.isnan(values).all()}


def _public(baseline_ms: Times) -> dict[str, float]:
    """The known times of the cases that are not held out, as aggregates keep the samples' times."""
    return {case: ms for case, ms in baseline_ms.items() if ms is not None and not is_held_out(case)}


def attempted_problems(
    submission_ids: Sequence[int], problem_ids: Sequence[int], n_samples: IntArray, skipped: BoolArray
) -> BoolArray:
    """E × P: whether the submission has a sample of the problem that was not skipped. At most two queries.

    Counts of aggregates include absent samples, so that submissions that lack problems are looked at one by one.
    """
    counts = Sample.objects.filter(submission_id__in=submission_ids).order_by().values("submission")
    n_problems = dict(counts.annotate(n=Count("problem", distinct=True)).values_list("submission", "n"))
    given = (n_samples > 0) & ~skipped
    lacking = [pk for place, pk in enumerate(submission_ids) if n_problems.get(pk, 0) < int(given[place].sum())]
    if lacking:
        pairs = Sample.objects.filter(submission_id__in=lacking).values_list("submission_id", "problem_id")
        known = set(pairs)
        for pk in lacking:
            place = submission_ids.index(pk)
            given[place] &= np.array([(pk, problem) in known for problem in problem_ids], dtype=np.bool_)
    return given
