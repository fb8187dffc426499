"""Flags a solution's time if it contradicts the observations made outside its process, and changes of the test."""

from collections.abc import Sequence

from problems.spec.command.problem import CommandProblem
from problems.spec.command.relied_on import changed_context
from problems.spec.solution import SourceFile
from runners.agent.judges.command import floors, outside_bounds
from runners.agent.judges.command.outside_bounds import INTERPRETED_START_NOISE_MS, START_NOISE_MS
from runners.agent.judges.command.timing import Timed
from runners.agent.judges.judgement import Finding
from runners.wire.protocol import FlagScope, Peaks


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
        work_checked=problem.podium.work_checked,
        plain_wall_ms=timed.plain_wall_ms,
        start_noise_ms=INTERPRETED_START_NOISE_MS if problem.language == "python" else START_NOISE_MS,
    )
    floor = floors.below_floor(problem, problem.podium.case, candidate.time_ms, peaks)
    return [*bounds, *([floor] if floor else []), *_throttled(timed)]


def _throttled(timed: Timed) -> list[Finding]:
    reasons = timed.candidate.device.throttle_reasons if timed.candidate.device else ()
    return [Finding("throttled", f"The device was slowed down: {', '.join(reasons)}.")] if reasons else []
