"""Has hidden references judged by the very nodes that serve ranked times of published releases, once a day each."""

from datetime import UTC, date, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from leaderboard.actions.cancel import cancel_by_site
from leaderboard.actions.reference_runs import settle_runs, stale_runs, start_run
from leaderboard.models import ReferenceRun, ReleaseTrack, Result
from leaderboard.models.entrant import EntrantKind
from leaderboard.models.evaluation import ResultOrigin
from problems.models import ReleaseState
from runners.fleet.models import Job, JobState, Node
from runners.wire.protocol import Purpose, Verdict
from scoring.rules import RULES

RECENT = timedelta(days=1)
SERVED = "evaluation__submission__release", "evaluation__track", "provenance__node", "day"
"""What one run speaks for, in words of results."""
MOST_STARTS = 20
"""Runs that one turn starts."""


def watch_noise() -> int:
    """Start the runs that are due, and settle those that have ended. Returns the number started."""
    for stale in stale_runs():
        cancel_by_site(stale.submission, f"Node {stale.node} has not judged it in a day.")
    settle_runs()
    return sum(_start(*one) for one in _due())


def _due() -> list[tuple[ReleaseTrack, str, date, list[int]]]:
    """Places with ranked times of the last day and no run for that node and day, and their problems."""
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
    due = [key for key in sorted(found) if key[:2] in places][:MOST_STARTS]
    return [(places[key[:2]], key[2], key[3], _problems_of(dated, key)) for key in due]


def _problems_of(dated: QuerySet[Result], key: tuple[int, int, str, date]) -> list[int]:
    of_key = dated.filter(**dict(zip(SERVED, key, strict=True)))
    return list(of_key.values_list("evaluation__problem", flat=True).distinct())


@transaction.atomic
def _start(place: ReleaseTrack, node_slug: str, day: date, problem_ids: list[int]) -> bool:
    node = Node.objects.filter(slug=node_slug).first()
    run = start_run(place.release, place.track, node_slug, day, problem_ids) if node else None
    if run is None:
        return False
    Job.objects.filter(evaluation__submission=run.submission, state=JobState.QUEUED).update(only_on=node)
    return True
