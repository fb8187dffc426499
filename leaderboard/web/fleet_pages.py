"""The fleet: every node with what it is, what it does and why it is disabled; and the queues they serve."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Min, Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.charts import golden
from leaderboard.models import Submission, Track
from leaderboard.web import gpu_health
from runners.fleet.models import ONLINE_FOR, Attempt, AttemptState, Job, JobState, Node

RECENT_ATTEMPTS = 30


@dataclass(frozen=True)
class FleetState:
    n_nodes: int
    n_online: int
    n_disabled: int
    n_running: int
    n_queued: int
    oldest_queued_at: datetime | None


def fleet_state() -> FleetState:
    """Two queries."""
    seen = Q(last_seen_at__gt=timezone.now() - ONLINE_FOR)
    nodes = Node.objects.aggregate(
        all=Count("pk"), online=Count("pk", filter=seen), disabled=Count("pk", filter=~Q(disabled_reason=""))
    )
    queued = Q(state=JobState.QUEUED)
    jobs = Job.objects.filter(state__in=[JobState.QUEUED, JobState.LEASED]).aggregate(
        running=Count("pk", filter=Q(state=JobState.LEASED)),
        queued=Count("pk", filter=queued),
        oldest=Min("queued_at", filter=queued),
    )
    return FleetState(nodes["all"], nodes["online"], nodes["disabled"], jobs["running"], jobs["queued"], jobs["oldest"])


@dataclass(frozen=True)
class Queue:
    track: Track
    n_queued: int
    n_running: int
    oldest_queued_at: datetime | None


def queues() -> list[Queue]:
    """One row per track, those with no work too. Two queries, over open jobs only."""
    waiting = Q(state=JobState.QUEUED)
    rows = Job.objects.filter(state__in=[JobState.QUEUED, JobState.LEASED]).order_by().values_list("track_id")
    counts = rows.annotate(
        queued=Count("pk", filter=waiting),
        running=Count("pk", filter=~waiting),
        oldest=Min("queued_at", filter=waiting),
    )
    by_track = {track_id: figures for track_id, *figures in counts}
    return [Queue(track, *by_track.get(track.pk, (0, 0, None))) for track in Track.objects.all()]


@require_safe
def nodes(request: HttpRequest) -> HttpResponse:
    leased = Attempt.objects.filter(state=AttemptState.LEASED).order_by().values_list("node_id").annotate(Count("pk"))
    running = dict(leased)
    found = Node.objects.prefetch_related("grants__track")
    rows = [(one, running.get(one.pk, 0), gpu_health.Drift(one.last_drift)) for one in found]
    return render(request, "podium/nodes.html", {"nodes": rows, "queues": queues(), "fleet": fleet_state()})


@require_safe
def node(request: HttpRequest, slug: str) -> HttpResponse:
    found = get_object_or_404(Node.objects.prefetch_related("grants__track"), slug=slug)
    attempts = list(found.attempts.select_related("job__evaluation__problem", "job__track")[:RECENT_ATTEMPTS])
    open_to_user = _visible_evaluations(request.user, attempts)
    day = timezone.now() - timedelta(days=1)
    context = {
        "node": found,
        "serves": gpu_health.serves(found, list(found.grants.all())),
        "golden": gpu_health.golden_history(found),
        "peaks": gpu_health.peaks_rows(found),
        "data_types": gpu_health.DATA_TYPES,
        "attempts": [(one, one.job.evaluation_id in open_to_user) for one in attempts],
        "counts": dict(found.attempts.filter(leased_at__gt=day).order_by().values_list("state").annotate(Count("pk"))),
        "states": AttemptState.choices,
        "sees_faults": visibility.is_organiser(request.user),
    }
    return render(request, "podium/node.html", context)


@require_safe
def node_golden(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001 - the same for everybody
    """The golden program's history, as plotly.js draws it."""
    return JsonResponse(golden.spec(gpu_health.golden_points(get_object_or_404(Node, slug=slug))))


def _visible_evaluations(user: Any, attempts: list[Attempt]) -> set[int]:
    """Which of the attempts' evaluations may be named and linked."""
    submissions = Submission.objects.visible_to(user)
    rows = Attempt.objects.filter(pk__in=[one.pk for one in attempts], job__evaluation__submission__in=submissions)
    return set(rows.order_by().values_list("job__evaluation_id", flat=True))
