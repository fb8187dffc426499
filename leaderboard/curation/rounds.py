"""A board's round: which submissions it measures anew, what it costs, and how far it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from leaderboard.models import Evaluation, EvaluationState, Rejudge, RejudgeItem, RejudgeState, ReleaseTrack, Standing
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.models.submissions.evaluation import OPEN_STATES, EvaluationQuerySet, ResultOrigin
from leaderboard.rows.shadows import NOT_JUDGED
from leaderboard.signals import Foreseen, work_foreseen
from problems.models import ReleaseState
from problems.spec.kinds import NODE_KINDS
from problems.spec.numbered import numbered
from runners.wire.protocol import Verdict

FIRST = 10
"""A submission is measured anew if its rank interval reaches this rank."""
MAX_EVALUATIONS = 50_000
"""Limit of evaluations per round, which is made in one transaction."""


@dataclass(frozen=True)
class RoundSelection:
    """The standings near the top of a board and their passes."""

    standings: Sequence[Standing]
    passes: EvaluationQuerySet
    """Passes that a node judged, which can be measured anew."""
    n_imported: Mapping[int, int]
    """Imported passes by submission id."""


@dataclass(frozen=True)
class RoundCost:
    hours: float
    """On one machine of the track, as long as the first measurements took."""
    n_nodes: int
    ends_at: datetime | None
    """None if no node of the track is online."""


def chosen(place: ReleaseTrack) -> RoundSelection:
    """The submissions that a round would measure, by the last ranking. A rank without an interval reaches no further
    than itself. Two queries."""
    ranked = Standing.objects.filter(release=place.release, track=place.track, rank__isnull=False)
    near = ranked.annotate(best=Coalesce("rank_low", "rank")).filter(best__lte=FIRST)
    standings = list(near.select_related("entrant").order_by("rank", "pk"))
    passes = Evaluation.objects.live().filter(
        submission__in=[one.submission_id for one in standings], track=place.track, problem__kind__in=NODE_KINDS,
        state=EvaluationState.DONE, current_result__verdict=Verdict.PASSED,
    )  # fmt: skip
    imported = passes.filter(current_result__origin=ResultOrigin.IMPORTED).order_by()
    n_imported = dict(imported.values_list("submission").annotate(n=Count("pk")))
    return RoundSelection(standings, passes.filter(current_result__origin=ResultOrigin.FLEET), n_imported)


def cost_of(place: ReleaseTrack, passes: EvaluationQuerySet, n: int) -> RoundCost:
    """Estimates the cost by the attempts that made the first results; attempts of unknown length count as the
    average."""
    answers: Any = work_foreseen.send(Rejudge, attempts=passes.values("current_result__attempt"), track=place.track)
    found = next((answer for _, answer in answers if isinstance(answer, Foreseen)), Foreseen(0.0, 0, 0))
    seconds = found.seconds / found.n_timed * n if found.n_timed else 0.0
    ends_at = timezone.now() + timedelta(seconds=seconds / found.n_nodes) if found.n_nodes else None
    return RoundCost(seconds / 3600, found.n_nodes, ends_at)


def why_not(place: ReleaseTrack) -> str:
    """Returns the reason why no round can be started on the board now; "" if one can."""
    release = place.release
    if release.state != ReleaseState.PUBLISHED:
        return f"{release.slug} is {release.state}. A round is of a published release, before it is frozen."
    if release.closes_at is None:
        return f"{release.slug} has no closing date. Set `closes_at` on its page; a round begins after it."
    if not release.has_closed:
        return f"{release.slug} is open until {release.closes_at:%Y-%m-%d %H:%M} UTC. A round begins after it."
    if old := round_of(place):
        return f"{place} had its one round already ({old}). Resume that one if something of it is missing."
    if n_open := n_open_live(place):
        open_work = numbered(n_open, "evaluation")
        return f"{place.track.slug} has {open_work} queued or running. Let them end or cancel them first."
    return place.ranking_error


def round_of(place: ReleaseTrack) -> Rejudge | None:
    return Rejudge.objects.filter(is_round=True, release=place.release_id, track=place.track_id).first()


def n_open_live(place: ReleaseTrack) -> int:
    rows = Evaluation.objects.live().filter(submission__release=place.release, track=place.track, state__in=OPEN_STATES)
    return rows.exclude(submission__entrant__kind=EntrantKind.SYSTEM).count()


def lacking(rejudge: Rejudge) -> QuerySet[RejudgeItem]:
    """The items of a round without a second measurement that counts."""
    failed_us = Q(after=None) | Q(after_verdict__in=NOT_JUDGED) | Q(after__voided__isnull=False)
    return rejudge.items.filter(failed_us | Q(after_verdict=Verdict.PASSED, live__second_result=None))


@dataclass(frozen=True)
class RoundOnBoard:
    """A board's facts on its round."""

    rejudge: Rejudge
    n: int
    n_lacking: int
    n_places: int

    @property
    def n_judged(self) -> int:
        return self.n - self.n_lacking

    @property
    def is_running(self) -> bool:
        return self.rejudge.state == RejudgeState.RUNNING


def on_board(place: ReleaseTrack | None) -> RoundOnBoard | None:
    """None without a round. One query, and two more with one."""
    found = round_of(place) if place else None
    if found is None:
        return None
    return RoundOnBoard(found, found.n_evaluations, lacking(found).count(), found.places.count())
