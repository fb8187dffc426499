"""The nodes' pages: the list of nodes and queues, and one page per node with its hardware and attempts."""

from datetime import timedelta
from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.charts import faults as fault_chart
from leaderboard.charts import golden
from leaderboard.models import Submission
from runners.fleet.models import Attempt, AttemptState, Node, Service
from runners.fleet.queue.waiting import troubles
from runners.fleet.web import faults, gpu_health
from runners.fleet.web.fleet_state import explained, fleet_state, queues

RECENT_ATTEMPTS = 30
SHOWN_CHANGES = 20


@require_safe
def nodes(request: HttpRequest) -> HttpResponse:
    leased = Attempt.objects.filter(state=AttemptState.LEASED).order_by().values_list("node_id").annotate(Count("pk"))
    running = dict(leased)
    found = Node.objects.exclude(service=Service.RETIRED).prefetch_related("grants__track")
    rows = [(one, running.get(one.pk, 0), gpu_health.Drift(one.last_drift)) for one in found]
    context = {"nodes": rows, "queues": explained(queues()), "fleet": fleet_state(), "troubles": troubles()}
    return render(request, "fleet/nodes.html", context)


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
        "faults": faults.fault_history(found),
        "changes": found.changes.all()[:SHOWN_CHANGES],
        "peaks": gpu_health.peaks_rows(found),
        "data_types": gpu_health.DATA_TYPES,
        "attempts": [(one, one.job.evaluation_id in open_to_user) for one in attempts],
        "counts": dict(found.attempts.filter(leased_at__gt=day).order_by().values_list("state").annotate(Count("pk"))),
        "states": AttemptState.choices,
        "sees_faults": visibility.is_organiser(request.user),
    }
    return render(request, "fleet/node.html", context)


@require_safe
def node_golden(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001 - the same for everybody
    """The golden program's history, as plotly.js draws it."""
    return JsonResponse(golden.spec(gpu_health.golden_points(get_object_or_404(Node, slug=slug))))


@require_safe
def node_faults(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001 - the same for everybody
    """The faults of the last days, as plotly.js draws them."""
    return JsonResponse(fault_chart.spec(faults.fault_days(get_object_or_404(Node, slug=slug))))


def _visible_evaluations(user: Any, attempts: list[Attempt]) -> set[int]:
    """Ids of those of the attempts' evaluations that the user may see."""
    submissions = Submission.objects.visible_to(user)
    seen = visibility.visible_evaluations(user).filter(submission__in=submissions)
    rows = Attempt.objects.filter(pk__in=[one.pk for one in attempts], job__evaluation__in=seen)
    return set(rows.order_by().values_list("job__evaluation_id", flat=True))
