"""The problems of a release: their table, and each one's page with statement, files, ranking and a form to submit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.models import Decision, Entrant, ProblemTrack, Track
from leaderboard.models.decision import DecisionKind
from leaderboard.web import submit_forms
from leaderboard.web.lookups import chosen_track, problem_or_404, release_or_404, tracks_of
from leaderboard.web.paging import other_parameters, page_of
from leaderboard.web.statement import as_html
from leaderboard.web.tabs import release_context
from problems.models import Problem, Release
from problems.spec.problem import CommandProblem
from problems.spec.solution import SourceFile

RANKING_ROWS = 100


@dataclass(frozen=True)
class ProblemRow:
    """A problem with what the counted submissions on the track made of it."""

    problem: Problem
    n_entrants: int
    n_solved: int
    best_speedup: float | None
    mine: bool


@require_safe
def problems(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    tracks = tracks_of(release)
    track = chosen_track(request, tracks)
    rows = release.problems.defer("record")
    groups = list(rows.order_by("group").values_list("group", flat=True).distinct())
    page = page_of(request, _filtered(request, rows))
    context = {
        "tracks": tracks, "track": track, "groups": groups, "page": page,
        "rows": _with_facts(request.user, release, track, list(page.object_list)),
        "parameters": other_parameters(request), "asked": request.GET,
    }  # fmt: skip
    return render(request, "podium/problems.html", release_context(request, release, "problems") | context)


def _filtered(request: HttpRequest, rows: Any) -> Any:
    if group := request.GET.get("group"):
        rows = rows.filter(group=group)
    for word in request.GET.get("q", "").split():
        rows = rows.filter(Q(title__icontains=word) | Q(task_id__icontains=word) | Q(group__icontains=word))
    return rows


def _with_facts(user: Any, release: Release, track: Track | None, chosen: Sequence[Problem]) -> list[ProblemRow]:
    """Two queries for the page's problems, whatever their number."""
    scores = visibility.visible_scores(user, release).filter(track=track, problem__in=[one.pk for one in chosen])
    counted = scores.filter(submission__counted_on__track=F("track"), n_samples__gt=F("n_skipped"))
    figures = (
        counted.order_by()
        .values("problem_id")
        .annotate(n=Count("pk"), solved=Count("pk", filter=Q(n_passed__gt=0)), best=Max("best_speedup"))
    )
    by_problem: dict[int, Any] = {row["problem_id"]: row for row in figures}
    own = scores.filter(submission__entrant__in=Entrant.objects.submittable_by(user), n_passed__gt=0)
    mine = set(own.values_list("problem_id", flat=True)) if user.is_authenticated else set()
    nothing: dict[str, Any] = {"n": 0, "solved": 0, "best": None}
    return [
        ProblemRow(one, row["n"], row["solved"], row["best"], one.pk in mine)
        for one in chosen
        for row in (by_problem.get(one.pk, nothing),)
    ]


@require_safe
def problem(request: HttpRequest, slug: str, problem_slug: str) -> HttpResponse:
    found = problem_or_404(request, slug, problem_slug)
    return render(request, "podium/problem.html", problem_context(request, found))


def problem_context(request: HttpRequest, found: Problem) -> dict[str, Any]:
    release, spec = found.release, found.spec
    tracks = tracks_of(release)
    track = chosen_track(request, tracks)
    context = {
        "problem": found, "spec": spec, "statement": as_html(spec.prompt), "files": _files(request.user, found, spec),
        "references": _references(spec), "tracks": tracks, "track": track,
        "on_track": ProblemTrack.objects.filter(problem=found, track=track).first(),
        "ranking": _ranking(request.user, found, track),
        "voided": Decision.objects.filter(kind=DecisionKind.PROBLEM_VOIDED, problem=found).first(),
        "form": submit_forms.typed_form_for(request, found, track), "why_closed": release.why_closed(),
    }  # fmt: skip
    return release_context(request, release, "problems") | context


@dataclass(frozen=True)
class Files:
    """What a visitor may read of a problem's files, and how many are held out."""

    visible: list[SourceFile]
    n_held_out: int
    reference: list[SourceFile]
    """For organisers alone."""


def _files(user: Any, found: Problem, spec: CommandProblem) -> Files:
    shown = visibility.visible_test_paths(user, found)
    tests = [file for file in spec.test_files if file.path in shown]
    reference = spec.baseline_solution if visibility.may_see_reference(user) else None
    return Files(
        visible=[*spec.context_files, *tests],
        n_held_out=len(spec.test_files) - len(tests),
        reference=list(getattr(reference, "files", [])),
    )


def _references(spec: CommandProblem) -> str:
    wanted = spec.source_references
    if wanted is None:
        return ""
    parts = [", ".join(f"`{name}`" for name in wanted.all or [])]
    if wanted.any:
        parts.append("one of " + ", ".join(f"`{name}`" for name in wanted.any))
    return " and ".join(part for part in parts if part)


def _ranking(user: Any, found: Problem, track: Track | None) -> list[dict[str, Any]]:
    """Each entrant's fastest passing submission on the track; passes without a ranking time come last."""
    scores = visibility.visible_scores(user, found.release).filter(problem=found, track=track, n_passed__gt=0)
    rows = scores.order_by(F("best_ms").asc(nulls_last=True), "submission_id").values(
        "submission_id", "submission__entrant__slug", "submission__entrant__name", "submission__entrant__kind",
        "n_passed", "n_samples", "best_ms", "best_speedup", "best_evaluation_id",
    )[: RANKING_ROWS * 5]  # fmt: skip
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["submission__entrant__slug"], dict(row))
    ranked = list(first.values())[:RANKING_ROWS]
    for one in ranked:
        one["gflops"] = found.flops / (one["best_ms"] * 1e6) if found.flops and one["best_ms"] else None
    return ranked
