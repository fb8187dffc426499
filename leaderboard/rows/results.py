"""The rows of a result, its cases and its flags: a report is appended and becomes the evaluation's current result."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from django.utils import timezone

from leaderboard.errors import Conflict
from leaderboard.models import Evaluation, EvaluationState, Flag, Result, ResultCase
from leaderboard.rows import timed_cases
from leaderboard.rows.carried_decisions import keep_rulings
from leaderboard.rows.measurements import may_rank, store_measurements
from leaderboard.rows.origin import Origin
from problems.spec.ranking import is_provisional
from runners.wire.protocol import MeasurementReport, Report, Role, Verdict, Witness
from scoring.sample import sample_speedup


def append_result(evaluation: Evaluation, report: Report, origin: Origin) -> Result:
    """Append the result and make it current. The caller must rescore. Raises Conflict if it was cancelled."""
    verdict, reason = judged(report)
    if is_provisional(report.provenance.timing_policy, evaluation.submission.release.timing_policy):
        origin = replace(origin, vouched=False)
    cases = timed_cases.settled(evaluation, report, origin)
    report = timed_cases.within(report, cases)
    result = Result.objects.create(
        evaluation=evaluation,
        origin=origin.kind,
        attempt=origin.attempt,
        report_digest=origin.report_digest,
        verdict=verdict,
        reason=reason,
        witness=report.witness,
        speedup=_speedup(report, verdict, origin, cases) if verdict == Verdict.PASSED else None,
        steps=[step.model_dump(mode="json") for step in report.steps],
        provenance=report.provenance.model_dump(mode="json"),
        profile=report.profile.model_dump(mode="json") if report.profile else None,
        listing=report.listing.model_dump(mode="json") if report.listing else None,
    )
    store_measurements(result, report, verdict, origin)
    ResultCase.objects.bulk_create(
        ResultCase(result=result, position=position, **case.model_dump(mode="json"))
        for position, case in enumerate(report.cases)
    )
    Flag.objects.bulk_create(
        Flag(result=result, code=flag.code, scope=flag.scope, detail=flag.detail) for flag in report.flags
    )
    if report.flags:
        keep_rulings(result)
    moved = Evaluation.objects.filter(pk=evaluation.pk).exclude(state=EvaluationState.CANCELLED)
    if not moved.update(state=EvaluationState.DONE, current_result=result, done_at=timezone.now()):
        raise Conflict("cancelled", f"Evaluation {evaluation.pk} was cancelled; its result is not wanted any more.")
    return result


NEVER_ENDED = "The program ended with status 0, but the test harness was never seen to reach its end."


def judged(report: Report) -> tuple[Verdict, str]:
    """The verdict that the site stores, with its reason: a pass whose witness is contradicted is a failed test."""
    if report.verdict == Verdict.PASSED and report.witness == Witness.CONTRADICTED:
        return Verdict.TEST_FAILED, NEVER_ENDED
    return report.verdict, report.reason


def _speedup(report: Report, verdict: Verdict, origin: Origin, cases: Collection[str] | None) -> float | None:
    """The sample's speedup over the primary baseline, or None without one. `cases` are those that are timed."""
    baselines = [one for one in report.measurements if one.role == Role.BASELINE and one.is_primary]
    own = [one for one in report.measurements if one.role == Role.CANDIDATE]
    unranked = [one.case for one in own if not (origin.vouched and may_rank(one, report, verdict))]
    no_time = timed_cases.without_time(report, cases)
    return sample_speedup(_medians_ms(baselines), _medians_ms(own), unranked, no_time)


def _medians_ms(measurements: Sequence[MeasurementReport]) -> dict[str, float]:
    return {one.case: one.median_ms for one in measurements}
