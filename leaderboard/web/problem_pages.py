"""The problems of a release: their table, and each one's page with statement, files, ranking and a form to submit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Max, Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.charts import processes as process_charts
from leaderboard.charts import roofline as charts
from leaderboard.charts import sizes as size_charts
from leaderboard.models import Decision, Entrant, ProblemTrack, Track
from leaderboard.models.decision import DecisionKind
from leaderboard.rates import Declared
from leaderboard.web import submit_forms
from leaderboard.web.clarification_forms import clarifications_context
from leaderboard.web.lookups import chosen_track, problem_or_404, release_or_404, tracks_of
from leaderboard.web.paging import other_parameters, page_of
from leaderboard.web.problem_figures import lines_of, points_of, problem_figures, roofs_of, spreads_of
from leaderboard.web.problem_ranking import ranked_by_case, ranking_of
from leaderboard.web.statement import as_html
from leaderboard.web.tabs import release_context
from problems.models import Problem, Release
from problems.spec.kinds import SITE_KINDS
from problems.spec.natural import natural_key
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution, SourceFile


@dataclass(frozen=True)
class ProblemRow:
    """A problem with what the counted submissions on the track made of it."""

    problem: Problem
    n_entrants: int
    n_solved: int
    best_speedup: float | None
    mine: bool
    skip_reason: str
    """Why the track cannot run it, or ""."""


@require_safe
def problems(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    tracks = tracks_of(release)
    track = chosen_track(request, tracks)
    rows = release.problems.defer("record")
    groups, kinds = _groups_and_kinds(release)
    page = page_of(request, _filtered(request, rows))
    skipped = ProblemTrack.objects.filter(problem__release=release, track=track).exclude(skip_reason="")
    context = {
        "tracks": tracks, "track": track, "groups": groups, "kinds": kinds, "page": page, "n_skipped": skipped.count(),
        "rows": _with_facts(request.user, release, track, list(page.object_list)),
        "parameters": other_parameters(request), "asked": request.GET,
    }  # fmt: skip
    return render(request, "podium/problems.html", release_context(request, release, "problems") | context)


def _groups_and_kinds(release: Release) -> tuple[list[str], list[str]]:
    pairs = list(release.problems.order_by().values_list("group", "kind").distinct())
    return sorted({group for group, _ in pairs}, key=natural_key), sorted({kind for _, kind in pairs})


def _filtered(request: HttpRequest, rows: Any) -> Any:
    for field in ("group", "kind"):
        if asked := request.GET.get(field):
            rows = rows.filter(**{field: asked})
    for word in request.GET.get("q", "").split():
        rows = rows.filter(Q(title__icontains=word) | Q(task_id__icontains=word) | Q(group__icontains=word))
    return rows


def _with_facts(user: Any, release: Release, track: Track | None, chosen: Sequence[Problem]) -> list[ProblemRow]:
    """Three queries for the page's problems, whatever their number."""
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
    skips = dict(ProblemTrack.objects.filter(track=track, problem__in=chosen).values_list("problem_id", "skip_reason"))
    nothing: dict[str, Any] = {"n": 0, "solved": 0, "best": None}
    return [
        ProblemRow(one, row["n"], row["solved"], row["best"], one.pk in mine, skips.get(one.pk, ""))
        for one in chosen
        for row in (by_problem.get(one.pk, nothing),)
    ]


@require_safe
def problem(request: HttpRequest, slug: str, problem_slug: str) -> HttpResponse:
    found = problem_or_404(request, slug, problem_slug)
    return render(request, "podium/problem.html", problem_context(request, found))


def problem_context(request: HttpRequest, found: Problem) -> dict[str, Any]:
    release, spec = found.release, found.spec
    is_readable = visibility.may_see_statement(request.user, found)
    tracks = tracks_of(release)
    track = chosen_track(request, tracks)
    on_track = ProblemTrack.objects.filter(problem=found, track=track).first()
    cases, languages = found.timed_cases, list(spec.starters)
    written_in = chosen_language(request, found)
    ranking = ranking_of(request.user, found, track, written_in)
    case = next((one for one in cases if one.name and one.name == request.GET.get("case")), None)
    context = {
        "problem": found, "spec": spec, "kind_template": f"problems/kinds/{spec.kind}.html",
        "is_readable": is_readable, "is_question": spec.kind in SITE_KINDS,
        "tracks": tracks, "track": track,
        "on_track": on_track, "cases": cases, "case": case, "work": Declared.by([case] if case else cases),
        "ranking": ranked_by_case(track, ranking, case) if case else ranking,
        "languages": languages, "written_in": written_in,
        "figures": problem_figures(found, track, ranking, case, written_in),
        "voided": Decision.objects.filter(kind=DecisionKind.PROBLEM_VOIDED, problem=found).first(),
    }  # fmt: skip
    content = _content(request, found, spec, track) if is_readable else {}
    return release_context(request, release, "problems") | clarifications_context(request, found) | context | content


def _content(request: HttpRequest, found: Problem, spec: ProblemRecord, track: Track | None) -> dict[str, Any]:
    """What only those see who may read the statement."""
    return {
        "statement": as_html(spec.prompt),
        "explanation": as_html(visibility.shown_explanation(request.user, found.release, spec)),
        "files": _files(request.user, spec),
        "form": submit_forms.typed_form_for(request, found, track),
        "why_closed": found.release.why_closed(),
    }


def chosen_language(request: HttpRequest, found: Problem) -> str:
    """The language that the ranking is narrowed to, or ""."""
    asked = request.GET.get("written_in", "")
    return asked if asked in found.spec.starters else ""


@dataclass(frozen=True)
class Files:
    """What a visitor may read of a problem's files, and how many are held out."""

    visible: list[SourceFile]
    n_held_out: int
    reference: list[SourceFile]
    """For organisers alone."""


def _files(user: Any, spec: ProblemRecord) -> Files:
    files = visibility.shown_files(user, spec)
    reference = spec.reference if visibility.may_see_reference(user) else None
    return Files(
        visible=[one.file for one in files.shown],
        n_held_out=len(files.held_out_paths),
        reference=reference.files if isinstance(reference, FileSolution) else [],
    )


@require_safe
def roofline(request: HttpRequest, slug: str, problem_slug: str) -> JsonResponse:
    """The problem's roofline as plotly.js draws it."""
    found = problem_or_404(request, slug, problem_slug)
    track = chosen_track(request, tracks_of(found.release))
    roofs = roofs_of(found, track)
    if not roofs:
        raise Http404(f"{found.task_id} has no roofline here: it needs flops, bytes and the track's measured peaks.")
    points = points_of(found, track, ranking_of(request.user, found, track, chosen_language(request, found)))
    return JsonResponse(charts.spec(roofs, points))


@require_safe
def sizes(request: HttpRequest, slug: str, problem_slug: str) -> JsonResponse:
    """The problem's times by size as plotly.js draws them."""
    found = problem_or_404(request, slug, problem_slug)
    track = chosen_track(request, tracks_of(found.release))
    lines = lines_of(found, ranking_of(request.user, found, track, chosen_language(request, found)))
    if not lines:
        raise Http404(f"{found.task_id} has no chart of times by size here: it needs times of cases of two sizes.")
    return JsonResponse(size_charts.spec(lines))


@require_safe
def processes(request: HttpRequest, slug: str, problem_slug: str) -> JsonResponse:
    """The medians of all processes of one case as plotly.js draws them."""
    found = problem_or_404(request, slug, problem_slug)
    track = chosen_track(request, tracks_of(found.release))
    case = next((one for one in found.timed_cases if one.name == request.GET.get("case", "")), None)
    if case is None:
        raise Http404(f"{found.task_id} has no timed case {request.GET.get('case', '')!r}.")
    ranking = ranking_of(request.user, found, track, chosen_language(request, found))
    return JsonResponse(process_charts.spec(spreads_of(ranking, case)))
