"""The site's figures for Prometheus, whose scraper shows PODIUM_METRICS_TOKEN. Without that there is no page."""

import statistics
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Case, Count, F, Min, Q, Value, When
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from leaderboard.errors import BadQuery, refuse_unknown
from leaderboard.models import ReleaseTrack, Track
from runners.fleet.again.rechecks import has_takers
from runners.fleet.models import LOST, UNBEGUN, Attempt, AttemptState, Job, JobState, Node, Pulse, Service
from runners.wire.protocol import Stage

RECENT = timedelta(minutes=10)
"""Attempts that began within it tell how long jobs wait for a node; those that ended, how many were lost."""
MOST_WAITS = 5_000
OPEN = (JobState.QUEUED, JobState.LEASED)
MISSING = "(missing)"


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Gauges in Prometheus' text format. Answers 404 where no token is configured, 403 where it is not shown."""
    if refusal := _refusal(request):
        return refusal
    registry = CollectorRegistry()
    registry.register(_Site())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


@require_safe
@never_cache
def open_jobs(request: HttpRequest) -> HttpResponse:
    """`{"open": n}`: jobs of `?track=…&stage=…` for which an autoscaler keeps nodes. Answers as `metrics` does, and 400
    for a track or stage that is missing or not known: an autoscaler told 0 would wait for ever.

    Leases of joined nodes count beside queued jobs, because the autoscaler subtracts the nodes that it has started;
    without queued jobs it needs no more of them. A queued recheck is not counted: those nodes join with the token of
    the node whose result it is, and may not run it, so it would start nodes without end.
    """
    if refusal := _refusal(request):
        return refusal
    names = {"track__slug": request.GET.get("track") or MISSING, "stage": request.GET.get("stage") or MISSING}
    try:
        refuse_unknown("track", names["track__slug"], Track.objects.values_list("slug", flat=True))
        refuse_unknown("stage", names["stage"], Stage)
    except BadQuery as error:
        return HttpResponse(f"{error.message}\n", status=error.status, content_type="text/plain")
    n_queued = Job.objects.filter(state=JobState.QUEUED, apart_from=None, **names).count()
    leased = Attempt.objects.filter(state=AttemptState.LEASED, node__joined_by__isnull=False)
    leased = leased.filter(**{f"job__{name}": value for name, value in names.items()})
    return JsonResponse({"open": n_queued and n_queued + leased.count()})


def _refusal(request: HttpRequest) -> HttpResponse | None:
    if not settings.METRICS_TOKEN:
        raise Http404
    shown = request.headers.get("Authorization", "")
    if constant_time_compare(shown, f"Bearer {settings.METRICS_TOKEN}"):
        return None
    return HttpResponse("Show PODIUM_METRICS_TOKEN as a bearer token.\n", status=403, content_type="text/plain")


class _Site:
    """The figures as rows tell them now."""

    def collect(self) -> Iterator[Metric]:
        now = timezone.now()
        yield from _of_jobs(now)
        yield from _of_attempts(now)
        yield _of_nodes()
        yield from _of_rankings(now)
        worker = GaugeMetricFamily("podium_worker_seen_seconds", "Time since a sign of life, by part.", labels=["part"])
        for name, at in Pulse.objects.values_list("name", "at"):
            worker.add_metric([name], _seconds(now, at))
        yield worker


def _of_jobs(now: datetime) -> Iterator[Metric]:
    count = GaugeMetricFamily(
        "podium_jobs", "Open jobs; those held are rechecks that no node may run.", labels=["track", "stage", "state"]
    )
    oldest = GaugeMetricFamily(
        "podium_oldest_queued_job_seconds", "Longest wait in a queue.", labels=["track", "stage"]
    )
    told = Case(When(has_takers(), then=F("state")), default=Value("held"))
    rows = Job.objects.filter(state__in=OPEN).annotate(told=told).values_list("track__slug", "stage", "told")
    for track, stage, state, n, since in rows.annotate(Count("pk"), Min("queued_at")).order_by():
        count.add_metric([track, stage, state], n)
        if state == JobState.QUEUED:
            oldest.add_metric([track, stage], _seconds(now, since))
    yield count
    yield oldest


def _of_attempts(now: datetime) -> Iterator[Metric]:
    lost = GaugeMetricFamily("podium_attempts_lost", "Attempts lost in the last ten minutes, by node.", labels=["node"])
    ended = Attempt.objects.filter(LOST | UNBEGUN, ended_at__gt=now - RECENT)
    for node, n in ended.values_list("node__slug").annotate(Count("pk")).order_by():
        lost.add_metric([node], n)
    yield lost
    waits = GaugeMetricFamily(
        "podium_claim_wait_seconds", "From queue to node, of jobs claimed in the last ten minutes.", labels=["quantile"]
    )
    recent = Attempt.objects.filter(leased_at__gt=now - RECENT, number=1).annotate(
        wait=F("leased_at") - F("job__queued_at")
    )
    seconds = sorted(one.total_seconds() for one in recent.order_by().values_list("wait", flat=True)[:MOST_WAITS])
    if len(seconds) > 1:
        hundredths = statistics.quantiles(seconds, n=100, method="inclusive")
        for quantile, at in (("0.5", 50), ("0.95", 95), ("0.99", 99)):
            waits.add_metric([quantile], hundredths[at - 1])
    yield waits


def _of_nodes() -> Metric:
    found = GaugeMetricFamily("podium_nodes", "Nodes, by state.", labels=["state"])
    states = Counter(node.state for node in Node.objects.exclude(service=Service.RETIRED))
    for state in sorted(states):
        found.add_metric([state], states[state])
    return found


def _of_rankings(now: datetime) -> Iterator[Metric]:
    stale = ReleaseTrack.objects.exclude(touched_at=None).filter(
        Q(ranked_at=None) | Q(touched_at__gt=F("ranked_at")), ranking_failed_at=None
    )
    found = stale.aggregate(n=Count("pk"), since=Min("touched_at"))
    boards = GaugeMetricFamily("podium_boards_to_rank", "Boards whose ranking is older than their results.")
    boards.add_metric([], found["n"])
    yield boards
    lag = GaugeMetricFamily("podium_ranking_lag_seconds", "Longest time that results wait for their ranking.")
    lag.add_metric([], _seconds(now, found["since"]) if found["since"] else 0.0)
    yield lag


def _seconds(now: datetime, at: datetime) -> float:
    return max((now - at).total_seconds(), 0.0)
