"""The pages about the whole site: home, releases, how it is computed, and whether it is alive."""

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count, Max, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard import blobs, visibility
from leaderboard.board import table
from leaderboard.board.query import BoardQuery
from leaderboard.charts import BOARD_CHARTS
from leaderboard.models import Standing
from leaderboard.models.entrant import EntrantKind
from leaderboard.web import board_html
from leaderboard.web.board_pages import chart_rows
from leaderboard.web.figures import board_figure
from leaderboard.web.fleet_pages import fleet_state
from leaderboard.web.lookups import tracks_of
from problems.models import Problem, Release, ReleaseState
from runners.fleet.models import Job, JobState

TOP_ROWS = 10


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    published = Release.objects.visible_to(request.user).exclude(state=ReleaseState.DRAFT)
    release = published.order_by("-published_at", "-id").first()
    context: dict[str, Any] = {"release": release, "fleet": fleet_state()}
    if release:
        context |= _top_of(request, release)
    return render(request, "podium/home.html", context)


def _top_of(request: HttpRequest, release: Release) -> dict[str, Any]:
    tracks = tracks_of(release)
    track = tracks[0] if tracks else None
    query = BoardQuery(track=track.slug if track else "", k=min((k for k in release.ks if k > 1), default=1))
    found = table.load(visibility.visible_standings(request.user, release), query, [])
    chart = BOARD_CHARTS["pass-vs-speedup"]
    return {
        "track": track,
        "columns": found.columns,
        "breadth": board_html.breadth(found.columns),
        "rows": board_html.body(found.rows[:TOP_ROWS], found.columns),
        "n_all": found.n_all,
        "imported": found.imported,
        "figure": board_figure(release, track, chart, chart_rows(request.user, release, track)),
    }


@require_safe
def releases(request: HttpRequest) -> HttpResponse:
    rows = list(_with_facts(Release.objects.visible_to(request.user)))
    return render(request, "podium/releases.html", {"releases": rows})


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
    return render(request, "podium/about.html", {"site_url": settings.SITE_URL})


@require_safe
@never_cache
def livez(_request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def readyz(_request: HttpRequest) -> HttpResponse:
    """Database and blob store answer; and how long the oldest queued job has waited. 503 where one does not."""
    checks = {"database": _database_fault(), "blobs": _blob_fault()}
    facts: dict[str, Any] = {name: fault or "ok" for name, fault in checks.items()}
    if not checks["database"]:
        facts["oldest_queued_job_seconds"] = _oldest_job_seconds()
    return JsonResponse(facts, status=503 if any(checks.values()) else 200)


def _database_fault() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return f"does not answer: {type(error).__name__}"
    return ""


def _blob_fault() -> str:
    try:
        blobs.store().has("0" * 64)
        if not settings.BLOB_URL.startswith("s3:"):
            with tempfile.TemporaryFile(dir=_blob_folder()):
                return ""
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    return ""


def _blob_folder() -> str:
    folder = Path(settings.BLOB_URL.removeprefix("file://"))
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def _oldest_job_seconds() -> float | None:
    oldest = Job.objects.filter(state=JobState.QUEUED).order_by("queued_at").values_list("queued_at", flat=True).first()
    return None if oldest is None else round((timezone.now() - oldest).total_seconds(), 1)
