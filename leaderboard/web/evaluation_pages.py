"""An evaluation's page: verdict and why, logs, measurements with every run, provenance, flags, history, rerun."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard import blobs, logs, visibility
from leaderboard.actions.rerun import rerun
from leaderboard.charts import runs
from leaderboard.errors import Refused
from leaderboard.listings import build_log, kernels_of
from leaderboard.measured import measured_words, where_measured
from leaderboard.models import AuditEntry, Evaluation, Measurement, Result
from leaderboard.models.evaluation import ResultOrigin
from leaderboard.rates import Declared
from leaderboard.rollouts import SampleUnreadable, read_sample
from leaderboard.visibility import SubmissionView
from leaderboard.web.case_rows import case_table
from leaderboard.web.lookups import evaluation_or_404
from leaderboard.web.place import place_of
from leaderboard.web.timings import are_provisional, device_facts, roof_of, timings_of
from problems.spec.kinds import SITE_KINDS
from problems.spec.solution import SourceFile
from runners.wire.protocol import Clock

PROVENANCE_LABELS = {
    "node": "Node", "cpu_model": "CPU", "cpu_cores": "Cores", "gpu": "GPU", "gpu_uuid": "GPU id", "driver": "Driver",
    "toolkit": "Toolkit", "arch": "Built for", "profiler": "Profiler", "image": "Image",
    "sandbox": "Sandbox", "memory_limit_by": "Memory limited by",
    "kernel": "Kernel", "agent_version": "Agent", "judge_version": "Judge version", "timing_policy": "Timing policy",
    "artefact_key": "Build artefact", "build_cached": "Build from cache", "started_at": "Started",
    "finished_at": "Finished",
}  # fmt: skip


@require_safe
def evaluation(request: HttpRequest, pk: int) -> HttpResponse:
    found, view = evaluation_or_404(request, pk)
    result = found.current_result
    context: dict[str, Any] = {
        "evaluation": found, "submission": found.submission, "view": view, "result": result,
        "is_question": found.problem.kind in SITE_KINDS,
        "solution": _solution(found) if view.shows(found.problem.kind) else None,
        "history": found.results.all(),
        "reruns": AuditEntry.objects.filter(target=f"evaluation {found}", action="rerun"),
    }  # fmt: skip
    if result:
        context |= {
            "reason": visibility.shown_reason(view, result.verdict, result.reason),
            "steps": logs.steps_of(result, view),
            **_times(found, result, view),
            "place": place_of(request.user, found, result.speedup),
            "provenance": _provenance(result.provenance),
            "imported": measured_words(where_measured([result.provenance])) if _is_imported(result) else "",
            "has_profile": bool(result.profile) and view.build_log,
            "kernels": kernels_of(build_log(result.steps)) if view.build_log else [],
            "has_listing": bool(result.listing) and view.build_log,
            "flags": result.flags.prefetch_related("decisions__decided_by"),
        }
    return render(request, "podium/evaluation.html", context)


def _times(found: Evaluation, result: Result, view: SubmissionView) -> dict[str, Any]:
    rows, cases = measurements_of(result), found.problem.timed_cases
    result.evaluation = found
    roof = roof_of(result, cases)
    timings = timings_of(rows, cases, roof)
    return {
        "timings": timings,
        "cases": case_table(visibility.shown_cases(view, result.cases.all()), timings),
        "work": Declared.by(cases), "roof": roof, "device_facts": device_facts(rows),
        "provisional": are_provisional(result, found.submission.release),
        "self_reported": any(row.clock == Clock.SELF for row in rows),
    }  # fmt: skip


def _is_imported(result: Result) -> bool:
    return result.origin == ResultOrigin.IMPORTED


def measurements_of(result: Result) -> list[Measurement]:
    """The candidate's, each followed by the baseline it was held against."""
    candidates = result.measurements.filter(role="candidate").select_related("baseline")
    return [row for one in candidates for row in (one, one.baseline) if row is not None]


def _solution(found: Evaluation) -> Sequence[SourceFile]:
    try:
        return read_sample(found.sample).files
    except (SampleUnreadable, blobs.BlobsUnavailable):
        return []


def _provenance(facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    rows = [(label, facts.get(name)) for name, label in PROVENANCE_LABELS.items()]
    return [(label, "yes" if value is True else value) for label, value in rows if value not in (None, "", 0, False)]


@require_safe
def evaluation_runs(request: HttpRequest, pk: int) -> HttpResponse:
    """Every timed run, as plotly.js draws it."""
    found, _ = evaluation_or_404(request, pk)
    rows = measurements_of(found.current_result) if found.current_result else []
    return JsonResponse(runs.spec([_runs(one) for one in rows]))


def _runs(one: Measurement) -> runs.Runs:
    calls_ms = _calls_ms(one)
    processes_ms = tuple(one.runs_ms) if calls_ms and len(one.runs_ms) > 1 else ()
    return runs.Runs(
        one.role, one.case, calls_ms or one.runs_ms, one.median_ms, one.ci_low_ms, one.ci_high_ms, processes_ms
    )


def _calls_ms(one: Measurement) -> list[float]:
    """The calls of all processes, where they are kept with the measurement."""
    return [time_ms for calls in one.calls_ms for time_ms in calls]


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
