"""The shortest time that a device's own measured ceilings allow for the work that a problem declares (its roofline)."""

from problems.spec.case import Case
from problems.spec.command.problem import CommandProblem
from runners.agent.judges.judgement import Finding
from runners.agent.judges.roofline import CACHES, below_roofline
from runners.wire.protocol import Peaks
from scoring.throughput import least_ms
from scoring.traffic import bandwidth_floor_ms


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
