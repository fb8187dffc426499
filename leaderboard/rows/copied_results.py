"""Copies a result with its measurements, cases and flags to another evaluation."""

from leaderboard.models import Evaluation, Measurement, ProblemTrack, Result


def copy_result(old: Result, evaluation: Evaluation) -> Result:
    """Append a copy of the old result to the evaluation, marked as reused; the caller makes it current."""
    result = Result.objects.create(
        evaluation=evaluation,
        origin=old.origin,
        reused_from=old,
        verdict=old.verdict,
        reason=old.reason,
        witness=old.witness,
        speedup=old.speedup,
        steps=old.steps,
        provenance=old.provenance,
        profile=old.profile,
        listing=old.listing,
    )
    for one in old.measurements.all():
        one.pk, one.result, one.problem = None, result, evaluation.problem
        one.save(force_insert=True)
    for case in old.cases.all():
        case.pk, case.result = None, result
        case.save(force_insert=True)
    for flag in old.flags.all():
        flag.pk, flag.result = None, result
        flag.save(force_insert=True)
    _copy_baseline_state(old, evaluation)
    return result


def _copy_baseline_state(old: Result, evaluation: Evaluation) -> None:
    before = ProblemTrack.objects.filter(problem=old.evaluation.problem, track=evaluation.track).first()
    if before and Measurement.objects.filter(result__evaluation=evaluation, baseline__isnull=False).exists():
        ProblemTrack.objects.filter(problem=evaluation.problem, track=evaluation.track).update(
            has_rankable_baseline=before.has_rankable_baseline,
            baseline_median_ms=before.baseline_median_ms,
            baseline_cases_ms=before.baseline_cases_ms,
        )
