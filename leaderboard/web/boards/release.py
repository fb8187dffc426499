"""Two pages of a release, its submissions and its facts, and the stored snapshots of its boards."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from leaderboard import blobs, visibility
from leaderboard.boards.problem_choice import ReleaseProblems
from leaderboard.curation.verification import references_passed
from leaderboard.models import BoardSnapshot, Clarification, Decision, ProblemTrack, ReleaseTrack
from leaderboard.web.boards.snippets import frame_snippet, release_citation
from leaderboard.web.boards.tabs import release_context
from leaderboard.web.shared.lookups import release_or_404
from leaderboard.web.shared.paging import other_parameters, page_of
from problems.models import Release
from problems.spec.case import is_held_out
from problems.spec.errors import RecordError
from problems.spec.kinds import Kind
from problems.spec.ranking import checked_weights, weights_of_problems
from problems.spec.shortest import least_baseline_ms

SHOWN_ANSWERS = 50


@dataclass(frozen=True)
class ShortCases:
    """The cases of functions that are too short to be timed on a track."""

    track: str
    n_cases: int
    n_problems: int
    least_ms: float


def short_cases_of(release: Release) -> list[ShortCases]:
    """For each track that has such cases, by name. Held-out cases are not counted. Makes one query."""
    fixed = ProblemTrack.objects.filter(
        problem__release=release, problem__kind=Kind.FUNCTION, timed_cases__isnull=False, skip_reason=""
    )
    found: dict[tuple[str, str], list[int]] = {}
    names = ("track__slug", "track__device", "problem__cases", "timed_cases")
    for slug, device, cases, timed in fixed.order_by("track__slug").values_list(*names):
        short = {case["name"] for case in cases if not is_held_out(case["name"])} - set(timed)
        if short:
            found.setdefault((slug, device), []).append(len(short))
    return [ShortCases(slug, sum(n), len(n), least_baseline_ms(device)) for (slug, device), n in found.items()]


def errata_of(release: Release) -> list[Decision]:
    """The errata in force, in the order of the problems; of a problem voided twice the latest."""
    rows = Decision.objects.errata().filter(problem__release=release)
    latest = {one.problem_id: one for one in rows.select_related("problem").order_by("problem__position", "pk")}
    return list(latest.values())


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
        request,
        "podium/boards/release_submissions.html",
        release_context(request, release, "release_submissions") | context,
    )


def weights_of(release: Release, problems: ReleaseProblems) -> list[tuple[str, int, float]]:
    """Group, number of its coding problems, and the weight of each: their mean over problems is 1."""
    if not release.weights:
        return []
    groups = problems.coding_groups
    try:
        weights = weights_of_problems(checked_weights(release.weights), groups)
    except RecordError:
        return []  # the release cannot be ranked, and its board says why
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
        "short_cases": short_cases_of(release), "references_passed": references_passed(release),
        "weights": weights_of(release, ReleaseProblems.of(release)),
        "snapshots": [] if hides else list(BoardSnapshot.objects.filter(release=release).select_related("track")),
        "clarifications": _public_answers(request.user, release),
        "citation": release_citation(release),
        "embed": frame_snippet(release, offered[0].track.slug if offered else ""),
        "may_read": visibility.may_see_statements(request.user, release),
    }  # fmt: skip
    return render(
        request, "podium/boards/release_about.html", release_context(request, release, "release_about") | context
    )


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
