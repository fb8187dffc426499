"""The fleet in a few figures: nodes online, jobs running and queued, and the queue of each track."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Count, Min, Q

from leaderboard.models import Track
from problems.spec.numbered import numbered
from runners.fleet.again.rechecks import has_takers
from runners.fleet.models import Job, JobState, Node, Service, online
from runners.fleet.queue.waiting import Wait, waits_of_queues


@dataclass(frozen=True)
class FleetState:
    """Counts over all nodes and tracks. `oldest_queued_at` is None if no job is queued."""

    n_nodes: int
    n_online: int
    n_disabled: int
    n_running: int
    n_queued: int
    oldest_queued_at: datetime | None


def fleet_state() -> FleetState:
    """The present counts. Makes two queries."""
    nodes = Node.objects.exclude(service=Service.RETIRED).aggregate(
        all=Count("pk"), online=Count("pk", filter=online()), disabled=Count("pk", filter=~Q(disabled_reason=""))
    )
    queued = Q(state=JobState.QUEUED)
    jobs = Job.objects.filter(has_takers(), state__in=[JobState.QUEUED, JobState.LEASED]).aggregate(
        running=Count("pk", filter=Q(state=JobState.LEASED)),
        queued=Count("pk", filter=queued),
        oldest=Min("queued_at", filter=queued),
    )
    return FleetState(nodes["all"], nodes["online"], nodes["disabled"], jobs["running"], jobs["queued"], jobs["oldest"])


@dataclass(frozen=True)
class Queue:
    """The open jobs of one track."""

    track: Track
    n_queued: int
    n_running: int
    oldest_queued_at: datetime | None
    waits: Sequence[Wait] = ()
    """The obstacle of each of its queues, where the page tells it."""


def queues() -> list[Queue]:
    """One row per track, including those without jobs. Makes two queries, over open jobs only."""
    waiting = Q(state=JobState.QUEUED)
    jobs = Job.objects.filter(has_takers(), state__in=[JobState.QUEUED, JobState.LEASED]).order_by()
    counts = jobs.values_list("track_id").annotate(
        queued=Count("pk", filter=waiting),
        running=Count("pk", filter=~waiting),
        oldest=Min("queued_at", filter=waiting),
    )
    by_track = {track_id: figures for track_id, *figures in counts}
    return [Queue(track, *by_track.get(track.pk, (0, 0, None))) for track in Track.objects.all()]


def explained(rows: Sequence[Queue]) -> list[Queue]:
    """The rows with what their queues wait for. Makes eight queries."""
    queued = Job.objects.filter(state=JobState.QUEUED).order_by().values_list("track__slug", "stage")
    oldest = queued.filter(has_takers()).annotate(Min("queued_at"))
    waits = waits_of_queues({(track, stage): since for track, stage, since in oldest})
    for track, stage, n in queued.exclude(has_takers()).annotate(Count("pk")):
        words = f"A node of another join token, or an enrolled one, is to judge again: {numbered(n, 'job')}."
        waits.setdefault(track, []).append(Wait(track, stage, words, is_stuck=False))
    return [replace(row, waits=waits.get(row.track.slug, [])) for row in rows]


def fleet_state_context() -> dict[str, FleetState]:
    """Context of `fleet/state.html`."""
    return {"fleet": fleet_state()}
