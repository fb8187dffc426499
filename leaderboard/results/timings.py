"""An evaluation's times as its page shows them: in the problem's own units, and with what was seen of the device."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Measurement, Result
from leaderboard.results.rates import Ceilings, Rates, rates_of
from leaderboard.site.numerals import MISSING, percent
from problems.spec.case import Case
from problems.spec.shortest import LEAST_MS
from runners.wire.protocol import Clock, TimingPolicy

DEVICE_LABELS: Mapping[str, tuple[str, str]] = {
    "sm_clock_mhz": ("SM clock, median", "MHz"),
    "sm_clock_low_mhz": ("SM clock, lowest", "MHz"),
    "memory_clock_mhz": ("Memory clock", "MHz"),
    "temperature_c": ("Temperature, highest", "°C"),
    "power_w": ("Power, median", "W"),
    "energy_mj": ("Energy", "mJ"),
    "throttle_reasons": ("Slowed down by", ""),
    "throttled_share": ("Share of samples slowed down", "%"),
    "power_capped_share": ("Share of samples at the power limit", "%"),
    "clock_by": ("Timed by the checker's clock of the", ""),
    "why_host": ("… and not of the device, because", ""),
    "launch_us": ("Until its work was queued, by the host, not in the time", "µs"),
    "disturbed_calls": ("Calls thrown away, before which the device did other work", ""),
    "call_overhead_us": ("Cost of a call beside the solution, subtracted", "µs"),
    "go_to_done_us": ("From go to done, median", "µs"),
    "input_sets": ("Input sets a go", ""),
    "one_set_ms": ("One call with one input set", "ms"),
    "clock_ms": ("Median by the checker's clock alone", "ms"),
    "device_events_ms": ("Median by device events alone, in process", "ms"),
    "as_tensara_ms": ("Tensara's engine: mean of its calls", "ms"),
    "as_tensara_gflops": ("… its rate", "GFLOPS"),
    "as_tensara_2025_gflops": ("… its rate of March 2025", "GFLOPS"),
    "kernel_span_ms": ("SOL-ExecBench: kernel span", "ms"),
    "noisy_processes": ("Noisy: processes whose median by the clock is not known to 0.5 %", ""),
    "inputs_inside_clock": ("Inputs copied inside the clock", ""),
    "busy_ms": ("Device at work, by the driver", "ms"),
    "busy_resolution_ms": ("… give or take", "ms"),
    "held_ms": ("Watched for", "ms"),
    "writes_checked": ("Writes checked by the GPU's counters", ""),
    "output_bytes": ("Outputs of the timed part", "MB"),
    "l2_written_bytes": ("Written to the L2 cache by timed kernels", "MB"),
    "l2_read_bytes": ("Read from the L2 cache by timed kernels", "MB"),
    "dram_written_bytes": ("Written to DRAM by timed kernels", "MB"),
    "dram_read_bytes": ("Read from DRAM by timed kernels", "MB"),
    "uploaded_bytes": ("Copied from the host before the timed part", "MB"),
    "downloaded_bytes": ("Copied to the host after the timed part", "MB"),
    "host_lost_share": ("Wall time lost to other programs", "%"),
    "host_others_cores": ("Cores that other programs kept busy", ""),
    "host_steal_share": ("Processor time given to other virtual machines", "%"),
    "host_load_1m": ("Load average of the last minute", ""),
}
"""Fact → label and unit, in the order shown; a fact that is not here is shown under its own name. Amounts of bytes are
shown in MB."""

_CLOCKS = {Clock.OUTSIDE: "the supervisor's clock", Clock.IN_PROCESS: "a profiler in the solution's process"}
_CLOCKS_OF_FUNCTIONS = {
    Clock.OUTSIDE: "the checker's clock",
    Clock.IN_PROCESS: "the checker's clock, several sets a go",
}
_OWN_CLOCK = "the program's own clock"


def clock_words(clock: str, *, is_function: bool) -> str:
    """The owner of the clock that took a time, in words."""
    return (_CLOCKS_OF_FUNCTIONS if is_function else _CLOCKS).get(Clock(clock), _OWN_CLOCK)


def whose_clock(clocks: Iterable[str], *, is_function: bool) -> str:
    """The clock in the head of a column of times: `by the checker's clock`; empty without a time."""
    words = [clock_words(one, is_function=is_function) for one in dict.fromkeys(clocks)]
    return f"by {' and '.join(words)}" if words else ""


AS_OTHERS = frozenset({"as_tensara_ms", "as_tensara_gflops", "as_tensara_2025_gflops", "kernel_span_ms"})
"""Facts that are times and rates by the methods of others."""

RANKED_CALLS = 30
"""The least number of timed calls of a function in each process under `ranked`, unless the time limit stops it; on a
GPU it depends on the problem."""

WHOLE_FROM = 1000.0
"""The value from which on a reading's fraction says nothing."""


@dataclass(frozen=True)
class Timing:
    """One measurement with its rates."""

    measurement: Measurement
    rates: Rates

    @property
    def follows_events(self) -> bool:
        """Whether the time is that of device events within the interval, else the median over the processes."""
        return self.measurement.ci_low_ms is not None and "clock_ms" in (self.measurement.device or {})

    @property
    def is_by_device(self) -> bool:
        """Whether the checker's clock on a GPU took the time."""
        return (self.measurement.device or {}).get("clock_by") == "device"

    @property
    def counts_as_shortest(self) -> bool:
        """Whether a function's calls took less than the shortest time and count as it."""
        n_sets = (self.measurement.device or {}).get("input_sets") or 1
        return bool(self.measurement.median_ms <= LEAST_MS / n_sets)

    @property
    def was_stopped(self) -> bool:
        """Whether a process of a function made fewer timed calls than `ranked` asks for."""
        is_ranked = self.measurement.provenance.get("timing_policy") == TimingPolicy.RANKED
        is_on_gpu = "clock_by" in (self.measurement.device or {})
        return (
            is_ranked and not is_on_gpu and any(len(calls_ms) < RANKED_CALLS for calls_ms in self.measurement.calls_ms)
        )

    @property
    def n_noisy(self) -> int:
        """The number of processes whose median is not known well enough."""
        return int((self.measurement.device or {}).get("noisy_processes", 0))


@dataclass(frozen=True)
class DeviceFact:
    """One fact over all measurements; `values` in their order."""

    label: str
    unit: str
    values: list[str]


@dataclass(frozen=True)
class RooflineCeilings:
    """The ceilings that shares of the roofline are of."""

    ceilings: tuple[Ceilings, ...]
    """One for each data type that the cases declare."""
    peaks: Mapping[str, Any]
    of_this_gpu: bool
    """Measured on the very device of the result, else on another of the track's."""


def roof_of(result: Result, cases: Sequence[Case]) -> RooflineCeilings:
    own = known_peaks(result.provenance)
    peaks = own or result.evaluation.track.peaks
    dtypes = dict.fromkeys(case.dtype for case in cases)
    return RooflineCeilings(tuple(Ceilings.of(peaks, dtype) for dtype in dtypes), peaks, of_this_gpu=bool(own))


def known_peaks(provenance: Mapping[str, Any]) -> Mapping[str, Any]:
    """The peaks in a provenance; empty where it has none."""
    peaks = provenance.get("peaks") or {}
    return peaks if peaks.get("gbps") or peaks.get("gflops") else {}


def timings_of(rows: Sequence[Measurement], cases: Sequence[Case], roof: RooflineCeilings) -> list[Timing]:
    """Each measurement with the rates of its own case."""
    by_name = {case.name: case for case in cases}
    return [Timing(row, _rates(row, by_name.get(row.case), roof)) for row in rows]


def _rates(row: Measurement, case: Case | None, roof: RooflineCeilings) -> Rates:
    return rates_of([case], roof.peaks, row.median_ms) if case else Rates()


def device_facts(rows: Sequence[Measurement]) -> list[DeviceFact]:
    """The device's observations during each measurement; empty if there are none."""
    return [fact for name, fact in _facts(rows).items() if name not in AS_OTHERS]


def facts_as_others(rows: Sequence[Measurement]) -> list[DeviceFact]:
    """Each measurement by the methods of others; empty if there is nothing."""
    return [fact for name, fact in _facts(rows).items() if name in AS_OTHERS]


def _facts(rows: Sequence[Measurement]) -> dict[str, DeviceFact]:
    """Every fact by name, in the order of DEVICE_LABELS."""
    devices: list[Mapping[str, Any]] = [row.device or {} for row in rows]
    seen = dict.fromkeys(name for device in devices for name in device)
    names = [*(name for name in DEVICE_LABELS if name in seen), *(name for name in seen if name not in DEVICE_LABELS)]
    return {name: _fact(name, [device.get(name) for device in devices]) for name in names}


def _fact(name: str, values: Sequence[Any]) -> DeviceFact:
    label, unit = DEVICE_LABELS.get(name, (name.replace("_", " "), ""))
    return DeviceFact(label, unit, [_text(value, unit) for value in values])


def _text(value: Any, unit: str) -> str:
    if value is None or value == "":
        return MISSING
    if not isinstance(value, int | float):
        return str(value)
    if unit == "%":
        return percent(value)
    if unit == "MB":
        value /= 1e6
    return f"{value:,.0f}" if value >= WHOLE_FROM else f"{value:.4g}"
