"""The profiler `cupti`: a library of ours in the benchmark's own processes adds up kernels, copies and NVTX ranges."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from problems.formats.compute_eval.timing import PerformanceMetrics, chosen, extract_time_ms
from problems.spec.command.problem import CommandProblem
from problems.spec.command.timing_mode import (
    GpuTimingMode,
    KernelsTimingMode,
    RegionTimingMode,
    TimingMode,
    times_by_wall_clock,
)
from runners.agent.devices import porter
from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.profilers import cupti_library
from runners.agent.profilers.base import Attachment, Reading
from runners.agent.profilers.cupti_merge import facts_of, metrics_of, sum_ranges
from runners.agent.profilers.cupti_notes import DamagedNotes, read_notes
from runners.agent.sandbox.policy import Mount, Outcome
from runners.wire.protocol import Clock

FAILED = "Benchmark profiling failed: {}"
"""ComputeEval's words, with its `None` where there is no profile."""
ONE_CONNECTION = {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}
"""All streams share it; it makes a start two and a half times as fast."""
ONE_AT_A_TIME = {"PODIUM_CUPTI_SERIAL": "1", **ONE_CONNECTION}
"""Where kernels never overlap, one connection does."""
MOST_NAMES_TOLD = 20
LONGEST_NAME_TOLD = 80


class Cupti:
    """Loaded by the CUDA driver and by NVTX where they start in a process, so any command and its children will do."""

    clock = Clock.IN_PROCESS
    waits_at_gate = True
    patience = 1.0

    def __init__(self, mode: TimingMode | None = None, *, with_graphs: bool = False) -> None:
        """Raises ProfilerUnavailable. `mode` says whether kernels are timed one at a time, which those of CUDA graphs
        cannot be: see docs/decisions/0012.
        """
        complaint = cupti_library.why_unavailable()
        if complaint:
            raise ProfilerUnavailable(f"the profiler cupti cannot run here: {complaint}. Or use `--profile none`")
        try:
            porter.program()
        except porter.PorterFailed as error:
            raise ProfilerUnavailable(f"{error}. Or use `--profile none`") from error
        self._library = cupti_library.find_or_build()
        self._copies_count = isinstance(mode, GpuTimingMode)
        self._mode = mode
        self._one_at_a_time = mode is not None and sums_kernels(mode) and not with_graphs
        how = ", kernels one at a time" if self._one_at_a_time else ", kernels of graphs" if with_graphs else ""
        self.name = self._library.version + how
        self._way = ONE_AT_A_TIME if self._one_at_a_time else ONE_CONNECTION if with_graphs else {}

    @property
    def for_graphs(self) -> "Cupti | None":
        """See `Timer.for_graphs`."""
        return Cupti(self._mode, with_graphs=True) if self._one_at_a_time else None

    def attach(self, shell: str, notes: Path) -> Attachment:
        """The command stays as it is; see `Timer.attach`."""
        gate = gate_attachment(shell, self._library.path, notes)
        environment = {"NVTX_INJECTION64_PATH": str(self._library.path), "PODIUM_CUPTI_NOTES": str(notes)}
        copies = {"PODIUM_GATE_COPIES": "1"} if self._copies_count else {}
        return replace(gate, environment={**gate.environment, **environment, **self._way, **copies})

    def read(self, problem: CommandProblem, notes: Path, outcome: Outcome) -> Reading:
        """See `Timer.read`. A filter that matches nothing is an error; ComputeEval makes 0.0 of it."""
        try:
            found = read_notes(notes, outcome.wall_ms)
        except DamagedNotes as error:
            return Reading(None, FAILED.format(f"{error}; the profile was not believed"))
        if found is None or not found.processes:
            return Reading(None, FAILED.format(None))
        ranges = sum_ranges(found.processes)
        metrics, facts = metrics_of(found, ranges), facts_of(found, ranges)
        lacks_graphs = self._one_at_a_time and any(process.has_untimed_graphs for process in found.processes)
        complaint = unmatched(problem.timing_mode, metrics)
        if complaint:
            return Reading(None, FAILED.format(complaint), metrics, facts, lacks_graphs=lacks_graphs)
        return Reading(extract_time_ms(problem.timing_mode, metrics), None, metrics, facts, lacks_graphs=lacks_graphs)

    def own_failure(self, notes: Path, outcome: Outcome) -> str:  # noqa: ARG002
        """See `Timer.own_failure`: nothing of it runs but inside the benchmark."""
        return ""


def sums_kernels(mode: TimingMode) -> bool:
    """Whether the mode's time is a sum of kernels' own times, for which it is no matter whether they could overlap."""
    of_kernels = isinstance(mode, KernelsTimingMode | RegionTimingMode | GpuTimingMode)
    return of_kernels and not times_by_wall_clock(mode)


def gate_attachment(shell: str, library: Path, notes: Path) -> Attachment:
    """The library without its recorder: all that it does is to wait for the device at a gate in `notes`."""
    folder = library.parent
    mounts = Mount(folder, str(folder)), Mount(notes, str(notes), writable=True)
    return Attachment(shell, {"CUDA_INJECTION64_PATH": str(library)}, mounts)


def gate_library() -> Path | None:
    """The library where it can be had and loaded, and the porter with it, for tests that run beside benchmarks."""
    if cupti_library.why_unavailable():
        return None
    try:
        porter.program()
    except porter.PorterFailed:
        return None
    return cupti_library.find_or_build().path


def unmatched(mode: TimingMode, metrics: PerformanceMetrics) -> str:
    """Why the mode's filter leaves nothing to time; empty where it leaves something."""
    if isinstance(mode, RegionTimingMode):
        return _unmatched(mode, "NVTX range", metrics.nvtx_ranges)
    if isinstance(mode, KernelsTimingMode) and (mode.include is not None or mode.exclude is not None):
        return _unmatched(mode, "kernel", [kernel.name for kernel in metrics.kernels])
    return ""


def _unmatched(mode: KernelsTimingMode | RegionTimingMode, what: str, names: Iterable[str]) -> str:
    names = list(dict.fromkeys(names))
    if any(chosen(mode, name) for name in names):
        return ""
    if not names:
        return f"the run had no {what}"
    told = ", ".join(repr(name[:LONGEST_NAME_TOLD]) for name in names[:MOST_NAMES_TOLD])
    more = ", …" if len(names) > MOST_NAMES_TOLD else ""
    return f"No {what} matches {_filter(mode)}; the run had: {told}{more}"


def _filter(mode: KernelsTimingMode | RegionTimingMode) -> str:
    include = "" if mode.include is None else " or ".join(map(repr, mode.include)) or "an empty list"
    exclude = "" if not mode.exclude else "other than " + ", ".join(map(repr, mode.exclude))
    return " ".join(filter(None, [include, exclude]))
