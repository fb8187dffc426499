"""Reads a profiler's JSON and takes the time out of it that a problem's timing mode asks for."""

import json
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from pydantic import BaseModel, ValidationError

from problems.spec.command.timing_mode import (
    CustomTimingMode,
    GpuTimingMode,
    KernelsTimingMode,
    ProcessTimingMode,
    RegionTimingMode,
)

AnyTimingMode = ProcessTimingMode | KernelsTimingMode | RegionTimingMode | GpuTimingMode | CustomTimingMode

_CUSTOM_LINE = re.compile(r"^COMPUTE_EVAL_TIME_MS:\s*([\d.]+)\s*$", re.MULTILINE)


class KernelMetrics(BaseModel):
    """All launches of one kernel; throughputs in percent of peak, known to ncu alone."""

    name: str
    invocations: int
    total_duration_ms: float
    avg_duration_ms: float
    sm_throughput_avg: float | None = None
    dram_throughput_avg: float | None = None


class NvtxMemoryBreakdown(BaseModel):
    """The part of a transfer direction inside one NVTX range."""

    bytes: int
    time_ms: float
    bandwidth_gbps: float


class MemoryTransferMetrics(BaseModel):
    """All transfers in one direction."""

    count: int
    total_bytes: int
    total_time_ms: float
    bandwidth_gbps: float
    nvtx: dict[str, NvtxMemoryBreakdown] | None = None


class NvtxRangeMetrics(BaseModel):
    """All that ran inside ranges of one name."""

    wall_clock_time_ms: float | None = None
    kernel_time_ms: float
    kernel_invocations: int
    memcpy_time_ms: float
    memcpy_count: int
    memcpy_bytes: int


class PerformanceSummary(BaseModel):
    """Totals of one profiled run."""

    total_kernel_time_ms: float
    total_kernels: int
    total_kernel_invocations: int
    total_memory_transfers: int
    application_duration_ms: float


class PerformanceMetrics(BaseModel):
    """One profiled run, in the shape of ComputeEval's CUPTI profiler."""

    kernels: list[KernelMetrics]
    memory_transfers: dict[str, MemoryTransferMetrics]
    nvtx_ranges: dict[str, NvtxRangeMetrics]
    summary: PerformanceSummary

    @property
    def sm_throughput_pct(self) -> float | None:
        """Plain mean over the kernels that have one."""
        return _mean(kernel.sm_throughput_avg for kernel in self.kernels)

    @property
    def dram_throughput_pct(self) -> float | None:
        """Plain mean over the kernels that have one."""
        return _mean(kernel.dram_throughput_avg for kernel in self.kernels)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def read_profile(data: bytes | str) -> PerformanceMetrics | None:
    """Read a profile; None where it is damaged or no profile."""
    try:
        return PerformanceMetrics.model_validate(json.loads(data))
    except (ValueError, ValidationError, RecursionError):
        return None


def extract_time_ms(timing_mode: AnyTimingMode, profile: PerformanceMetrics) -> float:
    """The benchmark's time in milliseconds; names that match nothing give 0.0.

    Raises ValueError for the mode `custom`, whose time is printed and not profiled.
    """
    if isinstance(timing_mode, ProcessTimingMode):
        return profile.summary.application_duration_ms
    if isinstance(timing_mode, KernelsTimingMode):
        return _kernels_ms(timing_mode, profile)
    if isinstance(timing_mode, RegionTimingMode):
        return _region_ms(timing_mode, profile)
    if isinstance(timing_mode, GpuTimingMode):
        transfers_ms = sum(transfer.total_time_ms for transfer in profile.memory_transfers.values())
        return profile.summary.total_kernel_time_ms + transfers_ms
    raise ValueError("timing mode `custom` takes its time from the benchmark's output, not from a profile")


def _kernels_ms(mode: KernelsTimingMode, profile: PerformanceMetrics) -> float:
    if mode.include is None and mode.exclude is None:
        return profile.summary.total_kernel_time_ms
    return sum((k.total_duration_ms for k in profile.kernels if chosen(mode, k.name)), 0.0)


def _region_ms(mode: RegionTimingMode, profile: PerformanceMetrics) -> float:
    ranges = (metrics for name, metrics in profile.nvtx_ranges.items() if chosen(mode, name))
    if mode.time_type == "kernel":
        return sum((metrics.kernel_time_ms for metrics in ranges), 0.0)
    return sum((metrics.wall_clock_time_ms or 0.0 for metrics in ranges), 0.0)


def chosen(mode: KernelsTimingMode | RegionTimingMode, name: str) -> bool:
    """Whether a mode's globs let a kernel's or range's name count."""
    included = mode.include is None or any(fnmatchcase(name, glob) for glob in mode.include)
    return included and not any(fnmatchcase(name, glob) for glob in mode.exclude or [])


def extract_custom_time_ms(output: str) -> float | None:
    """The last time that a benchmark printed on a line of its own as `COMPUTE_EVAL_TIME_MS: <ms>`, or None.

    Raises ValueError where digits and dots make no number, as in `1.2.3`.
    """
    matches = _CUSTOM_LINE.findall(output)
    return float(matches[-1]) if matches else None
