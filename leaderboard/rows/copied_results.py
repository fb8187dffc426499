"""Copies results with their measurements, cases and flags to other evaluations."""

from collections.abc import Sequence

from leaderboard.models import Evaluation, Flag, Measurement, ProblemTrack, Result, ResultCase
from leaderboard.rows.timed_cases import copy_fixed


def copy_result(old: Result, evaluation: Evaluation) -> Result:
    """Append a copy of the old result to the evaluation, marked as reused; the caller makes it current."""
    (result,) = copy_results([(old, evaluation)])
    _copy_baseline_state(old, evaluation)
    return result


def copy_results(pairs: Sequence[tuple[Result, Evaluation]]) -> list[Result]:
    """Append a copy of each result to its evaluation. Makes a fixed number of queries."""
    made = Result.objects.bulk_create(_copy(old, evaluation) for old, evaluation in pairs)
    place_of = {old.pk: (new, evaluation) for (old, evaluation), new in zip(pairs, made, strict=True)}
    measurements = list(Measurement.objects.filter(result__in=place_of).order_by("id"))
    for one in measurements:
        new, evaluation = place_of[one.result_id or 0]
        one.pk, one.result, one.problem_id = None, new, evaluation.problem_id
    Measurement.objects.bulk_create(measurements)
    cases = list(ResultCase.objects.filter(result__in=place_of).order_by("id"))
    for case in cases:
        case.pk, case.result = None, place_of[case.result_id][0]
    ResultCase.objects.bulk_create(cases)
    flags = list(Flag.objects.filter(result__in=place_of).order_by("id"))
    for flag in flags:
        flag.pk, flag.result = None, place_of[flag.result_id][0]
    Flag.objects.bulk_create(flags)
    return made


def _copy(old: Result, evaluation: Evaluation) -> Result:
    return Result(
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


def _copy_baseline_state(old: Result, evaluation: Evaluation) -> None:
    before = ProblemTrack.objects.filter(problem=old.evaluation.problem, track=evaluation.track).first()
    if before and Measurement.objects.filter(result__evaluation=evaluation, baseline__isnull=False).exists():
        ProblemTrack.objects.filter(problem=evaluation.problem, track=evaluation.track).update(
            has_rankable_baseline=before.has_rankable_baseline,
            baseline_median_ms=before.baseline_median_ms,
            baseline_cases_ms=before.baseline_cases_ms,
        )
        copy_fixed(old.evaluation, evaluation)
