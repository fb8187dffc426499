"""The shortest time that a device's own measured ceilings allow for the work that a problem declares (its roofline)."""

from problems.spec.problem import CommandProblem
from runners.agent.bounds import Finding
from runners.protocol import Peaks

TOLERANCE = 0.9
"""A time below this share of the bound is no measurement: the ceilings themselves are measured to a few percent."""


def bound_ms(problem: CommandProblem, peaks: Peaks) -> float | None:
    """Milliseconds: the larger of flops over the peak of their type and bytes over the copy bandwidth.

    Memory bounds only what cannot lie in the L2 cache: a working set of more than twice its size, or one that the
    benchmark flushes. None where nothing is declared or no peak is known.
    """
    podium = problem.podium
    bounds = []
    peak_gflops = peaks.gflops.get(podium.flops_dtype)
    if podium.flops and peak_gflops:
        bounds.append(podium.flops / (peak_gflops * 1e6))
    if podium.bytes and peaks.gbps and _leaves_the_cache(problem, peaks):
        bounds.append(podium.bytes / (peaks.gbps * 1e6))
    return max(bounds, default=None)


def _leaves_the_cache(problem: CommandProblem, peaks: Peaks) -> bool:
    podium = problem.podium
    if podium.l2_flushed:
        return True
    return bool(podium.working_set_bytes and peaks.l2_bytes and podium.working_set_bytes > 2 * peaks.l2_bytes)


def below_floor(problem: CommandProblem, time_ms: float, peaks: Peaks) -> Finding | None:
    """What is wrong with a time that no device like this could reach."""
    bound = bound_ms(problem, peaks)
    if bound is None or time_ms >= TOLERANCE * bound:
        return None
    return Finding(
        "below_roofline",
        f"{time_ms:.4g} ms is less than {TOLERANCE:g} × the {bound:.4g} ms that the device needs at its peaks.",
    )
