"""Verifies the references of published releases again: after some days, and after a change of a node's software.

Each time is a rejudge of the references in shadow, so boards and the release's verification stay as they are. One that
finds no failure drops itself; one with a failure stays ready, and the dashboard shows it.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Max
from django.db.models.functions import Coalesce
from django.utils import timezone

from leaderboard.actions.rejudging.rejudge import RejudgeScope, drop, start
from leaderboard.errors import Refused
from leaderboard.models import Evaluation, Rejudge, RejudgeState, ReleaseTrack, Track
from leaderboard.models.entrants.entrant import REFERENCE
from problems.models import ReleaseState
from runners.fleet.models import NodeChange, NodeGrant, online
from runners.fleet.queue.fit import why_not
from runners.wire.protocol import Capabilities, Stage


def verify_again() -> int:
    """Start what is due. Returns the number of verifications started. `VERIFY_AGAIN_DAYS` 0 turns this off."""
    if not settings.VERIFY_AGAIN_DAYS:
        return 0
    places = ReleaseTrack.objects.filter(release__state=ReleaseState.PUBLISHED).order_by("pk")
    return sum(_verify(place) for place in places.select_related("release", "track"))


def _verify(place: ReleaseTrack) -> bool:
    earlier = Rejudge.objects.filter(release=place.release, track=place.track, is_verification=True)
    if earlier.filter(state=RejudgeState.RUNNING).exists():
        return False
    last = _last_verified(place, earlier.aggregate(at=Max("started_at"))["at"])
    reason = why_due(place.track, last) if last is not None else ""
    if not reason:
        return False
    for old in earlier.filter(state=RejudgeState.READY):
        drop(None, old, "A newer verification takes its place.")
    try:
        start(None, RejudgeScope(place.release, place.track, references_only=True), reason)
    except Refused:
        return False  # an organiser's rejudge holds the references; their turn comes after it
    return True


def _last_verified(place: ReleaseTrack, again: datetime | None) -> datetime | None:
    """When the references were last judged; None if they never were."""
    judged = Evaluation.objects.live().filter(
        submission__release=place.release, submission__entrant__slug=REFERENCE, track=place.track
    )
    made = Coalesce("current_result__reused_from__created_at", "current_result__created_at")
    first = judged.aggregate(at=Max(made))["at"]
    return None if first is None else max(first, again or first)


def why_due(track: Track, last: datetime) -> str:
    """The reason why the references of a release on the track should be judged again; "" if they need not, or
    cannot."""
    nodes = serving(track)
    if not nodes:
        return ""
    if change := NodeChange.objects.filter(node__in=nodes, at__gt=last).select_related("node").first():
        return f"Node {change.node} has changed: {change.words}."
    if timezone.now() - last > timedelta(days=settings.VERIFY_AGAIN_DAYS):
        return f"The references were last verified on {last:%Y-%m-%d}."
    return ""


def serving(track: Track) -> list[int]:
    """The online nodes that run the track's jobs."""
    stages = [Stage.RUN, Stage.BOTH]
    grants = NodeGrant.objects.filter(online("node__"), track=track, stage__in=stages, node__disabled_reason="")
    return [
        one.node_id
        for one in grants.select_related("node", "track")
        if not why_not(Capabilities.model_validate(one.node.capabilities), one.track, Stage(one.stage))
    ]
