"""The timers of benchmarks, selected by the problem's timing mode and the requested profiler."""

from collections.abc import Callable

from problems.spec.command.problem import CommandProblem
from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.profilers.base import Timer
from runners.agent.profilers.cupti import Cupti
from runners.agent.profilers.ncu import Ncu
from runners.agent.profilers.ncu_tool import require_ncu
from runners.agent.profilers.plain import PrintedTime, ProcessTime
from runners.wire.protocol import Profiler

_TIMERS: dict[str, Timer] = {"process": ProcessTime(), "custom": PrintedTime()}
_PROFILERS: dict[Profiler, Callable[[CommandProblem], Timer]] = {
    Profiler.CUPTI: lambda problem: Cupti(problem.timing_mode),
    Profiler.NCU: Ncu,
}
"""Constructors of the timers that need a GPU. Each may raise ProfilerUnavailable."""
_TOOLS: dict[Profiler, Callable[[], object]] = {Profiler.CUPTI: Cupti, Profiler.NCU: require_ncu}
"""Checks of a profiler's tools. Each raises ProfilerUnavailable if a tool is missing."""


def timer_for(problem: CommandProblem, timed_modes: frozenset[str], profiler: Profiler) -> Timer | None:
    """The timer of this problem's benchmark.

    Returns None if the problem has no benchmark, if its mode is not in `timed_modes`, or if its mode needs a profiler
    and `profiler` is NONE. Raises ProfilerUnavailable if the profiler's tools are missing.
    """
    mode = problem.timing_mode.type
    if not problem.benchmark_command:
        return None
    if mode in _TIMERS:
        return _TIMERS[mode] if mode in timed_modes else None
    return None if profiler is Profiler.NONE else _PROFILERS[profiler](problem)


def require_profiler(profiler: Profiler) -> None:
    """Raise ProfilerUnavailable if this machine lacks the profiler's tools."""
    _TOOLS[profiler]()


def available() -> list[Profiler]:
    """The profilers that this machine can use."""
    found = []
    for profiler in _TOOLS:
        try:
            require_profiler(profiler)
        except ProfilerUnavailable:
            continue
        found.append(profiler)
    return found
