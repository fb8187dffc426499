"""Has hidden references judged by the very nodes that serve ranked times of published releases, once a day each."""

from dataclasses import dataclass
from datetime import UTC, date, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from leaderboard.actions.rejudging.reference_runs import settle_runs, start_run
from leaderboard.actions.submissions.cancel import cancel_by_site
from leaderboard.models import ReferenceRun, ReleaseTrack, Result, SubmissionState, Track
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.models.submissions.evaluation import ResultOrigin
from problems.models import ReleaseState
from runners.fleet.again.verify_again import serving
from runners.fleet.models import Job, JobState, Node
from runners.wire.protocol import Purpose, Verdict
from scoring.rules import RULES

RECENT, GONE_AFTER = timedelta(days=1), timedelta(hours=1)
SERVED = "evaluation__submission__release", "evaluation__track", "provenance__node", "day"
"""The meaning of one run, in words of results."""
MOST_STARTS = 20
"""Runs that one turn starts."""


def watch_noise() -> int:
    """Start the runs that are due, and settle those that have ended. Returns the number started."""
    for stale in _stale_runs():
        cancel_by_site(stale.submission, f"Node {stale.node} has not judged it.")
    settle_runs()
    return sum(map(_start, _due()))


def _stale_runs() -> list[ReferenceRun]:
    """Those whose node has gone, or has not run them in a day."""
    now = timezone.now()
    runs = ReferenceRun.objects.filter(settled_at=None, submission__state=SubmissionState.ACCEPTED)
    there = Node.objects.filter(last_seen_at__gt=now - GONE_AFTER).values("slug")
    stale = runs.filter(~Q(node__in=there) | Q(submission__created_at__lt=now - RECENT))
    return list(stale.select_related("submission"))


@dataclass(frozen=True)
class _Due:
    place: ReleaseTrack
    node: Node
    day: date
    problem_ids: list[int]


def _due() -> list[_Due]:
    """Places with ranked times of the last day, whose node still serves them, without a run for that node and day."""
    versions = [one.version for one in RULES.values() if one.watches_noise]
    watched = ReleaseTrack.objects.filter(release__rules__in=versions, release__state=ReleaseState.PUBLISHED)
    places = {(one.release_id, one.track_id): one for one in watched.select_related("release", "track")}
    served = Result.objects.filter(
        Q(current_of__purpose=Purpose.LIVE) | Q(second_of__isnull=False), created_at__gt=timezone.now() - RECENT,
        origin=ResultOrigin.FLEET, verdict=Verdict.PASSED, speedup__isnull=False, reused_from=None,
    ).exclude(evaluation__submission__entrant__kind=EntrantKind.SYSTEM)  # fmt: skip
    dated = served.order_by().annotate(day=TruncDate("created_at", tzinfo=UTC))
    found = set(dated.values_list(*SERVED).distinct())
    runs = ReferenceRun.objects.filter(day__in={key[3] for key in found})
    found -= set(runs.values_list("release", "track", "node", "day"))
    keys = sorted(key for key in found if key[:2] in places)
    tracks = {key[1]: places[key[:2]].track for key in keys}
    nodes = {(pk, node.slug): node for pk, track in tracks.items() for node in _nodes_of(track)}
    due = [key for key in keys if key[1:3] in nodes][:MOST_STARTS]
    return [_Due(places[key[:2]], nodes[key[1:3]], key[3], _problems_of(dated, key)) for key in due]


def _nodes_of(track: Track) -> QuerySet[Node]:
    return Node.objects.filter(pk__in=serving(track))


def _problems_of(dated: QuerySet[Result], key: tuple[int, int, str, date]) -> list[int]:
    of_key = dated.filter(**dict(zip(SERVED, key, strict=True)))
    return list(of_key.values_list("evaluation__problem", flat=True).distinct())


@transaction.atomic
def _start(due: _Due) -> bool:
    run = start_run(due.place.release, due.place.track, due.node.slug, due.day, due.problem_ids)
    if run is None:
        return False
    Job.objects.filter(evaluation__submission=run.submission, state=JobState.QUEUED).update(only_on=due.node)
    return True
