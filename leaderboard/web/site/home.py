"""The pages about the whole site: home, releases, how scores are computed, and whether the process is alive."""

from typing import Any

from django.conf import settings
from django.db.models import Count, Max, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.boards import table
from leaderboard.boards.columns import declared_words
from leaderboard.boards.query import BoardQuery
from leaderboard.charts import leading_chart
from leaderboard.models import Standing
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.standings.rankable import ranking_error
from leaderboard.web.boards import board_html
from leaderboard.web.boards.charts import chart_rows
from leaderboard.web.boards.figures import board_figure
from leaderboard.web.shared.lookups import tracks_of
from leaderboard.web.site import demo, worked
from problems.models import Problem, Release, ReleaseState
from scoring.metrics import SHOWN_ONLY, registry
from scoring.rules import NEWEST, RULES
from scoring.uncertainty import FEW_PROBLEMS

TOP_ROWS = 10
LATEST_RELEASES = 5


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The front page. It leads with the newest release that has results; without any, with the newest."""
    published = Release.objects.visible_to(request.user).exclude(state=ReleaseState.DRAFT)
    newest_first = published.order_by("-published_at", "-id")
    latest = list(_with_facts(newest_first)[:LATEST_RELEASES])
    release = visibility.with_visible_results(request.user, newest_first).first() or (latest[0] if latest else None)
    context: dict[str, Any] = {"release": release, "releases": latest, "guide": demo.guide()}
    if release:
        context |= _top_of(request, release)
    return render(request, "podium/site/home.html", context)


def _top_of(request: HttpRequest, release: Release) -> dict[str, Any]:
    tracks, standings = tracks_of(release), visibility.visible_standings(request.user, release)
    ranked = set(standings.order_by().values_list("track_id", flat=True).distinct())
    track = next((one for one in tracks if one.pk in ranked), tracks[0] if tracks else None)
    query = BoardQuery(
        track=track.slug if track else "", ranked_by=release.primary_metric,
        k=min((k for k in release.offered_ks if k > 1), default=1),
    )  # fmt: skip
    found = table.load(table.StoredRows(standings.filter(track=track)), query, [])
    points = chart_rows(request.user, release, track)
    chart = leading_chart(points)
    return {
        "track": track,
        "columns": found.columns,
        "declared": declared_words(found.columns),
        "rows": board_html.body(
            found.rows[:TOP_ROWS], found.columns, board_html.Links(board_html.flags_address(release, query.track))
        ),
        "n_all": found.n_all,
        "imported": found.imported,
        "ranking_error": ranking_error(release, query.track),
        "figure": board_figure(release, track, chart, points),
    }


@require_safe
def releases(request: HttpRequest) -> HttpResponse:
    rows = list(_with_facts(Release.objects.visible_to(request.user)))
    return render(request, "podium/site/releases.html", {"releases": rows})


def _with_facts(rows: Any) -> Any:
    """Each release with its problems, entrants and last result, in the one query."""
    problems = Problem.objects.filter(release=OuterRef("pk")).order_by().values("release")
    standings = Standing.objects.filter(release=OuterRef("pk")).exclude(entrant__kind=EntrantKind.SYSTEM).order_by()
    entrants = standings.values("release").annotate(n=Count("entrant", distinct=True)).values("n")
    return rows.annotate(
        n_problems=Coalesce(Subquery(problems.annotate(n=Count("pk")).values("n")), 0),
        n_entrants=Coalesce(Subquery(entrants), 0),
        last_result_at=Subquery(standings.values("release").annotate(last=Max("updated_at")).values("last")),
    )


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    context = {
        "site_url": settings.SITE_URL, "metrics": registry(), "shown_only": SHOWN_ONLY, "worked": worked.examples(),
        "few_problems": FEW_PROBLEMS, "rules": RULES.values(), "newest": NEWEST,
    }  # fmt: skip
    return render(request, "podium/site/about.html", context)


@require_safe
@never_cache
def livez(_request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")
