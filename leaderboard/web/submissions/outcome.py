"""A finished submission as a result: its place, its score, the change since its entrant's last, its first failure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from leaderboard import visibility
from leaderboard.boards.columns import Cell, Column, column_of
from leaderboard.models import Counted, Evaluation, ReleaseTrack, Standing, Submission, SubmissionState, Track
from leaderboard.models.curation.decision import DecisionKind
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.results.failures import NOT_FAILURES, Failure, read_failures
from leaderboard.standings import rank
from leaderboard.visibility import SubmissionView
from problems.spec.kinds import SITE_KINDS
from scoring.board import MetricMissing
from scoring.metrics import UnknownMetric, metric_named

RANKED_WITHIN = timedelta(minutes=2)
"""After its end a submission's page waits for its rank no longer than this."""


@dataclass(frozen=True)
class SinceLast:
    """The entrant's last full submission before this one, and its score."""

    last: Submission
    cell: Cell
    difference: float | None
    """This score less the last one; None where one of them is missing. It may be noise: both have intervals."""


@dataclass(frozen=True)
class TrackOutcome:
    """One full submission's result on a track. Without a standing it does not count there."""

    column: Column
    cell: Cell
    """The score in the release's primary metric."""
    standing: Standing | None
    n_ranked: int
    """Entrants with a rank on the board, itself among them."""
    change: SinceLast | None


@dataclass(frozen=True)
class FailedFirst:
    """The first failure by the order of problems and samples, as far as the visitor may read it."""

    problem_title: str
    failure: Failure


def outcome_of(user: Any, submission: Submission, track: Track | None) -> TrackOutcome | None:
    """The outcome on the track; None for a part of the release, while work is open, or without a score.

    A fixed number of queries.
    """
    if track is None or not submission.is_full or submission.state != SubmissionState.DONE:
        return None
    place = ReleaseTrack.objects.filter(release=submission.release_id, track=track).first()
    if place is None or submission.entrant.kind in (EntrantKind.SYSTEM, EntrantKind.BASELINE):
        return None
    place.release, place.track = submission.release, track
    last = _last_before(user, submission, track)
    on_board = visibility.visible_standings(user, submission.release).filter(track=track)
    standing = on_board.filter(submission=submission).first()
    if standing:
        standing.release, standing.track = submission.release, track
    try:
        column = column_of(metric_named(submission.release.primary_metric))
        if standing and not last:
            rows = {submission.pk: standing}
        else:
            rows = _rows_of(place, [one for one in (submission, last) if one])
    except (MetricMissing, UnknownMetric):
        return None
    if submission.pk not in rows:
        return None
    return TrackOutcome(
        column=column,
        cell=column.cell(vars(rows[submission.pk])),
        standing=standing,
        n_ranked=on_board.exclude(rank=None).count(),
        change=_change(column, rows[submission.pk], rows.get(last.pk), last) if last else None,
    )


def awaits_rank(submission: Submission, track: Track | None) -> bool:
    """Whether it ended just now, and its board has not been ranked since."""
    if track is None or not submission.finished_at or timezone.now() - submission.finished_at > RANKED_WITHIN:
        return False
    place = ReleaseTrack.objects.filter(release=submission.release_id, track=track).first()
    return bool(place and place.is_stale and not place.ranking_error)


def first_failure_of(submission: Submission, track: Track | None, view: SubmissionView) -> FailedFirst | None:
    """The first failure whose outcome is told. Two queries."""
    rows = view.open_of(Evaluation.objects.live().filter(submission=submission, track=track))
    failed = rows.exclude(current_result=None).exclude(current_result__verdict__in=NOT_FAILURES)
    first = failed.order_by("problem__position", "sample__index").values_list("pk", "problem__title").first()
    if first is None:
        return None
    pk, title = first
    return FailedFirst(title, read_failures(Evaluation.objects.filter(pk=pk), view).rows[0])


def seals_part(submission: Submission, view: SubmissionView) -> bool:
    """Whether the submission answers questions whose outcome is not told yet. At most one query."""
    return view.seals_questions and submission.samples.filter(problem__kind__in=SITE_KINDS).exists()


def _last_before(user: Any, submission: Submission, track: Track) -> Submission | None:
    earlier: QuerySet[Submission] = visibility.visible_submissions(user, submission.release).filter(
        entrant=submission.entrant_id, is_full=True, state=SubmissionState.DONE, tracks=track, pk__lt=submission.pk
    )
    kept = earlier.exclude(decisions__kind=DecisionKind.SUBMISSION_RETRACTED)
    return kept.select_related("entrant").order_by("-pk").first()


def _rows_of(place: ReleaseTrack, submissions: Sequence[Submission]) -> dict[int, Standing]:
    """Their figures by submission, as a board would have them if each counted."""
    counted = [
        Counted(entrant=one.entrant, submission=one, release=place.release, track=place.track) for one in submissions
    ]
    return {row.submission_id: row for row in rank.standings_of(rank.load_of(place, counted))}


def _change(column: Column, row: Standing, before: Standing | None, last: Submission) -> SinceLast | None:
    if before is None:
        return None
    own, was = column.value(vars(row)), column.value(vars(before))
    difference = float(own) - float(was) if own is not None and was is not None else None
    return SinceLast(last, column.cell(vars(before)), difference)
