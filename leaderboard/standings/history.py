"""A board as it stood at the end of a day: the submissions finished by then, by the results and rulings of then."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

import numpy as np

from leaderboard.models import Counted, Decision, Flag, ProblemScore, ReleaseTrack, Submission
from leaderboard.standings import count, rank, scores
from leaderboard.standings.board_arrays import BoardArrays, PackedBoard
from problems.sealing import told_problems
from scoring.arrays import BoolArray

MOST_SCORES = 120_000
"""Submissions × problems that a request reads from the database: about two seconds."""
MOST_CHANGED, MOST_SUBMISSIONS = 2_000, 200
"""Aggregates that a request computes anew from single results, and the submissions whose they are."""


class BoardTooLarge(ValueError):
    """The board of that day would take too long to rank in a request. The message says why."""


def end_of(day: date) -> datetime:
    """The first moment after the day, UTC."""
    return datetime.combine(day + timedelta(days=1), datetime.min.time(), tzinfo=UTC)


def board_at(place: ReleaseTrack, day: date, stored: PackedBoard | None) -> BoardArrays:
    """The board's arrays, of all problems. Raises TooLarge.

    If all those submissions still count, and none was judged or ruled on again since, the rows are taken from `stored`.
    """
    end = end_of(day)
    counted = _counted(place, end)
    changed = _changed([one.submission_id for one in counted], place, end)
    ids = {one.submission_id for one in counted}
    if stored is not None and not changed and ids <= set(stored.submission_ids):
        entrants = np.array([pk in ids for pk in stored.submission_ids], dtype=np.bool_)
        everything = np.ones(len(stored.problem_ids), dtype=np.bool_)
        return stored.over(place, everything, voided_before(place, stored.problem_ids, end), entrants)
    n_scores = len(counted) * told_problems(place.release).count()
    n_submissions = len({submission for submission, _ in changed})
    if n_scores > MOST_SCORES or len(changed) > MOST_CHANGED or n_submissions > MOST_SUBMISSIONS:
        raise BoardTooLarge(
            f"Since {day} entrants of this board were counted or judged anew. Ranking it as it stood then would read"
            f" {n_scores:,} aggregates and compute {min(len(changed), MOST_CHANGED + 1):,} or more of them anew, of"
            f" {n_submissions:,} submissions; a page does at most {MOST_SCORES:,}, {MOST_CHANGED:,} and"
            f" {MOST_SUBMISSIONS:,}."
        )
    return rank.load_of(place, counted, list(_scores_then(place, counted, changed, end)), end)


def voided_before(place: ReleaseTrack, problem_ids: Sequence[int], end: datetime | None) -> BoolArray:
    """P: the problems that were voided by then (None: by now)."""
    decided = Decision.objects.errata(end).filter(problem__release=place.release)
    voided = set(decided.values_list("problem_id", flat=True))
    return np.array([pk in voided for pk in problem_ids], dtype=np.bool_)


def _counted(place: ReleaseTrack, end: datetime) -> list[Counted]:
    """The submission of each entrant that was last chosen by then, of those finished by then. Two queries.

    Those retracted since are left out.
    """
    chosen = count.last_chosen(place.release_id, place.track_id, before=end)
    found = Submission.objects.select_related("entrant", "release").in_bulk([one for _, one in chosen.values()])
    return [
        Counted(entrant=one.entrant, release=place.release, track_id=place.track_id, submission=one)
        for one in sorted(found.values(), key=lambda one: one.entrant_id)
    ]


def _changed(submission_ids: Sequence[int], place: ReleaseTrack, end: datetime) -> set[tuple[int, int]]:
    """(submission, problem) ids of aggregates judged, flagged or ruled on since then; of each one too many at most."""
    judged = ProblemScore.objects.filter(
        submission__in=submission_ids, track_id=place.track_id, last_result_at__gte=end
    ).values_list("submission_id", "problem_id")
    of_result = "result__evaluation__submission", "result__evaluation__problem"
    flags = Flag.objects.filter(result__evaluation__submission__in=submission_ids)
    raised = flags.filter(created_at__gte=end).values_list(*of_result)
    ruled = flags.filter(decisions__at__gte=end).values_list(*of_result)
    return {pair for rows in (judged, raised, ruled) for pair in rows[: MOST_CHANGED + 1]}


def _scores_then(
    place: ReleaseTrack, counted: Sequence[Counted], changed: set[tuple[int, int]], end: datetime
) -> Iterator[ProblemScore]:
    for one in counted:
        if problem_ids := sorted(problem for submission, problem in changed if submission == one.submission_id):
            yield from scores.computed(one.submission, place.track, problem_ids, before=end)
