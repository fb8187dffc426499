"""The pages of a release but for its board and problems: charts, submissions and facts."""

from collections import Counter
from typing import Any

from django.db.models import Count, F, Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from leaderboard import blobs, visibility
from leaderboard.board import table
from leaderboard.charts import BOARD_CHARTS
from leaderboard.charts.chart import NO_FIGURE, BoardRow, Triple
from leaderboard.models import BoardSnapshot, Clarification, Decision, ReleaseTrack, Track
from leaderboard.models.decision import DecisionKind
from leaderboard.models.entrant import EntrantKind
from leaderboard.verification import references_passed
from leaderboard.web.figures import board_figure
from leaderboard.web.lookups import chosen_track, release_or_404, tracks_of
from leaderboard.web.paging import other_parameters, page_of
from leaderboard.web.tabs import release_context
from problems.models import Release
from problems.spec.errors import RecordError
from problems.spec.kinds import NODE_KINDS
from problems.spec.ranking import checked_weights, weights_of_problems
from scoring.metrics import Metric, UnknownMetric, metric_named

SHOWN_ANSWERS = 50


def errata_of(release: Release) -> list[Decision]:
    """The rulings that voided problems, in the order of the problems; of a problem voided twice the latest."""
    rows = Decision.objects.filter(kind=DecisionKind.PROBLEM_VOIDED, problem__release=release)
    latest = {one.problem_id: one for one in rows.select_related("problem").order_by("problem__position", "pk")}
    return list(latest.values())


def chart_rows(user: Any, release: Release, track: Track | None, limit: int = 200) -> list[BoardRow]:
    """The figures of the board's first entrants, baselines included; none without such a metric. One query."""
    try:
        metric = metric_named(release.primary_metric)
    except UnknownMetric:  # stored past every check: its board says so
        return []
    standings = visibility.visible_standings(user, release).filter(track=track)
    rows = standings.order_by(F("rank").asc(nulls_last=True), "entrant__name").values(*table.ROW_FIELDS)
    return [
        BoardRow(
            entrant_id=row["entrant_id"],
            name=row["entrant__name"],
            is_baseline=row["entrant__kind"] == EntrantKind.BASELINE,
            pass_at_k=row["pass_at_k"],
            speedup=row["speedup"],
            speedup_low=row["speedup_low"],
            speedup_high=row["speedup_high"],
            fast_p=row["fast_p"],
            coding=(row["coding"], row["coding_low"], row["coding_high"]),
            weighted=(row["weighted"], row["weighted_low"], row["weighted_high"]),
            primary=_figure(row, metric),
            metric=metric,
            usd_per_sample=row["submission__usd_per_sample"],
        )
        for row in rows[:limit]
    ]


def _figure(row: table.Row, metric: Metric) -> Triple:
    """A metric's value and the ends of its interval."""
    if metric.k is not None:
        value, low, high = row["pass_at_k"].get(str(metric.k), NO_FIGURE)
        return value, low, high
    return row[metric.name], row.get(f"{metric.name}_low"), row.get(f"{metric.name}_high")


@require_safe
def charts(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    tracks = tracks_of(release)
    track = chosen_track(request, tracks)
    rows = chart_rows(request.user, release, track)
    figures = [board_figure(release, track, chart, rows) for chart in BOARD_CHARTS.values() if chart.is_shown(rows)]
    context = {"tracks": tracks, "track": track, "figures": figures, "n_rows": len(rows)}
    return render(request, "podium/charts.html", release_context(request, release, "charts") | context)


@require_safe
def chart(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """The figure as plotly.js draws it."""
    if name not in BOARD_CHARTS:
        raise Http404(f"There is no chart {name!r}; there are {', '.join(BOARD_CHARTS)}.")
    release = release_or_404(request, slug)
    track = chosen_track(request, tracks_of(release))
    return JsonResponse(BOARD_CHARTS[name].spec(chart_rows(request.user, release, track)))


@require_safe
def submissions(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    rows = (
        visibility.visible_submissions(request.user, release)
        .select_related("entrant")
        .prefetch_related("tracks", "counted_on")
    )
    context = {"page": page_of(request, rows), "parameters": other_parameters(request)}
    return render(
        request, "podium/release_submissions.html", release_context(request, release, "release_submissions") | context
    )


def weights_of(release: Release) -> list[tuple[str, int, float]]:
    """Group, number of its coding problems, and the weight of each: their mean over problems is 1."""
    if not release.weights:
        return []
    coding = release.problems.filter(kind__in=NODE_KINDS).order_by("position")
    groups = list(coding.values_list("group", flat=True))
    try:
        weights = weights_of_problems(checked_weights(release.weights), groups)
    except RecordError:
        return []  # such a release cannot be ranked, and its board says why
    of_group = dict(zip(groups, weights, strict=True))
    return [(group, n, of_group[group]) for group, n in Counter(groups).items()]


def _public_answers(user: Any, release: Release) -> list[Clarification]:
    """The newest ones; each also stands on its problem's page."""
    rows = visibility.visible_clarifications(user, release).filter(is_public=True)
    return list(
        rows.select_related("problem__release").defer("problem__record").order_by("-answered_at")[:SHOWN_ANSWERS]
    )


@require_safe
def about(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    offered = (
        ReleaseTrack.objects.filter(release=release)
        .select_related("track")
        .annotate(
            n_skipped=Count(
                "track__on_problems",
                filter=Q(track__on_problems__problem__release=release) & ~Q(track__on_problems__skip_reason=""),
            )
        )
        .order_by("track__slug")
    )
    hides = release.results_are_hidden and not visibility.is_organiser(request.user)
    context = {
        "offered": offered, "errata": errata_of(release), "n_problems": release.problems.count(),
        "references_passed": references_passed(release), "weights": weights_of(release),
        "snapshots": [] if hides else list(BoardSnapshot.objects.filter(release=release).select_related("track")),
        "clarifications": _public_answers(request.user, release),
    }  # fmt: skip
    return render(request, "podium/release_about.html", release_context(request, release, "release_about") | context)


@require_safe
def snapshot(request: HttpRequest, slug: str, track_slug: str) -> HttpResponse:
    """The board as it stood when its release was frozen: the stored bytes."""
    release = release_or_404(request, slug)
    if release.results_are_hidden and not visibility.is_organiser(request.user):
        raise Http404("Results are hidden.")
    found = get_object_or_404(BoardSnapshot, release=release, track__slug=track_slug)
    response = HttpResponse(blobs.read(found.sha256), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{release.slug}-{track_slug}-frozen.json"'
    return response
