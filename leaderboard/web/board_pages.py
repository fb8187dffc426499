"""The pages of a release: its board, submissions and facts; and the board as CSV and JSON."""

from collections import Counter
from typing import Any

from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from leaderboard import blobs, visibility
from leaderboard.board import export, table, timed_work
from leaderboard.board.columns import declared_words
from leaderboard.board.query import ALL_GROUPS, BoardQuery, parse
from leaderboard.models import BoardSnapshot, Clarification, Decision, ReleaseTrack, Track
from leaderboard.models.decision import DecisionKind
from leaderboard.verification import references_passed
from leaderboard.web import board_html
from leaderboard.web.lookups import release_or_404, tracks_of
from leaderboard.web.paging import other_parameters, page_of
from leaderboard.web.snippets import frame_snippet
from leaderboard.web.tabs import release_context
from problems.models import Release
from problems.spec.errors import RecordError
from problems.spec.kinds import NODE_KINDS
from problems.spec.natural import natural_key
from problems.spec.ranking import checked_weights, weights_of_problems

SHOWN_ANSWERS = 50


def _groups(release: Release) -> list[str]:
    return sorted(release.problems.order_by().values_list("group", flat=True).distinct(), key=natural_key)


def _query(request: HttpRequest, release: Release) -> tuple[BoardQuery, list[Track], list[str]]:
    tracks, groups = tracks_of(release), _groups(release)
    return parse(request.GET.dict(), release, tracks, groups), tracks, groups


@require_safe
def board(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    query, tracks, groups = _query(request, release)
    flags_url = board_html.flags_address(release, query.track)
    found = table.load(visibility.visible_standings(request.user, release), query, groups)
    errata = _errata(release)
    n_problems = release.problems.count() if errata else 0
    ticks = "compare" if found.n_all + found.n_baselines > 1 else ""
    context = release_context(request, release, "board") | {
        "query": query, "tracks": tracks, "groups": groups, "all_groups": ALL_GROUPS, "table": found,
        "place": _place(release, query), "notices": timed_work.notices(timed_work.counts_of(release)),
        "errata": errata, "n_problems": n_problems, "n_counting": n_problems - len(errata),
        "ks": [k for k in release.offered_ks if k > 1],
        "header": board_html.header(found.columns, query), "breadth": board_html.breadth(found.columns),
        "declared": declared_words(found.columns),
        "pinned": board_html.body(found.pinned, found.columns, flags_url, ticks),
        "rows": board_html.body(found.rows, found.columns, flags_url, ticks), "ticks": ticks,
        "pages": [(number, query.url(page=number)) for number in range(1, found.n_pages + 1)],
        "exports": query.url(page=1), "unfiltered": BoardQuery(track=query.track, k=query.k, group=query.group).url(),
    }  # fmt: skip
    return render(request, "podium/board.html", context)


def _errata(release: Release) -> list[Decision]:
    """The rulings that voided problems, in the order of the problems; of a problem voided twice the latest."""
    rows = Decision.objects.filter(kind=DecisionKind.PROBLEM_VOIDED, problem__release=release)
    latest = {one.problem_id: one for one in rows.select_related("problem").order_by("problem__position", "pk")}
    return list(latest.values())


def _place(release: Release, query: BoardQuery) -> ReleaseTrack | None:
    """How fresh the ranking is, and why it could not be made anew where that failed."""
    place = ReleaseTrack.objects.filter(release=release, track__slug=query.track)
    return place.only("ranked_at", "touched_at", "ranking_error").first()


def _export(request: HttpRequest, slug: str) -> tuple[Release, BoardQuery, list[Any], list[table.Row]]:
    release = release_or_404(request, slug)
    query, _, groups = _query(request, release)
    columns, rows = table.load_all(visibility.visible_standings(request.user, release), query, groups)
    return release, query, columns, rows


@require_safe
def board_csv(request: HttpRequest, slug: str) -> HttpResponse:
    release, query, columns, rows = _export(request, slug)
    response = HttpResponse(export.as_csv(columns, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{release.slug}-{query.track}.csv"'
    return response


@require_safe
def board_json(request: HttpRequest, slug: str) -> HttpResponse:
    release, query, columns, rows = _export(request, slug)
    head: dict[str, Any] = {
        "release": release.slug,
        "digest": release.digest,
        "track": query.track,
        "metric": release.primary_metric,
    }
    head["timed_work"] = timed_work.counts_of(release)
    return JsonResponse({**head, "rows": export.records(columns, rows)})


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


def _weights(release: Release) -> list[tuple[str, int, float]]:
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
        "offered": offered, "errata": _errata(release), "n_problems": release.problems.count(),
        "references_passed": references_passed(release), "weights": _weights(release),
        "snapshots": [] if hides else list(BoardSnapshot.objects.filter(release=release).select_related("track")),
        "clarifications": _public_answers(request.user, release),
        "embed": frame_snippet(release, offered[0].track.slug if offered else ""),
        "may_read": visibility.may_see_statements(request.user, release),
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
