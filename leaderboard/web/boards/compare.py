"""The comparison of two to six entrants on one board: `/compare/?release=…&track=…&a=…&b=…`.

Without a release the page asks for the board; entrants that the address names are kept.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.boards.compare import LEAST, MOST, BoardComparison, compare
from leaderboard.boards.written import margin, written
from leaderboard.charts.boards.compare import FIGURES, differences_of, pass_differences_of
from leaderboard.charts.boards.forest import heading
from leaderboard.charts.chart import NOTHING, headed
from leaderboard.models import ReleaseTrack, Standing
from leaderboard.web.boards.figures import ChartFigure, facts_of
from leaderboard.web.boards.tabs import release_context
from leaderboard.web.shared.lookups import chosen_track, release_or_404, tracks_of
from problems.models import Release
from scoring.metrics import PASS_AT_1

MOST_BOARDS = 500
"""Boards that the form lists, newest release first."""
_NAMES = "abcdef"
"""The parameters that name entrants; `entrant` may be given several times instead, as the board's ticks do."""


def _asked(request: HttpRequest) -> list[str]:
    """The entrants that the address names, each once, in order."""
    named = [request.GET.get(name, "") for name in _NAMES]
    return list(dict.fromkeys(slug for slug in [*named, *request.GET.getlist("entrant")] if slug))


def _place(request: HttpRequest) -> ReleaseTrack:
    release = release_or_404(request, request.GET.get("release", ""))
    track = chosen_track(request, tracks_of(release))
    if track is None:
        raise Http404(f"{release.slug} is not offered on any track.")
    return get_object_or_404(ReleaseTrack.objects.select_related("release", "track"), release=release, track=track)


def _standings(request: HttpRequest, place: ReleaseTrack) -> dict[str, Standing]:
    """Every row of the board that the user may see, by the entrant's slug."""
    rows = visibility.visible_standings(request.user, place.release).filter(track=place.track)
    return {
        one.entrant.slug: one
        for one in rows.select_related("entrant").order_by(F("rank").asc(nulls_last=True), "entrant__name")
    }


def _compared(place: ReleaseTrack, chosen: Sequence[Standing]) -> BoardComparison | None:
    return compare(place, chosen, settings.BOOTSTRAP_DRAWS) if LEAST <= len(chosen) <= MOST else None


@require_safe
def comparison(request: HttpRequest) -> HttpResponse:
    """The page; with too few entrants, or too many, it has the form alone and says so."""
    if not request.GET.get("release"):
        return _choose_board(request)
    place = _place(request)
    rows, asked = _standings(request, place), _asked(request)
    chosen = [rows[slug] for slug in asked if slug in rows]
    found = _compared(place, chosen)
    whole = request.GET.get("all") == "1"
    query = urlencode({"release": place.release.slug, "track": place.track.slug, **_named(chosen)})
    context = {
        "place": place, "track": place.track, "rows": rows.values(), "chosen": chosen, "found": found,
        "chosen_slugs": {one.entrant.slug for one in chosen}, "unknown": [slug for slug in asked if slug not in rows],
        "least": LEAST, "most": MOST, "query": query, "whole": whole,
        "problems": [row for row in found.rows if whole or row.differs] if found else [],
        "figures": _figures(place, found, query) if found else [], "summary": _summary(found) if found else [],
        "heading": heading(found.metric) if found else "", "passes_heading": heading(PASS_AT_1),
        "score_heading": headed(found.metric) if found else "",
        "ranks_passes": bool(found and found.metric == PASS_AT_1),
        "tells_passes": bool(found and pass_differences_of(found)),
    }  # fmt: skip
    return render(request, "podium/boards/compare.html", release_context(request, place.release, "board") | context)


def _choose_board(request: HttpRequest) -> HttpResponse:
    """A form of the boards; once one is chosen, the page with its entrants."""
    asked, (release, _, track) = _asked(request), request.GET.get("board", "").partition("/")
    if release:
        query = urlencode({"release": release, "track": track, "entrant": asked}, doseq=True)
        return redirect(f"{reverse('compare')}?{query}")
    releases = visibility.with_visible_results(request.user, Release.objects.visible_to(request.user))
    places = ReleaseTrack.objects.filter(release__in=releases).select_related("release", "track")
    boards = places.order_by("-release__published_at", "-release_id", "track__slug")
    context = {"boards": boards[:MOST_BOARDS], "asked": asked, "least": LEAST, "most": MOST}
    return render(request, "podium/boards/compare_board.html", context)


def _summary(found: BoardComparison) -> list[dict[str, Any]]:
    """Each entrant, and how it stands against the first."""
    against = [None, *differences_of(found)]
    passes = [None, *pass_differences_of(found)] if pass_differences_of(found) else [None] * len(against)
    return [
        {
            "one": one,
            "score": _score(found, one),
            "difference": difference,
            "passes": of_passes,
        }
        for one, difference, of_passes in zip(found.entrants, against, passes, strict=True)
    ]


def _score(found: BoardComparison, one: Standing) -> tuple[str, str]:
    """The entrant's figure in the metric that ranks, and its interval."""
    value, low, high = one.figure(found.metric.name)
    return written(found.metric, value, low, high), margin(found.metric, low, high)


def _named(chosen: Sequence[Standing]) -> dict[str, str]:
    return dict(zip(_NAMES, (one.entrant.slug for one in chosen), strict=False))


def _figures(place: ReleaseTrack, found: BoardComparison, query: str) -> list[ChartFigure]:
    made, facts = [], facts_of(place.release, place.track)
    for name, figure in FIGURES.items():
        if shown := figure(found):
            title, caption, _, table = shown
            address = f"{reverse('compare_chart', args=[name])}?{query}"
            made.append(ChartFigure(title, caption, f"compare-{name}", address, table, facts=facts))
    return made


@require_safe
def chart(request: HttpRequest, name: str) -> JsonResponse:
    """The figure as plotly.js draws it."""
    if name not in FIGURES:
        raise Http404(f"There is no figure {name!r}; there are {', '.join(FIGURES)}.")
    place = _place(request)
    rows = _standings(request, place)
    found = _compared(place, [rows[slug] for slug in _asked(request) if slug in rows])
    if found is None:
        raise Http404(f"Name {LEAST} to {MOST} entrants of this board: ?release=…&track=…&a=…&b=….")
    shown = FIGURES[name](found)
    return JsonResponse(shown[2] if shown else NOTHING)
