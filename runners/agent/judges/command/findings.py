"""Flags what a person should review: times that observations contradict or that nothing checks, and changed tests."""

from collections.abc import Sequence

from problems.spec.command.problem import CommandProblem
from problems.spec.command.relied_on import changed_context
from problems.spec.solution import SourceFile
from runners.agent.judges.command import floors, outside_bounds
from runners.agent.judges.command.measurements import witness_of
from runners.agent.judges.command.outside_bounds import INTERPRETED_START_NOISE_MS, START_NOISE_MS
from runners.agent.judges.command.timing import Timed
from runners.agent.judges.host import disturbance
from runners.agent.judges.judgement import Finding
from runners.wire.protocol import UNCHECKED_SPEEDUP, Clock, FlagScope, Peaks, Witness


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
    floor = floors.below_floor(problem, problem.podium.case, candidate.time_ms, peaks)
    floor = floor or floors.below_bandwidth(problem, candidate.time_ms, peaks)
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
