"""The profiler `cupti`: libpodium_cupti.so records kernels, copies and NVTX ranges in the benchmark's processes."""

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
"""ComputeEval's message, with the reason; the reason is None if there is no profile."""
ONE_CONNECTION = {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}
"""All streams share one hardware connection. This makes a start of CUDA two and a half times as fast."""
ONE_AT_A_TIME = {"PODIUM_CUPTI_SERIAL": "1", **ONE_CONNECTION}
"""Kernels that never overlap need only one connection."""
MOST_NAMES_TOLD = 20
LONGEST_NAME_TOLD = 80


class Cupti:
    """Times a benchmark from inside its processes.

    The CUDA driver and NVTX load the library when they start in a process. Any command and its children can be timed.
    """

    clock = Clock.IN_PROCESS
    waits_at_gate = True
    patience = 1.0

    def __init__(self, mode: TimingMode | None = None, *, with_graphs: bool = False) -> None:
        """Raises ProfilerUnavailable if the library or the porter cannot be built here.

        Kernels run one at a time if `mode` sums kernel times, unless `with_graphs` is set. CUPTI cannot time the
        kernels of a CUDA graph one at a time (docs/decisions/0012).
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
        """Add environment variables and mounts. The command does not change. See `Timer.attach`."""
        gate = gate_attachment(shell, self._library.path, notes)
        environment = {"NVTX_INJECTION64_PATH": str(self._library.path), "PODIUM_CUPTI_NOTES": str(notes)}
        copies = {"PODIUM_GATE_COPIES": "1"} if self._copies_count else {}
        return replace(gate, environment={**gate.environment, **environment, **self._way, **copies})

    def read(self, problem: CommandProblem, notes: Path, outcome: Outcome) -> Reading:
        """See `Timer.read`. A filter that matches nothing is an error; ComputeEval reports 0.0 ms."""
        try:
            found = read_notes(notes, outcome.wall_ms)
        except DamagedNotes as error:
            return Reading(None, FAILED.format(f"{error}; the profile was rejected"))
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
        """Always "", because this timer runs only inside the benchmark's processes."""
        return ""


def sums_kernels(mode: TimingMode) -> bool:
    """Whether the mode's time is a sum of kernel durations. Such a sum counts overlapping kernels in full."""
    of_kernels = isinstance(mode, KernelsTimingMode | RegionTimingMode | GpuTimingMode)
    return of_kernels and not times_by_wall_clock(mode)


def gate_attachment(shell: str, library: Path, notes: Path) -> Attachment:
    """Attach the library with its recorder off. It only waits for the device at the gate in `notes`."""
    folder = library.parent
    mounts = Mount(folder, str(folder)), Mount(notes, str(notes), writable=True)
    return Attachment(shell, {"CUDA_INJECTION64_PATH": str(library)}, mounts)


def gate_library() -> Path | None:
    """Path of the library for tests that run beside benchmarks.

    Returns None if this machine has no driver, or if the library or the porter cannot be built.
    """
    if cupti_library.why_unavailable():
        return None
    try:
        porter.program()
    except porter.PorterFailed:
        return None
    return cupti_library.find_or_build().path


def unmatched(mode: TimingMode, metrics: PerformanceMetrics) -> str:
    """The reason why the mode's filter selects nothing, or "" if it selects something."""
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
