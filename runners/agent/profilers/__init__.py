"""How a benchmark is timed: one profiler per way, found by the problem's timing mode and what was asked for."""

from collections.abc import Callable

from problems.spec.problem import CommandProblem
from runners.agent.errors import ProfilerUnavailable
from runners.agent.profilers.base import Attachment, Reading, Timer
from runners.agent.profilers.cupti import Cupti
from runners.agent.profilers.custom import PrintedTime
from runners.agent.profilers.process import ProcessTime
from runners.protocol import Profiler

__all__ = ["Attachment", "Reading", "Timer", "available", "timer_for"]

_TIMERS: dict[str, Timer] = {"process": ProcessTime(), "custom": PrintedTime()}
_PROFILERS: dict[Profiler, Callable[[], Timer]] = {Profiler.CUPTI: Cupti}
"""Makers of the timers that need a GPU; a maker raises ProfilerUnavailable where its tools are missing."""


def timer_for(problem: CommandProblem, timed_modes: frozenset[str], profiler: Profiler) -> Timer | None:
    """What times this problem's benchmark; None where it has none or nothing that was asked for can time it.

    Raises ProfilerUnavailable.
    """
    mode = problem.timing_mode.type
    if not problem.benchmark_command:
        return None
    if mode in _TIMERS:
        return _TIMERS[mode] if mode in timed_modes else None
    return None if profiler is Profiler.NONE else open_profiler(profiler)


def open_profiler(profiler: Profiler) -> Timer:
    """The profiler's timer. Raises ProfilerUnavailable."""
    if profiler not in _PROFILERS:
        raise ProfilerUnavailable(
            f"the profiler {profiler.value} cannot run here: this machine has no NVIDIA GPU tools for it. "
            "Use `--profile none`, or run on a machine with a GPU and the CUDA toolkit"
        )
    return _PROFILERS[profiler]()


def available() -> list[Profiler]:
    """The profilers that this machine can use."""
    found = []
    for profiler, make in _PROFILERS.items():
        try:
            make()
        except ProfilerUnavailable:
            continue
        found.append(profiler)
    return found
