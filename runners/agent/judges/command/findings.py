"""Turns timed series into measurements, and flags what a person should review."""

from collections.abc import Sequence

from problems.spec.case import Case
from problems.spec.command.problem import CommandProblem
from problems.spec.command.relied_on import changed_context
from problems.spec.solution import SourceFile
from runners.agent.judges.command import outside_bounds
from runners.agent.judges.command.outside_bounds import INTERPRETED_START_NOISE_MS, START_NOISE_MS
from runners.agent.judges.command.timing import Series, Timed
from runners.agent.judges.host import disturbance
from runners.agent.judges.judgement import Finding
from runners.agent.judges.roofline import CACHES, below_roofline
from runners.wire.protocol import (
    MAX_TIME_MS,
    MIN_TIME_MS,
    UNCHECKED_SPEEDUP,
    Clock,
    FlagScope,
    MeasurementReport,
    Peaks,
    Role,
    Witness,
)
from scoring.median import median_interval
from scoring.throughput import least_ms
from scoring.traffic import bandwidth_floor_ms


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


def bound_ms(problem: CommandProblem, case: Case, peaks: Peaks) -> float | None:
    """The roofline of one case in milliseconds, at the peak of the fastest arithmetic that its tolerances admit.

    Bytes count only if they cannot lie in the L2 cache: the working set is more than twice its size, or the benchmark
    flushes it. Work whose peak is unknown does not count. Returns None if nothing counts.
    """
    peak_gflops = peaks.gflops.get(case.fastest_dtype)
    moved_bytes = case.bytes if peaks.gbps and _leaves_the_cache(problem, peaks) else None
    return least_ms(case.flops if peak_gflops else None, moved_bytes, peak_gflops, peaks.gbps)


def _leaves_the_cache(problem: CommandProblem, peaks: Peaks) -> bool:
    podium = problem.podium
    if podium.l2_flushed:
        return True
    return bool(podium.working_set_bytes and peaks.l2_bytes and podium.working_set_bytes > CACHES * peaks.l2_bytes)


def _may_stay_in_the_cache(problem: CommandProblem, peaks: Peaks) -> bool:
    """Whether the declared working set fits into the L2 cache, so that the DRAM's bandwidth bounds nothing."""
    known = problem.podium.working_set_bytes
    return bool(known and peaks.l2_bytes) and not _leaves_the_cache(problem, peaks)


def below_bandwidth(problem: CommandProblem, time_ms: float, peaks: Peaks) -> Finding | None:
    """The flag of a time that is too short for the declared bytes, wherever they lie."""
    moved_bytes = None if _may_stay_in_the_cache(problem, peaks) else problem.podium.bytes
    floor_ms = bandwidth_floor_ms(moved_bytes, peaks.gbps)
    if moved_bytes is None or floor_ms is None or time_ms >= floor_ms:
        return None
    return bandwidth_finding(time_ms, floor_ms, moved_bytes)


def bandwidth_finding(time_ms: float, floor_ms: float, moved_bytes: float) -> Finding:
    """The flag `below_bandwidth`. `floor_ms` is that of `scoring.traffic`."""
    words = f"{time_ms:.4g} ms is less than {floor_ms:.4g} ms, a fourth of the time in which the device moves the"
    return Finding("below_bandwidth", f"{words} {moved_bytes / 1e6:.4g} MB of inputs and outputs.")


def below_floor(problem: CommandProblem, case: Case, time_ms: float, peaks: Peaks) -> Finding | None:
    """The flag of a time that is shorter than the device allows; None for a plausible time."""
    return below_roofline(time_ms, bound_ms(problem, case, peaks))


def context_findings(problem: CommandProblem, files: Sequence[SourceFile]) -> list[Finding]:
    """A flag of the verdict if the solution changed context files on which the tests rely."""
    changed = changed_context(problem, files)
    if not changed:
        return []
    words = "; ".join(f"{path}: {why}" for path, why in changed.items())
    detail = f"The solution changed context files that may decide the test. {words}."
    return [Finding("context_changed", detail, FlagScope.VERDICT)]


def findings_of(problem: CommandProblem, timed: Timed, peaks: Peaks) -> list[Finding]:
    """Flags of the candidate's time; empty if it has no time. `peaks` are those of the device that ran it."""
    candidate = timed.candidate.observed
    if candidate is None or timed.candidate.failed:
        return []
    bounds = outside_bounds.findings(
        problem.timing_mode,
        candidate,
        timed.baseline.observed if timed.baseline else None,
        work_checked=problem.checks_timed_work,
        plain_wall_ms=timed.plain_wall_ms,
        start_noise_ms=INTERPRETED_START_NOISE_MS if problem.language == "python" else START_NOISE_MS,
    )
    floor = below_floor(problem, problem.podium.case, candidate.time_ms, peaks)
    floor = floor or below_bandwidth(problem, candidate.time_ms, peaks)
    return [*bounds, *([floor] if floor else []), *_throttled(timed), *_busy_host(timed)]


def unchecked_findings(problem: CommandProblem, timed: Timed) -> list[Finding]:
    """A flag of a large speedup if nothing checks that the timed runs did their work.

    The command of the benchmark tells the solution that it is timed, so it may do less work than in the test.
    """
    own_ms, reference_ms = timed.candidate.median_ms, timed.baseline.median_ms if timed.baseline else None
    if problem.checks_timed_work or timed.timer.clock is Clock.SELF or timed.candidate.failed:
        return []
    if witness_of(timed) is Witness.CONTRADICTED:  # it left early, which is a flag of its own
        return []
    if not own_ms or not reference_ms or reference_ms <= UNCHECKED_SPEEDUP * own_ms:
        return []
    words = (
        f"{reference_ms / own_ms:.3g} times as fast as the reference, and nothing checks that the timed runs worked."
    )
    return [Finding("unchecked_speedup", words)]


def _throttled(timed: Timed) -> list[Finding]:
    words = timed.candidate.device.throttle_words if timed.candidate.device else ""
    return [Finding("throttled", words)] if words else []


def _busy_host(timed: Timed) -> list[Finding]:
    """The flag of a comparison of which the machine's other work lengthened one side, in all attempts."""
    return disturbance({
        "The benchmark": timed.candidate.host, "The baseline": timed.baseline.host if timed.baseline else None
    })  # fmt: skip
