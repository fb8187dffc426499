"""The times of a board's single samples by case, as the aggregates hold them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from statistics import median

import numpy as np

from leaderboard.models import ProblemScore
from scoring.arrays import FloatArray
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


def median_times(
    submission_ids: Sequence[int], track_id: int, problem_ids: Sequence[int], instead: Sequence[ProblemScore]
) -> FloatArray | None:
    """E × P: the median of the samples' times in ms, each the geometric mean over its cases; NaN without one.

    A sample with a case that does not rank has no such time. None if no sample has one.
    """
    medians = np.full((len(submission_ids), len(problem_ids)), np.nan)
    columns = {pk: place for place, pk in enumerate(problem_ids)}
    for row, column, samples in sample_times(submission_ids, track_id, columns, instead):
        known = [time_ms for times in samples if (time_ms := geometric_mean(times.values())) is not None]
        if known:
            medians[row, column] = median(known)
    return None if np.isnan(medians).all() else medians
