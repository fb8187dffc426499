"""Turns timed series into measurements."""

from problems.spec.command.problem import CommandProblem
from runners.agent.judges.command.timing import Series, Timed
from runners.wire.protocol import MAX_TIME_MS, MIN_TIME_MS, MeasurementReport, Role, Witness
from scoring.median import median_interval


def measurements_of(problem: CommandProblem, timed: Timed) -> list[MeasurementReport]:
    """The measurements of candidate and baseline, if they have times.

    The baseline is left out if the candidate's harness left early, because the candidate did not do all the work.
    """
    witness = witness_of(timed)
    own = _measurement(Role.CANDIDATE, problem, timed, timed.candidate, witness)
    unknown = witness is Witness.CONTRADICTED or timed.baseline is None or timed.baseline.lacks_graphs
    base = None if unknown or timed.baseline is None else _baseline(problem, timed, timed.baseline)
    return [one for one in (own, base) if one is not None]


def witness_of(timed: Timed) -> Witness:
    """The candidate's witness; unknown if the baseline's harness shows the same contradiction."""
    witness = timed.candidate.witness
    shared = timed.baseline is not None and timed.baseline.witness is Witness.CONTRADICTED
    return Witness.UNAVAILABLE if shared and witness is Witness.CONTRADICTED else witness


def _baseline(problem: CommandProblem, timed: Timed, series: Series) -> MeasurementReport | None:
    witness = Witness.UNAVAILABLE if series.witness is Witness.CONTRADICTED else series.witness
    found = _measurement(Role.BASELINE, problem, timed, series, witness)
    if found is None:
        return None
    facts = {"shared": bool(timed.shared_key), "key": timed.shared_key, "measured_at": timed.measured_at}
    return found.model_copy(update=facts)


def _measurement(
    role: Role, problem: CommandProblem, timed: Timed, series: Series, witness: Witness
) -> MeasurementReport | None:
    """None if there is no time or it is out of bounds: a contestant may print any number."""
    times = series.times_ms
    if not times or not all(MIN_TIME_MS <= time <= MAX_TIME_MS for time in times):
        return None
    median, low, high = median_interval(times)
    return MeasurementReport(
        role=role,
        median_ms=median,
        ci_low_ms=low,
        ci_high_ms=high,
        runs_ms=list(times),
        clock=timed.timer.clock,
        work_checked=problem.checks_timed_work,
        witness=witness,
        device=(series.device.facts if series.device else {}) | (series.host.facts if series.host else {}),
    )
