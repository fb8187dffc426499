"""The charts of a release: one page of them, and each as plotly.js draws it."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import F, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.boards import table
from leaderboard.boards.compare import MOST
from leaderboard.boards.differences import differences
from leaderboard.charts import (
    BOARD_CHARTS,
    BY_PROBLEM,
    DIFFERENCES,
    HISTORY,
    PASS_HEAT_MAP,
    SCORE_VS_COST,
    SPEEDUPS,
    charts_for,
)
from leaderboard.charts.boards.forest import Difference
from leaderboard.charts.boards.history import DatedResult
from leaderboard.charts.boards.pass_at_k_bars import shown_ks
from leaderboard.charts.boards.speedups import MAX_BOXES, EntrantSpeedups
from leaderboard.charts.chart import MAX_ENTRANTS, BoardRow, headed, ranks_by_passes, vary
from leaderboard.errors import refuse_unknown
from leaderboard.models import Decision, ProblemScore, ReleaseTrack, Standing, Track
from leaderboard.models.boards.estimates import figure_of_group
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.results.measured import last_day_of
from leaderboard.site.numerals import percent
from leaderboard.web.boards.figures import FigureChoice, board_figure
from leaderboard.web.boards.tabs import release_context
from leaderboard.web.shared.lookups import chosen_track, release_or_404, tracks_of
from problems.models import Release
from scoring.metrics import PASS_AT_1, SHOWN, Metric, UnknownMetric, metric_named, pass_at

MAX_ROWS = 100
"""Entrants, by rank, whom points and tables of charts show; a board of a thousand has all in its table and exports."""


def _by_rank(user: Any, release: Release, track: Track | None) -> QuerySet[Standing]:
    standings = visibility.visible_standings(user, release).filter(track=track)
    return standings.order_by(F("rank").asc(nulls_last=True), "entrant__name")


def _metric(release: Release) -> Metric | None:
    try:
        return metric_named(release.primary_metric)
    except UnknownMetric:  # stored past every check: its board says so
        return None


def chart_rows(user: Any, release: Release, track: Track | None) -> list[BoardRow]:
    """The figures of the board's first entrants, baselines included; none without such a metric. One query."""
    return rows_to_draw(release, _by_rank(user, release, track).values(*table.ROW_FIELDS)[:MAX_ROWS])


def rows_to_draw(release: Release, rows: Iterable[table.Row]) -> list[BoardRow]:
    """The figures of these rows of a board, in their order; none without such a metric."""
    metric = _metric(release)
    if metric is None:
        return []
    return [
        BoardRow(
            entrant_id=row["entrant_id"],
            name=row["entrant__name"],
            is_baseline=row["entrant__kind"] == EntrantKind.BASELINE,
            estimates=row["estimates"],
            fast_p=row["fast_p"],
            metric=metric,
            usd_per_sample=row["submission__usd_per_sample"],
            slug=row["entrant__slug"],
            groups=_of_groups(row["groups"], metric),
            pass_groups=_of_groups(row["groups"], PASS_AT_1),
        )
        for row in rows
    ]


def _of_groups(groups: Mapping[str, Mapping[str, Any]], metric: Metric) -> dict[str, float | None]:
    return {group: figure_of_group(one, metric) for group, one in groups.items()}


def by_passes(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """The same entrants by pass@1; none where pass@1 ranks them already."""
    return [replace(row, metric=PASS_AT_1, groups=row.pass_groups) for row in rows if row.metric != PASS_AT_1]


def entrant_speedups(user: Any, release: Release, track: Track | None) -> list[EntrantSpeedups]:
    """Speedups of the first ranked entrants that have times that rank. Three queries."""
    ranked = _by_rank(user, release, track).exclude(rank=None).filter(estimates__speedup__has_key="value")
    entrants = list(ranked.values_list("submission_id", "entrant_id", "entrant__name")[:MAX_BOXES])
    voided = Decision.objects.errata().filter(problem__release=release)
    left_out = set(voided.values_list("problem_id", flat=True))
    scores = ProblemScore.objects.filter(submission__in=[one for one, _, _ in entrants], track=track, n_timed__gt=0)
    speedups: dict[int, dict[str, float]] = defaultdict(dict)
    for submission_id, problem_id, task_id, ln_sum, n in scores.order_by().values_list(
        "submission_id", "problem_id", "problem__task_id", "correct_ln_sum", "n_timed"
    ):
        if problem_id not in left_out:
            speedups[submission_id][task_id] = math.exp(ln_sum / n)
    return [EntrantSpeedups(pk, name, speedups[one]) for one, pk, name in entrants if speedups[one]]


def results_over_time(user: Any, release: Release, track: Track | None) -> list[DatedResult]:
    """Every ranked entrant's counted result in the primary metric. One query."""
    metric = _metric(release)
    ranked = _by_rank(user, release, track).exclude(rank=None).exclude(primary_value=None)
    rows = ranked.values_list(
        "entrant_id", "entrant__name", "submission__created_at", "submission__measured_where", "primary_value"
    )
    return [
        DatedResult(pk, name, made_at(at, where), value, metric)
        for pk, name, at, where, value in rows
        if metric and value is not None
    ]


def made_at(submitted: datetime, measured_where: Any) -> datetime:
    """The last day of measuring of imported results, else the time of the submission."""
    try:
        return datetime.fromisoformat(last_day_of(measured_where)).replace(tzinfo=UTC)
    except ValueError:
        return submitted


@dataclass(frozen=True)
class ReferenceEntrant:
    """The entrant that the others are held against in the chart of differences."""

    entrant_id: int
    slug: str
    name: str


def reference_of(user: Any, release: Release, track: Track | None, slug: str = "") -> ReferenceEntrant | None:
    """The board's entrant of this name, without one the first by rank; None if there is none. One query."""
    board = _by_rank(user, release, track)
    found = board.filter(entrant__slug=slug) if slug else board.exclude(rank=None)
    row = found.values_list("entrant_id", "entrant__slug", "entrant__name").first()
    return ReferenceEntrant(*row) if row else None


def difference_rows(
    user: Any, release: Release, track: Track | None, reference: ReferenceEntrant | None
) -> list[Difference]:
    """The first other ranked entrants less the reference, the largest difference first. At most six queries."""
    if reference is None:
        return []
    others = _by_rank(user, release, track).exclude(rank=None).exclude(entrant=reference.entrant_id)
    names = dict(others.values_list("entrant_id", "entrant__name")[:MAX_ENTRANTS])
    if not names:
        return []
    place = ReleaseTrack.objects.select_related("release", "track").get(release=release, track=track)
    found = differences(place, reference.entrant_id, list(names), settings.BOOTSTRAP_DRAWS)
    rows = [
        Difference(pk, names[pk], reference.name, one, found.metric) for pk, one in zip(names, found.found, strict=True)
    ]
    return sorted(rows, key=lambda row: -row.found.value if row.found.problems else math.inf)


def alike_words(rows: Sequence[BoardRow]) -> str:
    """A sentence on pass@1 where it tells no entrant from another, so that its charts are left out."""
    shares = [row.pass_at(1)[0] for row in rows]
    if len(rows) < 2 or ranks_by_passes(rows) or None in shares or vary(shares):
        return ""
    return f"pass@1 is {percent(shares[0])} % for each of the {len(rows)} entrants: charts of it would say nothing."


_Source = Callable[[Any, Release, Track | None], Sequence[Any]]


def metrics_of(rows: Sequence[BoardRow]) -> list[Metric]:
    """The metrics of which a row has a figure: pass@k, then the others as boards order them."""
    known = {name for row in rows for name, estimate in row.estimates.items() if "value" in estimate}
    return [pass_at(k) for k in shown_ks(rows)] + [metric for metric in SHOWN if metric.name in known]


def drawn_by(rows: Sequence[BoardRow], name: str) -> Sequence[BoardRow]:
    """The rows to be drawn by the metric of that name; as they are without a name. Raises BadQuery."""
    known = metrics_of(rows)
    if rows:
        refuse_unknown("metric", name, (metric.name for metric in known))
    chosen = next((metric for metric in known if metric.name == name), None)
    return [replace(row, metric=chosen) for row in rows] if chosen else rows


def _score(rows: Sequence[BoardRow], track: Track | None) -> FigureChoice | None:
    """The metrics among which a reader chooses what stands against cost; None without a second one."""
    options = {metric.name: headed(metric) for metric in metrics_of(rows)}
    kept = {"track": track.slug} if track else {}
    return FigureChoice("metric", "Score", options, rows[0].metric.name, kept) if len(options) > 1 else None


def _sources(reference: ReferenceEntrant | None) -> dict[str, _Source]:
    """The source of each chart's rows."""
    return dict.fromkeys(BOARD_CHARTS, chart_rows) | {
        SPEEDUPS.name: entrant_speedups,
        BY_PROBLEM.name: entrant_speedups,
        HISTORY.name: results_over_time,
        DIFFERENCES.name: partial(difference_rows, reference=reference),
    }


def _against(reference: ReferenceEntrant, rows: Sequence[BoardRow], track: Track | None) -> FigureChoice:
    """Among the page's entrants, and the reference itself if it is none of them."""
    options = {row.slug: row.name for row in rows}
    options.setdefault(reference.slug, reference.name)
    kept = {"track": track.slug} if track else {}
    return FigureChoice("against", "Compare with", options, reference.slug, kept)


@require_safe
def charts(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    tracks = tracks_of(release)
    track = chosen_track(request, tracks)
    asked = request.GET.get("against", "")
    named = reference_of(request.user, release, track, asked)
    reference = named or reference_of(request.user, release, track)
    sources = _sources(reference)
    rows = {source: source(request.user, release, track) for source in set(sources.values())}
    by_metric = drawn_by(rows[chart_rows], request.GET.get("metric", ""))
    ordered = charts_for(_metric(release))
    others = {SCORE_VS_COST.name: by_metric, PASS_HEAT_MAP.name: by_passes(rows[chart_rows])}
    given = [(chart, others.get(chart.name, rows[sources[chart.name]])) for chart in ordered]
    choices = {
        DIFFERENCES.name: _against(reference, rows[chart_rows], track) if reference else None,
        SCORE_VS_COST.name: _score(by_metric, track),
    }
    compared = [("release", release.slug), ("track", track.slug if track else "")]
    compared += [("entrant", row.slug) for row in rows[chart_rows][:MOST]]
    context = {
        "compared": urlencode(compared), "most_compared": MOST,
        "tracks": tracks, "track": track, "n_rows": len(rows[chart_rows]),
        "n_all": _by_rank(request.user, release, track).count(), "most_rows": MAX_ROWS, "most_lines": MAX_ENTRANTS,
        "unknown": asked if not named else "", "alike": alike_words(rows[chart_rows]), "metric": _metric(release),
        "figures": [
            board_figure(release, track, chart, found, choices.get(chart.name))
            for chart, found in given
            if chart.is_shown(found)
        ],
    }  # fmt: skip
    return render(request, "podium/boards/charts.html", release_context(request, release, "charts") | context)


@require_safe
def chart(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """The figure as plotly.js draws it."""
    if name not in BOARD_CHARTS:
        raise Http404(f"There is no chart {name!r}; there are {', '.join(BOARD_CHARTS)}.")
    release = release_or_404(request, slug)
    track = chosen_track(request, tracks_of(release))
    asked, reference = request.GET.get("against", ""), None
    if name == DIFFERENCES.name:
        reference = reference_of(request.user, release, track, asked)
        if asked and reference is None:
            raise Http404(f"There is no entrant {asked!r} on this board.")
    rows = _sources(reference)[name](request.user, release, track)
    if name == SCORE_VS_COST.name:
        rows = drawn_by(rows, request.GET.get("metric", ""))
    if name == PASS_HEAT_MAP.name:
        rows = by_passes(rows)
    return JsonResponse(BOARD_CHARTS[name].spec(rows))
