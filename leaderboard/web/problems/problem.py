"""The problems of a release: their table, and each one's page with statement, files, ranking and a form to submit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.text import capfirst
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.charts.results import processes as process_charts
from leaderboard.charts.results import roofline as charts
from leaderboard.charts.results import runtimes as runtime_charts
from leaderboard.charts.results import sizes as size_charts
from leaderboard.curation.audits import reason_of
from leaderboard.errors import refuse_unknown
from leaderboard.models import Decision, ProblemTrack, Track
from leaderboard.results.rates import DeclaredWork, cases_with_time
from leaderboard.results.timings import whose_clock
from leaderboard.web.boards.tabs import release_context
from leaderboard.web.intake import submit_forms
from leaderboard.web.problems import problem_table
from leaderboard.web.problems.clarification_forms import clarifications_context
from leaderboard.web.problems.problem_figures import (
    lines_of,
    points_of,
    problem_figures,
    roofs_of,
    runtimes_of,
    spreads_of,
)
from leaderboard.web.problems.problem_ranking import (
    By,
    chosen_figure,
    clocks_of,
    counted_figure,
    ranked_by_case,
    ranking_of,
    why_no_roofline,
)
from leaderboard.web.problems.ranking_intervals import with_intervals, with_places
from leaderboard.web.problems.statement import as_html
from leaderboard.web.shared.lookups import chosen_track, problem_or_404, release_or_404, tracks_of
from leaderboard.web.shared.paging import other_parameters, page_of
from problems.models import Problem
from problems.spec.case import Case
from problems.spec.kinds import SITE_KINDS, Kind
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution, SourceFile

TOO_SHORT = "checked, too short for a time"
"""Words for a function's case without a time: its calls are checked, and a call of the baseline takes too little
time."""


@require_safe
def problems(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    tracks = tracks_of(release)
    track = chosen_track(request, tracks)
    query = problem_table.TableQuery.of(request.GET.dict(), track)
    rows = problem_table.rows_of(request.user, release, track)
    found = problem_table.in_order((row for row in rows if query.fits(row)), query.sort)
    page, is_known = page_of(request, found), request.user.is_authenticated
    several_kinds = len({row.kind for row in rows}) > 1
    has_times = any(row.best_speedup is not None for row in rows)
    shown = {"kind": several_kinds, "mine": is_known, "speedup": has_times}
    context = {
        "tracks": tracks, "track": track, "query": query, "page": page, "rows": page.object_list,
        "n_found": len(found), "n_all": len(rows), "n_voided": sum(bool(row.voided) for row in rows),
        "n_skipped": sum(bool(row.skip_reason) for row in rows), "shown": shown,
        "header": problem_table.header(query, lambda key: shown.get(key, True)),
        "facets": problem_table.facets(rows, query),
        "solved": problem_table.solved_facets(rows, query, with_own=is_known),
        "parameters": other_parameters(request),
    }  # fmt: skip
    return render(request, "podium/problems/problems.html", release_context(request, release, "problems") | context)


@require_safe
def problem(request: HttpRequest, slug: str, problem_slug: str) -> HttpResponse:
    found = problem_or_404(request, slug, problem_slug)
    return render(request, "podium/problems/problem.html", problem_context(request, found))


def problem_context(request: HttpRequest, found: Problem) -> dict[str, Any]:
    release, spec = found.release, found.spec
    is_readable = visibility.may_see_statement(request.user, found)
    tracks = tracks_of(release)
    track = chosen_track(request, tracks)
    on_track = ProblemTrack.objects.filter(problem=found, track=track).first()
    cases = cases_with_time(found.public_cases, on_track.names_of_timed_cases if on_track else ())
    languages = list(spec.starters)
    written_in = chosen_language(request, found)
    by = chosen_figure(request.GET.get("by", ""), release)
    ranking = ranking_of(request.user, found, track, written_in, by)
    refuse_unknown("case", request.GET.get("case", ""), [one.name for one in found.public_cases if one.name])
    case = next((one for one in cases if one.name and one.name == request.GET.get("case")), None)
    context = {
        "problem": found, "spec": spec, "kind_template": f"problems/kinds/{spec.kind}.html",
        "is_readable": is_readable, "is_question": (is_question := spec.kind in SITE_KINDS),
        "is_sealed": is_question and visibility.seals_questions(request.user, found.release),
        "tracks": tracks, "track": track,
        "on_track": on_track, "cases": cases, "case": case, "work": DeclaredWork.by([case] if case else cases),
        "too_short": {one.name for one in found.public_cases} - {one.name for one in cases},
        "too_short_words": TOO_SHORT, "timed_names": on_track.names_of_timed_cases if on_track else [],
        "why_no_case_time": capfirst(TOO_SHORT) if case and spec.kind == Kind.FUNCTION else "",
        "ranking": _placed(ranked_by_case(track, ranking, case, by) if case else ranking, on_track, case, by),
        "whose_clock": whose_clock(clocks_of(ranking), is_function=spec.kind == Kind.FUNCTION),
        "by": by, "counted": counted_figure(release), "orders": _orders(request, by),
        "why_no_roofline": why_no_roofline(found, track, [case] if case else cases),
        "sums": problem_table.sums_of(request.user, release, on_track),
        "languages": languages, "written_in": written_in, **_starter(request, spec),
        "figures": problem_figures(request.user, found, track, ranking, case, _asked(request, found)),
        "voided": Decision.objects.errata().filter(problem=found).select_related("earlier__decided_by").first(),
        "audit_reason": reason_of(found),
    }  # fmt: skip
    content = _content(request, found, spec, track) if is_readable else {}
    return release_context(request, release, "problems") | clarifications_context(request, found) | context | content


def _placed(
    rows: Sequence[Mapping[str, Any]], on_track: ProblemTrack | None, case: Case | None, by: By
) -> list[dict[str, Any]]:
    """The rows with intervals, and with places by the figure that orders them."""
    return with_places(with_intervals(rows, on_track, case), f"{by.value}_figure")


def _orders(request: HttpRequest, by: By) -> dict[str, dict[str, str]]:
    """The links in the heads of time and speedup, which order the ranking by them."""
    orders = {}
    for one, falling in ((By.TIME, "ascending"), (By.SPEEDUP, "descending")):
        kept = request.GET.copy()
        kept["by"] = one
        orders[one.value] = {"url": f"?{kept.urlencode()}#ranking", "aria": falling if one is by else "none"}
    return orders


def _content(request: HttpRequest, found: Problem, spec: ProblemRecord, track: Track | None) -> dict[str, Any]:
    """The contents for visitors who may read the statement."""
    return {
        "statement": as_html(spec.prompt),
        "explanation": as_html(visibility.shown_explanation(request.user, found.release, spec)),
        "files": _files(request.user, spec),
        "form": submit_forms.typed_form_for(request, found, track),
        "why_closed": found.release.why_closed(),
    }


def _starter(request: HttpRequest, spec: ProblemRecord) -> dict[str, Any]:
    """The starter code in the language that the URL names, else in the first."""
    asked, starters = request.GET.get("language", ""), spec.starters
    language = asked if asked in starters else next(iter(starters), "")
    return {"starter_language": language, "starter": starters.get(language, [])}


def _asked(request: HttpRequest, found: Problem) -> dict[str, str]:
    """The parameters that narrow and order the ranking, as the addresses of its figures repeat them."""
    by = chosen_figure(request.GET.get("by", ""), found.release)
    return {
        "written_in": chosen_language(request, found),
        "by": "" if by is counted_figure(found.release) else by.value,
    }


def _ranking(request: HttpRequest, found: Problem, track: Track | None) -> list[dict[str, Any]]:
    by = chosen_figure(request.GET.get("by", ""), found.release)
    return ranking_of(request.user, found, track, chosen_language(request, found), by)


def chosen_language(request: HttpRequest, found: Problem) -> str:
    """The language that the ranking is narrowed to, or "". Raises BadQuery."""
    asked: str = request.GET.get("written_in", "")
    refuse_unknown("written_in", asked, found.spec.starters)
    return asked


@dataclass(frozen=True)
class Files:
    """The files of a problem that a visitor may read, and the number of held-out ones."""

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
    points = points_of(found, track, _ranking(request, found, track))
    return JsonResponse(charts.spec(roofs, points))


@require_safe
def sizes(request: HttpRequest, slug: str, problem_slug: str) -> JsonResponse:
    """The problem's times by size as plotly.js draws them."""
    found = problem_or_404(request, slug, problem_slug)
    track = chosen_track(request, tracks_of(found.release))
    lines = lines_of(found, _ranking(request, found, track))
    if not lines:
        raise Http404(f"{found.task_id} has no chart of times by size here: it needs times of cases of unlike sizes.")
    return JsonResponse(size_charts.spec(lines))


@require_safe
def processes(request: HttpRequest, slug: str, problem_slug: str) -> JsonResponse:
    """The medians of all processes of one case as plotly.js draws them."""
    found = problem_or_404(request, slug, problem_slug)
    track = chosen_track(request, tracks_of(found.release))
    case = next((one for one in found.public_cases if one.name == request.GET.get("case", "")), None)
    if case is None:
        raise Http404(f"{found.task_id} has no timed case {request.GET.get('case', '')!r}.")
    return JsonResponse(process_charts.spec(spreads_of(_ranking(request, found, track), case)))


@require_safe
def runtimes(request: HttpRequest, slug: str, problem_slug: str) -> JsonResponse:
    """The distribution of runtimes as plotly.js draws it."""
    found = problem_or_404(request, slug, problem_slug)
    track = chosen_track(request, tracks_of(found.release))
    asked = request.GET.get("case", "")
    case = next((one for one in found.public_cases if one.name and one.name == asked), None)
    return JsonResponse(runtime_charts.spec(runtimes_of(request.user, found, track, case)))
