"""Has hidden references judged by the very nodes that serve ranked times of published releases, once a day each."""

from datetime import UTC, date, timedelta

from django.db import transaction
from django.utils import timezone

from leaderboard.actions.cancel import cancel_by_site
from leaderboard.actions.reference_runs import settle_runs, stale_runs, start_run
from leaderboard.models import ReferenceRun, ReleaseTrack, Result
from leaderboard.models.entrant import EntrantKind
from leaderboard.models.evaluation import ResultOrigin
from problems.models import ReleaseState
from runners.fleet.models import Job, JobState, Node
from runners.wire.protocol import Purpose, Verdict

MOST_STARTS = 20
"""Runs that one turn starts."""


def watch_noise() -> int:
    """Start the runs that are due, and settle those that have ended. Returns the number started."""
    for stale in stale_runs():
        cancel_by_site(stale.submission, f"Node {stale.node} has not judged it in a day.")
    settle_runs()
    return sum(_start(*one) for one in _due()[:MOST_STARTS])


def _due() -> list[tuple[ReleaseTrack, str, date, list[int]]]:
    """Places with ranked times of the last day and no run for that node and day, and their problems."""
    watched = ReleaseTrack.objects.filter(watches_noise=True, release__state=ReleaseState.PUBLISHED)
    places = {(one.release_id, one.track_id): one for one in watched.select_related("release", "track")}
    rows = Result.objects.filter(
        created_at__gt=timezone.now() - timedelta(days=1), origin=ResultOrigin.FLEET, verdict=Verdict.PASSED,
        speedup__isnull=False, current_of__purpose=Purpose.LIVE, reused_from=None,
    ).exclude(evaluation__submission__entrant__kind=EntrantKind.SYSTEM)  # fmt: skip
    found: dict[tuple[int, int, str, date], set[int]] = {}
    names = "evaluation__submission__release", "evaluation__track", "provenance__node", "created_at"
    for release, track, node, at, problem in rows.order_by().values_list(*names, "evaluation__problem").iterator(5000):
        if (release, track) in places:
            found.setdefault((release, track, node, at.astimezone(UTC).date()), set()).add(problem)
    known = set(
        ReferenceRun.objects.filter(day__gte=min((key[3] for key in found), default=timezone.now().date()))
        .values_list("release", "track", "node", "day")
    )  # fmt: skip
    return [
        (places[key[0], key[1]], key[2], key[3], sorted(ids)) for key, ids in sorted(found.items()) if key not in known
    ]


@transaction.atomic
def _start(place: ReleaseTrack, node_slug: str, day: date, problem_ids: list[int]) -> bool:
    node = Node.objects.filter(slug=node_slug).first()
    run = start_run(place.release, place.track, node_slug, day, problem_ids) if node else None
    if run is None:
        return False
    Job.objects.filter(evaluation__submission=run.submission, state=JobState.QUEUED).update(only_on=node)
    return True
