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
from leaderboard.boards.query import BoardQuery
from leaderboard.charts import leading_chart
from leaderboard.models import ReleaseTrack, Standing
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.web.boards import board_html
from leaderboard.web.boards.charts import rows_to_draw
from leaderboard.web.boards.figures import board_figure
from leaderboard.web.site import demo, worked
from leaderboard.web.site.lead import hardware_of, last_day, lead_columns, lead_of, open_problem
from problems.models import Problem, Release, ReleaseState
from problems.spec.shortest import LEAST_GO_MS, LEAST_MS
from scoring.metrics import SHOWN_ONLY, registry
from scoring.rules import NEWEST, RULES
from scoring.uncertainty import FEW_PROBLEMS

TOP_ROWS = 10
LATEST_RELEASES = 5


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The front page. It leads with `lead_of` the user; where no board has results, with the newest release."""
    published = Release.objects.visible_to(request.user).exclude(state=ReleaseState.DRAFT)
    latest = list(_with_facts(published.order_by("-published_at", "-id"))[:LATEST_RELEASES])
    lead = lead_of(request.user)
    release = lead.release if lead else latest[0] if latest else None
    context: dict[str, Any] = {"release": release, "releases": latest, "guide": demo.guide()}
    if release:
        context |= _top_of(request, release, lead or _first_place(release))
    return render(request, "podium/site/home.html", context)


def _first_place(release: Release) -> ReleaseTrack | None:
    return ReleaseTrack.objects.filter(release=release).select_related("track").order_by("track__slug").first()


def _top_of(request: HttpRequest, release: Release, place: ReleaseTrack | None) -> dict[str, Any]:
    track = place.track if place else None
    standings = visibility.visible_standings(request.user, release)
    query = BoardQuery(
        track=track.slug if track else "", ranked_by=release.primary_metric,
        k=min((k for k in release.offered_ks if k > 1), default=1),
    )  # fmt: skip
    found = table.load(table.StoredRows(standings.filter(track=track)), query, [])
    columns = lead_columns(found.columns, release.primary_metric)
    points = rows_to_draw(release, [*found.rows, *found.pinned])
    chart = leading_chart(points)
    return {
        "track": track,
        "columns": columns,
        "rows": board_html.body(
            found.rows[:TOP_ROWS], columns, board_html.Links(board_html.flags_address(release, query.track))
        ),
        "n_all": found.n_all,
        "n_problems": release.problems.count(),
        "hardware": hardware_of(track),
        "last_result": last_day(standings.filter(track=track)),
        "leader": found.rows[0] if found.rows else None,
        "problem": open_problem(request.user, release),
        "imported": found.imported,
        "ranking_error": place.ranking_error if place else "",
        "figure": board_figure(release, track, chart, points) if chart.is_shown(points) else None,
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
        "least_ms": LEAST_MS, "least_go_ms": LEAST_GO_MS,
    }  # fmt: skip
    return render(request, "podium/site/about.html", context)


@require_safe
@never_cache
def livez(_request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")
