"""Merges the notes of all processes of one run into ComputeEval's metrics and the input of the outside bounds.

A launch by one process counts for a range that another process has open, unless the launching process has ranges of
that name itself. The process's timeline gives its work in slices of time. A slice that lies partly in the range counts
in proportion.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from problems.formats.compute_eval.timing import (
    KernelMetrics,
    MemoryTransferMetrics,
    NvtxMemoryBreakdown,
    NvtxRangeMetrics,
    PerformanceMetrics,
    PerformanceSummary,
)
from runners.agent.profilers.cupti_notes import DOWNLOAD, UPLOAD, CopyNote, Notes, ProcessNote, RangeNote
from runners.agent.profilers.facts import ProfileFacts, RangeFacts

MOST_SHARED_NAMES = 64
"""Number of range names that are shared across processes. It bounds the work that a contestant can cause."""

Intervals = list[tuple[int, int]]


@dataclass
class RangeSum:
    """The ranges of one name, summed over all processes. Shares of other processes' slices make counts fractional."""

    instances: int = 0
    unclosed: int = 0
    wall_ns: float = 0
    launches: float = 0
    kernel_ns: float = 0
    copies: float = 0
    copy_ns: float = 0
    copied_bytes: float = 0
    fill_ns: float = 0
    busy_ns: float = 0
    late_ns: float = 0
    foreign_launches: float = 0
    filled_bytes: float = 0

    def add(self, note: RangeNote) -> None:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(note, name))

    def add_share(self, process: ProcessNote, open_elsewhere: Intervals) -> None:
        _, launches, kernel_ns, copies, copy_ns, copied_bytes, fill_ns, *_ = _shared(process, open_elsewhere)
        self.launches += launches
        self.foreign_launches += launches
        self.kernel_ns += kernel_ns
        self.copies += copies
        self.copy_ns += copy_ns
        self.copied_bytes += copied_bytes
        self.fill_ns += fill_ns
        self.busy_ns += kernel_ns + copy_ns + fill_ns

    def metrics(self) -> NvtxRangeMetrics:
        return NvtxRangeMetrics(
            wall_clock_time_ms=self.wall_ns / 1e6 if self.wall_ns else None,
            kernel_time_ms=self.kernel_ns / 1e6,
            kernel_invocations=round(self.launches),
            memcpy_time_ms=self.copy_ns / 1e6,
            memcpy_count=round(self.copies),
            memcpy_bytes=round(self.copied_bytes),
        )

    def facts(self, uploaded_before_bytes: int = 0, downloaded_after_bytes: int = 0) -> RangeFacts:
        return RangeFacts(
            instances=self.instances,
            unclosed=self.unclosed,
            wall_ms=self.wall_ns / 1e6,
            kernel_ms=self.kernel_ns / 1e6,
            launches=round(self.launches),
            memcpy_ms=self.copy_ns / 1e6,
            memset_ms=self.fill_ns / 1e6,
            busy_ms=self.busy_ns / 1e6,
            late_ms=self.late_ns / 1e6,
            foreign_launches=round(self.foreign_launches),
            copied_bytes=round(self.copied_bytes),
            filled_bytes=round(self.filled_bytes),
            uploaded_before_bytes=uploaded_before_bytes,
            downloaded_after_bytes=downloaded_after_bytes,
        )


def sum_ranges(processes: Sequence[ProcessNote]) -> dict[str, RangeSum]:
    """The sums by range name, in order of first appearance."""
    sums: dict[str, RangeSum] = defaultdict(RangeSum)
    for note in (one for process in processes for one in process.ranges):
        sums[note.name].add(note)
    if len(processes) > 1:
        for name in list(sums)[:MOST_SHARED_NAMES]:
            _add_shares(sums[name], name, processes)
    return dict(sums)


def _add_shares(total: RangeSum, name: str, processes: Sequence[ProcessNote]) -> None:
    open_when = _union(interval for one in _ranges(processes) if one.name == name for interval in one.open)
    for process in processes:
        if process.timeline.slices and all(one.name != name for one in process.ranges):
            total.add_share(process, open_when)


def _ranges(processes: Iterable[ProcessNote]) -> Iterable[RangeNote]:
    return (one for process in processes for one in process.ranges)


def _opened(processes: Sequence[ProcessNote]) -> dict[str, Intervals]:
    """The intervals in which ranges were open, by name."""
    opened: dict[str, Intervals] = defaultdict(list)
    for one in _ranges(processes):
        opened[one.name] += one.open
    return opened


def _union(intervals: Iterable[tuple[int, int]]) -> Intervals:
    """The union of intervals as sorted, disjoint intervals."""
    joined: Intervals = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _shared(process: ProcessNote, intervals: Intervals) -> list[float]:
    """The nine columns of `Slice`, summed over the process's slices. `intervals` are sorted and disjoint.

    A slice's weight is the share of its width that lies in `intervals`.
    """
    timeline = process.timeline
    if not timeline.slices or not intervals:
        return [0.0] * 9
    import numpy as np  # imported late, because it would delay the agent's start

    slices = np.array(timeline.slices, dtype=np.float64)
    # Times are relative to the process's start: nanoseconds since boot would lose digits as floats.
    edges = np.array([edge - timeline.origin_ns for one in intervals for edge in one], dtype=np.float64)
    open_before = np.concatenate([[0.0], np.cumsum(np.diff(edges) * (np.arange(len(edges) - 1) % 2 == 0))])
    starts = slices[:, 0] * timeline.width_ns
    open_in = np.interp(starts + timeline.width_ns, edges, open_before) - np.interp(starts, edges, open_before)
    sums: list[float] = ((open_in / timeline.width_ns) @ slices).tolist()
    return sums


def facts_of(notes: Notes, ranges: dict[str, RangeSum]) -> ProfileFacts:
    """The run's observations besides its time."""
    processes = notes.processes
    kernels: dict[str, int] = defaultdict(int)
    for kernel in (kernel for process in processes for kernel in process.kernels):
        kernels[kernel.name] += kernel.launches
    outside_launches, outside_ns = _outside(processes)
    copies, opened = _CopiesAround.of(processes), _opened(processes)
    return ProfileFacts(
        processes=sum(process.contexts > 0 for process in processes) + notes.silent,
        unfinished=notes.unfinished,
        dropped_records=sum(process.missing for process in processes),
        kernel_ms=sum(process.kernel_ns for process in processes) / 1e6,
        launches=sum(process.launches for process in processes),
        memcpy_ms=sum(process.copy_ns for process in processes) / 1e6,
        memset_ms=sum(process.fill_ns for process in processes) / 1e6,
        busy_ms=sum(process.busy_ns for process in processes) / 1e6,
        outside_ms=outside_ns / 1e6,
        outside_launches=outside_launches,
        kernels=dict(kernels),
        copied_bytes=sum(process.copied_bytes for process in processes),
        filled_bytes=sum(process.filled_bytes for process in processes),
        uploaded_bytes=sum(process.bytes_in(UPLOAD) for process in processes),
        downloaded_bytes=sum(process.bytes_in(DOWNLOAD) for process in processes),
        ranges={name: one.facts(*copies.around(opened[name])) for name, one in ranges.items()},
    )


@dataclass(frozen=True)
class _CopiesAround:
    """The copies outside of all ranges, before and after given times. A slice of the timeline counts whole."""

    begins_ns: list[int]
    uploaded_bytes: list[int]
    """`uploaded_bytes[n]` is the sum over the first n slices by their begin."""
    ends_ns: list[int]
    downloaded_bytes: list[int]
    """`downloaded_bytes[n]` is the sum over the first n slices by their end."""

    @classmethod
    def of(cls, processes: Sequence[ProcessNote]) -> "_CopiesAround":
        slices = [
            (timeline.origin_ns + index * timeline.width_ns, timeline.width_ns, up, down)
            for timeline in (process.timeline for process in processes)
            for index, up, down in timeline.outside_copies
        ]
        ups = sorted((begin_ns, up) for begin_ns, _, up, _ in slices)
        downs = sorted((begin_ns + width_ns, down) for begin_ns, width_ns, _, down in slices)
        return cls(
            [begin_ns for begin_ns, _ in ups],
            [0, *accumulate(up for _, up in ups)],
            [end_ns for end_ns, _ in downs],
            [0, *accumulate(down for _, down in downs)],
        )

    def around(self, opened: Intervals) -> tuple[int, int]:
        """Bytes copied from the host until the last interval begins, and to the host since the first one ended."""
        if not opened:
            return 0, 0
        last_entry_ns, first_exit_ns = max(start for start, _ in opened), min(end for _, end in opened)
        earlier = bisect_right(self.begins_ns, last_entry_ns)
        too_early = bisect_right(self.ends_ns, first_exit_ns)
        return self.uploaded_bytes[earlier], self.downloaded_bytes[-1] - self.downloaded_bytes[too_early]


def _outside(processes: Sequence[ProcessNote]) -> tuple[int, float]:
    """The number of launches made while no process had a range open, and their kernel time in nanoseconds."""
    launches, ns = 0.0, 0.0
    for process in processes:
        elsewhere = _union(
            interval for one in processes if one is not process for note in one.ranges for interval in note.open
        )
        *_, shared_launches, shared_ns = _shared(process, elsewhere)
        launches += process.outside_launches - shared_launches
        ns += process.outside_ns - shared_ns
    return round(launches), max(ns, 0.0)


def metrics_of(notes: Notes, ranges: dict[str, RangeSum]) -> PerformanceMetrics:
    """The run's metrics in the format of ComputeEval's profiler."""
    processes = notes.processes
    kernels = [_kernel(one.name, one.launches, one.ns) for process in processes for one in process.kernels]
    transfers = _transfers([copy for process in processes for copy in process.copies])
    begun, ended = min(one.begun_ns for one in processes), max(one.ended_ns for one in processes)
    return PerformanceMetrics(
        kernels=kernels,
        memory_transfers=transfers,
        nvtx_ranges={name: one.metrics() for name, one in ranges.items()},
        summary=PerformanceSummary(
            total_kernel_time_ms=sum(process.kernel_ns for process in processes) / 1e6,
            total_kernels=len(kernels),
            total_kernel_invocations=sum(process.launches for process in processes),
            total_memory_transfers=sum(transfer.count for transfer in transfers.values()),
            application_duration_ms=(ended - begun) / 1e6,
        ),
    )


def _kernel(name: str, launches: int, ns: int) -> KernelMetrics:
    average_ms = ns / 1e6 / launches if launches else 0.0
    return KernelMetrics(name=name, invocations=launches, total_duration_ms=ns / 1e6, avg_duration_ms=average_ms)


def _transfers(copies: Sequence[CopyNote]) -> dict[str, MemoryTransferMetrics]:
    by_direction: dict[str, list[CopyNote]] = defaultdict(list)
    for copy in copies:
        by_direction[copy.direction].append(copy)
    return {direction: _transfer(by_direction[direction]) for direction in sorted(by_direction)}


def _transfer(copies: Sequence[CopyNote]) -> MemoryTransferMetrics:
    parts: dict[str, list[int]] = {}
    for part in (part for copy in copies for part in copy.ranges):
        total = parts.setdefault(part.name, [0, 0])
        total[0] += part.bytes
        total[1] += part.ns
    total_bytes, total_ns = sum(copy.bytes for copy in copies), sum(copy.ns for copy in copies)
    return MemoryTransferMetrics(
        count=sum(copy.count for copy in copies),
        total_bytes=total_bytes,
        total_time_ms=total_ns / 1e6,
        bandwidth_gbps=_gbps(total_bytes, total_ns),
        nvtx={
            name: NvtxMemoryBreakdown(bytes=bytes_, time_ms=ns / 1e6, bandwidth_gbps=_gbps(bytes_, ns))
            for name, (bytes_, ns) in sorted(parts.items())
        },
    )


def _gbps(moved_bytes: int, ns: int) -> float:
    """Gigabytes per second, which is bytes per nanosecond."""
    return round(moved_bytes / ns, 3) if ns else 0.0
