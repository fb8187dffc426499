"""An evaluation's page: verdict and why, logs, measurements with every run, provenance, flags, history, rerun."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard import blobs, visibility
from leaderboard.actions.submissions.rerun import can_run_again, rerun, why_not_here
from leaderboard.charts.results import runs
from leaderboard.errors import Refused
from leaderboard.flags.shown import ShownFlag, shown, with_effects
from leaderboard.models import AuditEntry, Evaluation, Measurement, Result, ResultCase
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.results import logs
from leaderboard.results.first_failure import FirstFailures
from leaderboard.results.headline import counted_of, headline_of
from leaderboard.results.listings import build_log, kernels_of
from leaderboard.results.measured import measured_words, where_measured
from leaderboard.results.measurements import held_out_of, measurements_of, provenance_rows, ranked_time_ms, runs_of
from leaderboard.results.rates import DeclaredWork
from leaderboard.results.reproduce import recipe_of, solutions_file
from leaderboard.results.shown_cases import ShownCase, shown_cases, shown_measurements
from leaderboard.results.timings import device_facts, facts_as_others, roof_of, timings_of, whose_clock
from leaderboard.standings.reference_noise.noise import is_noisy
from leaderboard.submissions.rollouts import SampleUnreadable, read_sample
from leaderboard.submissions.sample_packs import pack_of
from leaderboard.visibility import Relation, SubmissionView, relation
from leaderboard.web.results.case_rows import case_table
from leaderboard.web.results.compiler_messages import errors_in, linked
from leaderboard.web.results.place import place_of
from leaderboard.web.results.transcript import shown_transcript
from leaderboard.web.shared.lookups import evaluation_or_404
from problems.spec.kinds import SITE_KINDS, Kind
from problems.spec.shortest import LEAST_MS, least_baseline_ms
from problems.spec.solution import SourceFile
from runners.wire.protocol import Clock, Role, Verdict, Witness

CHANGES = ("rerun", "rejudge", "void result")
"""Audited acts that give an evaluation another result."""
UNWITNESSED = "Nothing outside the process could see whether the harness ended: the pass counts, its time never ranks"


@require_safe
def evaluation(request: HttpRequest, pk: int) -> HttpResponse:
    found, view = evaluation_or_404(request, pk)
    result = found.current_result
    context: dict[str, Any] = {
        "evaluation": found, "submission": found.submission, "view": view, "result": result,
        "is_team": relation(request.user, found.submission.entrant) is Relation.TEAM,
        "may_appeal": found.submission.entrant.has_submitter(request.user),
        "is_question": found.problem.kind in SITE_KINDS, "is_function": found.problem.kind == Kind.FUNCTION,
        **_sample(request, found, view),
        "history": [] if found.is_sealed else found.results.select_related("voided__voiding"),
        "reruns": AuditEntry.objects.filter(target=f"evaluation {found}", action__in=CHANGES).order_by("id"),
    }  # fmt: skip
    if result:
        kept_cases = list(result.cases.all())
        cases = shown_cases(view, kept_cases)
        context |= {
            **_failure(found, result, view, cases),
            "steps": logs.steps_of(result, view),
            **_build(result, view, context["solution"] or []),
            "unwitnessed_words": UNWITNESSED,
            "may_rerun": view.may_change and can_run_again(found),
            "why_no_rerun": why_not_here(found.submission),
            "shows_witness": result.passed or result.witness != Witness.UNAVAILABLE,
            "recipe": recipe_of(found, result, view),
            **_times(request.user, found, result, view, kept_cases),
            "second": (second := found.second_result),
            "second_times": _second_times(second, view) if second else [],
            "provenance": provenance_rows(result.provenance),
            "imported": measured_words(where_measured([result.provenance])) if _is_imported(result) else "",
            "has_profile": bool(result.profile) and view.build_log,
            "kernels": kernels_of(build_log(result.steps)) if view.build_log else [],
            "has_listing": bool(result.listing) and view.build_log,
            "flags": (flags := _flags(result)),
            "why_unranked": _why_unranked(result, flags),
        }
    return render(request, "podium/results/evaluation.html", context)


def _second_times(second: Result, view: SubmissionView) -> list[Measurement]:
    return shown_measurements(view, second.measurements.filter(role=Role.CANDIDATE))


def _failure(found: Evaluation, result: Result, view: SubmissionView, cases: Sequence[ShownCase]) -> dict[str, Any]:
    """The reason of a failure: alone where nothing more is known, else with the first failure and its details."""
    first = FirstFailures(view, n_blobs=1).of(result, found.problem, cases)
    reason = visibility.shown_reason(view, result.verdict, result.reason)
    if first and not (first.message and first.step):
        first = None
    elif first and (first.message in reason or reason.startswith(f"{first.where}:")):
        reason = ""
    forbidden = view.reasons and not view.first_failure and result.verdict in visibility.OF_TESTS
    return {"first_failure": first, "reason": reason, "forbids_first_failure": forbidden}


def _build(result: Result, view: SubmissionView, solution: Sequence[SourceFile]) -> dict[str, Any]:
    """The build log with links to lines of the shown code, and the errors at these lines."""
    if not view.build_log:
        return {}
    log, paths = build_log(result.steps)[: logs.SHOWN_BYTES], [file.path for file in solution]
    failed = result.verdict == Verdict.BUILD_FAILED
    return {"build_html": linked(log, paths), "build_errors": errors_in(log, paths) if failed else []}


def _times(
    user: Any, found: Evaluation, result: Result, view: SubmissionView, kept: Sequence[ResultCase]
) -> dict[str, Any]:
    kept_rows, cases = measurements_of(result), found.problem.public_cases
    rows = shown_measurements(view, kept_rows)
    own, places = (
        [row for row in kept_rows if row.role == Role.CANDIDATE],
        found.problem.on_tracks.filter(track=found.track_id),
    )
    result.evaluation = found
    roof = roof_of(result, cases)
    timings = timings_of(rows, cases, roof)
    return {
        "timings": timings,
        "by_device": any(one.is_by_device for one in timings),
        "follows_events": any(one.follows_events for one in timings),
        "counts_as_shortest": any(one.counts_as_shortest for one in timings if found.problem.kind == Kind.FUNCTION),
        "least_ms": LEAST_MS, "least_baseline_ms": least_baseline_ms(found.track.device),
        "was_stopped": any(one.was_stopped for one in timings),
        "headline": headline_of(result, own, kept),
        "counted_cases": counted_of(result, own, kept, places, found.track_id),
        "whose_clock": whose_clock((row.clock for row in own), is_function=found.problem.kind == Kind.FUNCTION),
        "held_out": held_out_of(own),
        "place": place_of(user, found, result.speedup, ranked_time_ms(rows)),
        "cases": case_table(shown_cases(view, kept), timings),
        "work": DeclaredWork.by(cases), "roof": roof, "device_facts": device_facts(rows),
        "facts_as_others": facts_as_others(rows),
        "provisional": result.is_provisional_under(found.submission.release.timing_policy),
        "self_reported": any(row.clock == Clock.SELF for row in rows),
    }  # fmt: skip


def _is_imported(result: Result) -> bool:
    return result.origin == ResultOrigin.IMPORTED


def _flags(result: Result) -> list[ShownFlag]:
    rows = with_effects(result.flags.all()).order_by("pk")
    return [
        shown(flag)
        for flag in rows.prefetch_related(
            "decisions__decided_by", "decisions__earlier__decided_by", "decisions__appeal"
        )
    ]


def _why_unranked(result: Result, flags: Sequence[ShownFlag]) -> str:
    """The reason why none of the result's own times ranks, whatever each measurement allows; empty if there is none."""
    if not result.passed:
        return "did not pass"
    flagged = next((one.keeps_time for one in flags if one.keeps_time), "")
    return flagged or ("its node was noisy that day" if is_noisy(result) else "")


def _sample(request: HttpRequest, found: Evaluation, view: SubmissionView) -> dict[str, Any]:
    """The files of the sample, None if the user may not read them, and how it was generated."""
    if not view.shows(found.problem):
        return {"solution": None}
    try:
        read = read_sample(found.sample)
    except (SampleUnreadable, blobs.BlobsUnavailable):
        return {"solution": []}
    transcript = shown_transcript(found.sample, read, view, request.GET.get("q", ""))
    return {"solution": read.files, "transcript": transcript}


@require_safe
def evaluation_runs(request: HttpRequest, pk: int) -> HttpResponse:
    """Every timed run, as plotly.js draws it."""
    found, view = evaluation_or_404(request, pk)
    rows = measurements_of(found.current_result) if found.current_result else []
    rows = shown_measurements(view, rows)
    return JsonResponse(runs.spec([runs_of(one) for one in rows]))


@require_safe
def evaluation_log(request: HttpRequest, pk: int, step: str) -> HttpResponse:
    """One step's whole log as text."""
    found, view = evaluation_or_404(request, pk)
    rows = found.current_result.steps if found.current_result else []
    row = next((row for row in rows if row["name"] == step), None)
    if row is None or not logs.may_read(view, step):
        raise Http404(f"There is no {step} log of evaluation {pk} that you may read.")
    return HttpResponse(logs.log_text(row.get("log") or {}), content_type="text/plain; charset=utf-8")


@require_safe
def evaluation_solution(request: HttpRequest, pk: int) -> HttpResponse:
    """The sample alone as a solutions pack, with which `podium evaluate` runs it again."""
    found, view = evaluation_or_404(request, pk)
    if not view.shows(found.problem) or not found.sample.solution_sha256:
        raise Http404(f"There is no code of evaluation {pk} that you may read.")
    try:
        content = pack_of(found.submission.release, [found.sample.solution_sha256], view)
    except blobs.BlobMissing:
        raise Http404(f"The code of evaluation {pk} is no longer kept.") from None
    answer = HttpResponse(content, content_type="application/gzip")
    answer["Content-Disposition"] = f'attachment; filename="{solutions_file(found)}"'
    return answer


@require_safe
def evaluation_profile(request: HttpRequest, pk: int) -> FileResponse:
    """The profiler's own report, for the team and organisers: it names what ran, the harness's kernels included."""
    found, view = evaluation_or_404(request, pk)
    profile = found.current_result.profile if found.current_result else None
    if not profile or not view.build_log:
        raise Http404(f"There is no profile of evaluation {pk} that you may read.")
    try:
        file = blobs.store().open(profile["sha256"])
    except blobs.BlobMissing:
        raise Http404(f"The profile of evaluation {pk} is no longer kept.") from None
    name = f"evaluation-{pk}.ncu-rep"
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")


@login_required
@require_POST
def rerun_evaluation(request: HttpRequest, pk: int) -> HttpResponse:
    found, _ = evaluation_or_404(request, pk)
    try:
        rerun(request.user, [found], request.POST.get("reason", ""))
        messages.success(request, "Queued again; the old result stays current until the new one lands.")
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect(found)
