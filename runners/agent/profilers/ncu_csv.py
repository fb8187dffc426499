"""Reads the table that Nsight Compute's `ncu --csv` prints: one row per kernel launch and metric.

The benchmark runs as the same user as ncu and can change the table, so every value is checked.
"""

import csv
import io
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from problems.formats.compute_eval.timing import (
    KernelMetrics,
    NvtxRangeMetrics,
    PerformanceMetrics,
    PerformanceSummary,
)

TIME = "gpu__time_duration.sum"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
"""Throughput of the busiest of L1, L2 and DRAM. ComputeEval calls it DRAM throughput."""
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"

_NS_PER_UNIT = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_LONG_UNITS = {"nsecond": "ns", "usecond": "us", "msecond": "ms", "second": "s"}
_COLUMNS = ("ID", "Process ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value")
_PUSH_POP, _START_STOP = "Push/Pop_Range", "Start/Stop_Range"
_BETWEEN_RANGES = re.compile(r'"\s+(?:\d+\s+)?"')
_ROW = re.compile(r'^"(\d+)","(\d+)",', re.MULTILINE)
"""The start of a launch's row: its ID and its process ID."""
_RANGE_ID = re.compile(r"^\d+:")
MEND_NAMES = "give all ranges plain names, or time with the profiler cupti"
_FIELDS_AFTER_NAME = 6
"""PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg. They are counted from the end, because names may contain colons."""


class DamagedTable(Exception):
    """The text is not a valid table of ncu. The message gives the reason."""


@dataclass
class Launch:
    """One kernel launch. `ranges` holds the distinct names of the NVTX ranges around it."""

    kernel: str
    ranges: tuple[str, ...]
    lost_name: bool = False
    """Whether one of its ranges has an empty name, or a name that ncu lost."""
    metrics: dict[str, float] = field(default_factory=dict)
    """Values in nanoseconds or percent, by ncu's metric name. Metrics without a valid value are absent."""

    @property
    def dram_pct(self) -> float | None:
        """DRAM throughput in percent of its peak, or `MEMORY` if only that was collected; None without either."""
        return self.metrics.get(DRAM, self.metrics.get(MEMORY))


def read_launches(log: str) -> list[Launch]:
    """All launches in ncu's output. Lines around the table are skipped. Raises DamagedTable."""
    launches: dict[tuple[str, str], Launch] = {}
    names: list[str] = []
    begun = {match.group(2, 1) for match in _ROW.finditer(log)}
    try:
        for row in csv.reader(io.StringIO(log, newline="")):
            if row[:2] == ["ID", "Process ID"]:
                names = row
                _check_columns(names)
            elif names and len(row) == len(names):
                _take(dict(zip(names, row, strict=True)), launches)
    except csv.Error as error:
        raise DamagedTable(f"ncu's table cannot be read ({error})") from None
    lost = begun - launches.keys()
    if lost:
        counts = f"{len(launches)} launches that can be read, and {len(lost)} that cannot"
        raise DamagedTable(f"ncu's table has {counts}, perhaps because names of NVTX ranges hold quotes: {MEND_NAMES}")
    return list(launches.values())


def _check_columns(names: Sequence[str]) -> None:
    missing = [name for name in _COLUMNS if name not in names]
    if missing:
        raise DamagedTable(f"ncu's table has no column {', '.join(missing)}")


def _take(row: Mapping[str, str], launches: dict[tuple[str, str], Launch]) -> None:
    key = row["Process ID"], row["ID"]
    if key not in launches:
        names = list(_ranges(row))
        launches[key] = Launch(row["Kernel Name"], tuple(dict.fromkeys(filter(None, names))), "" in names)
    metric = row["Metric Name"]
    value = _number(row["Metric Value"], _factor(row["Metric Unit"]) if metric == TIME else 1.0)
    if value is not None:
        launches[key].metrics[metric] = value


def _factor(unit: str) -> float:
    return _NS_PER_UNIT.get(_LONG_UNITS.get(unit, unit), math.nan)


def _number(text: str, factor: float) -> float | None:
    """The value times `factor`; None if it is not a finite number of at least 0, or if `factor` is NaN."""
    try:
        value = float(text.replace(",", "")) * factor
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _ranges(row: Mapping[str, str]) -> Iterator[str]:
    """The names of the launch's named ranges. A name that ncu lost is ""."""
    for column, text in row.items():
        if _PUSH_POP in column:
            yield from filter(_is_name, map(_name, _sections(text)))
        elif _START_STOP in column:
            yield from filter(_is_name, (_name(_RANGE_ID.sub("", section)) for section in _sections(text)))


def _is_name(name: str) -> bool:
    return name != "none"


def _sections(text: str) -> list[str]:
    """The quoted parts of a column such as `2635  "<default domain>:outer:none:…"  "<default domain>:inner:none:…" `.

    Names may contain quotes. A quote ends a section only if blanks, an optional number and another quote follow.
    """
    first, last = text.find('"'), text.rfind('"')
    return _BETWEEN_RANGES.split(text[first + 1 : last]) if first < last else []


def _name(section: str) -> str:
    """A range's name: `none` if it has no name, "" if ncu lost it. ncu 2025.3.1 loses wide-character names."""
    return section.rsplit(":", _FIELDS_AFTER_NAME)[0].partition(":")[2] if ":" in section else "none"


def metrics_of(timed: Sequence[Launch], sampled: Sequence[Launch], wall_ms: float) -> PerformanceMetrics:
    """ComputeEval's metrics: times of the launches in `timed`, mean throughputs of the launches in `sampled`.

    `wall_ms` is the wall time of the whole command. A range includes the launches of the ranges inside it.
    """
    kernels, ranges = _by(timed, lambda one: (one.kernel,)), _by(timed, lambda one: one.ranges)
    seen = _by(sampled, lambda one: (one.kernel,))
    return PerformanceMetrics(
        kernels=[_kernel(name, launches, seen.get(name, [])) for name, launches in kernels.items()],
        memory_transfers={},
        nvtx_ranges={name: _range(launches) for name, launches in ranges.items()},
        summary=PerformanceSummary(
            total_kernel_time_ms=_total_ms(timed),
            total_kernels=len(kernels),
            total_kernel_invocations=len(timed),
            total_memory_transfers=0,
            application_duration_ms=wall_ms,
        ),
    )


def _by(launches: Iterable[Launch], names: Callable[[Launch], Iterable[str]]) -> dict[str, list[Launch]]:
    found: dict[str, list[Launch]] = defaultdict(list)
    for launch in launches:
        for name in names(launch):
            found[name].append(launch)
    return dict(found)


def _total_ms(launches: Iterable[Launch]) -> float:
    return sum(launch.metrics.get(TIME, 0.0) for launch in launches) / 1e6


def _kernel(name: str, timed: Sequence[Launch], sampled: Sequence[Launch]) -> KernelMetrics:
    total_ms = _total_ms(timed)
    return KernelMetrics(
        name=name,
        invocations=len(timed),
        total_duration_ms=total_ms,
        avg_duration_ms=total_ms / len(timed),
        sm_throughput_avg=_mean(one.metrics.get(SM) for one in sampled),
        dram_throughput_avg=_mean(one.dram_pct for one in sampled),
    )


def _range(launches: Sequence[Launch]) -> NvtxRangeMetrics:
    """ncu measures neither a range's wall clock nor its copies."""
    return NvtxRangeMetrics(
        kernel_time_ms=_total_ms(launches),
        kernel_invocations=len(launches),
        memcpy_time_ms=0.0,
        memcpy_count=0,
        memcpy_bytes=0,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
