"""Samples one GPU while a command runs: clocks, power, temperature, throttling, time at work."""

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from threading import Condition, Thread
from types import TracebackType
from typing import Any, Self

from runners.agent.devices.activity import Activity, ActivityMeter, Span, now_us
from runners.agent.devices.nvml import Nvml
from runners.agent.devices.record import DeviceRecord

PERIOD_SECONDS = 0.005
SLOW_EVERY = 10
"""Power, temperature and processes are read at every tenth sample. The driver renews them no faster."""
COLLECT_EVERY = 10
"""Activity is read at every tenth sample. The driver renews it about five times a second."""
CLOSING_SECONDS = 0.5
LINGER_SECONDS = 2.0
IDLE = 0x1
POWER_CAP = 0x4
THROTTLES = {
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}
"""Bits of nvmlDeviceGetCurrentClocksEventReasons that always mean a throttled device."""
POWER_CAP_WORDS = "power cap"
POWER_CAPPED_CLOCK = 0.5
"""At its power limit a card lowers its clocks by design, for baseline and candidate alike: half-precision matrix
products took an H200 from 1980 to 1260 MHz within seconds. Only a clock below this share of the run's highest clock
counts as throttling."""


@dataclass(frozen=True)
class DeviceSample:
    """The driver's values at one time. `reasons` holds the bits of nvmlDeviceGetCurrentClocksEventReasons."""

    sm_clock_mhz: float | None
    memory_clock_mhz: float | None
    reasons: int
    power_w: float | None = None
    temperature_c: float | None = None
    process_count: int = 0

    @property
    def at_work(self) -> bool:
        return not self.reasons & IDLE


class Sampler:
    """Samples one device every 5 ms while anything watches it. One thread serves all watches."""

    def __init__(
        self, nvml: Nvml, board: Any, handle: Any, gpu_instance: int | None, clock_us: Callable[[], int] = now_us
    ) -> None:
        self._nvml, self._board, self._handle, self._now_us = nvml, board, handle, clock_us
        self._partitioned = gpu_instance is not None
        self._samples: deque[tuple[int, DeviceSample]] = deque()
        self._changed = Condition()
        self._watching: dict[int, int] = {}
        """Start time of each watch by its number."""
        self._numbers = count()
        self._meter: ActivityMeter | None = None
        self._runs = self._closed = False

    def begin(self) -> int:
        """Begin to sample. Returns the number to pass to `end`."""
        with self._changed:
            number = next(self._numbers)
            self._watching[number] = self._now_us()
            if self._meter is None:
                self._meter = ActivityMeter(self._nvml, self._handle, self._now_us())
            if not self._runs:
                self._runs = True
                Thread(target=self._run, name="podium-gpu-watch", daemon=True).start()
        return number

    def end(self, number: int) -> tuple[Span, list[tuple[int, DeviceSample]]]:
        """End a watch. Returns its span, and the samples in it with their times."""
        with self._changed:
            span = self._watching.pop(number), self._now_us()
            return span, [one for one in self._samples if span[0] <= one[0] <= span[1]]

    def activity(self, spans: Sequence[Span], *, among_others: bool) -> Activity | None:
        """The activity in the spans. Waits up to half a second after the last span for the driver's last sample."""
        with self._changed:
            meter = self._meter
            if meter is None or not spans:
                return None
            self._changed.wait_for(lambda: self._closed or meter.covers(spans[-1][1]), CLOSING_SECONDS)
            return meter.add_up(spans, among_others=among_others)

    def energy_mj(self) -> float | None:
        """Millijoules since the driver was loaded; None for a MIG instance, which shares its board with others."""
        return None if self._partitioned else self._nvml.number("nvmlDeviceGetTotalEnergyConsumption", self._board)

    def close(self) -> None:
        """Stop the thread. Afterwards nothing calls the driver."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._runs, CLOSING_SECONDS)

    def _run(self) -> None:
        """Sample until nothing has watched for a while: an ended watch may still wait for the driver's last sample."""
        idle_since = time.monotonic()
        for n_samples in count():
            sample = self._slow_sample() if n_samples % SLOW_EVERY == 0 else self._quick_sample()
            with self._changed:
                if self._watching:
                    idle_since = time.monotonic()
                if self._closed or time.monotonic() - idle_since > LINGER_SECONDS:
                    self._runs = False
                    self._changed.notify_all()
                    return
                self._keep(sample)
                meter = self._meter
            if n_samples % COLLECT_EVERY == 0 and meter:
                fresh = meter.fetch()
                with self._changed:
                    meter.add(fresh)
                    self._changed.notify_all()
            time.sleep(PERIOD_SECONDS)

    def _keep(self, sample: DeviceSample) -> None:
        now = self._now_us()
        self._samples.append((now, sample))
        oldest = min(self._watching.values(), default=now)
        while self._samples[0][0] < oldest:
            self._samples.popleft()

    def _quick_sample(self) -> DeviceSample:
        api = self._nvml.api
        return DeviceSample(
            self._nvml.number("nvmlDeviceGetClockInfo", self._board, api.NVML_CLOCK_SM),
            self._nvml.number("nvmlDeviceGetClockInfo", self._board, api.NVML_CLOCK_MEM),
            int(self._nvml.ask("nvmlDeviceGetCurrentClocksEventReasons", self._board) or 0),
        )

    def _slow_sample(self) -> DeviceSample:
        api = self._nvml.api
        quick = self._quick_sample()
        return DeviceSample(
            quick.sm_clock_mhz,
            quick.memory_clock_mhz,
            quick.reasons,
            self._power_w(),
            self._nvml.number("nvmlDeviceGetTemperature", self._board, api.NVML_TEMPERATURE_GPU),
            len(self._nvml.ask("nvmlDeviceGetComputeRunningProcesses", self._handle) or ()),
        )

    def _power_w(self) -> float | None:
        """The present power if the driver gives it (since Ampere), else the average over about a second."""
        instant_mw = self._nvml.field(self._board, self._nvml.api.NVML_FI_DEV_POWER_INSTANT)
        return (
            instant_mw * 1e-3 if instant_mw else self._nvml.number("nvmlDeviceGetPowerUsage", self._board, scale=1e-3)
        )


class DeviceWatch:
    """Watches a device within a `with` block.

    `among_others` means that other commands use the device in between. A window may then be shorter than a period of
    the driver's samples, and energy cannot be attributed.
    """

    def __init__(self, sampler: Sampler, *, among_others: bool = False) -> None:
        self._sampler = sampler
        self._among_others = among_others
        self._spans: list[Span] = []
        self._samples: list[tuple[int, DeviceSample]] = []
        self._spent_mj: float | None = None

    def __enter__(self) -> Self:
        self._energy_before_mj = None if self._among_others else self._sampler.energy_mj()
        self._number = self._sampler.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        span, self._samples = self._sampler.end(self._number)
        self._spans = [span]
        after_mj = None if self._among_others else self._sampler.energy_mj()
        if after_mj is not None and self._energy_before_mj is not None:
            self._spent_mj = after_mj - self._energy_before_mj

    def narrow(self, windows: Sequence[tuple[int, int]]) -> None:
        """Restrict the record to these windows, sorted and by `time.monotonic_ns`."""
        offset_us = now_us() - time.monotonic_ns() // 1000
        self._spans = [(since // 1000 + offset_us, until // 1000 + offset_us) for since, until in windows]

    @property
    def samples(self) -> DeviceRecord:
        """The observations of the samples alone, at once: without energy and the driver's count of activity."""
        wall_ms = sum(until - since for since, until in self._spans) / 1e3
        return summarise(list(within(self._samples, self._spans)), wall_ms, None, None)

    @property
    def record(self) -> DeviceRecord | None:
        """The observations; None without a window that counts. Waits up to half a second after the block."""
        if not self._spans:
            return None
        wall_ms = sum(until - since for since, until in self._spans) / 1e3
        activity = self._sampler.activity(self._spans, among_others=self._among_others)
        return summarise(list(within(self._samples, self._spans)), wall_ms, self._spent_mj, activity)


def within(samples: Iterable[tuple[int, DeviceSample]], spans: Sequence[Span]) -> Iterator[DeviceSample]:
    """The samples taken in one of the spans. Both are sorted by time."""
    remaining = iter(spans)
    span = next(remaining, None)
    for at_us, sample in samples:
        while span is not None and span[1] < at_us:
            span = next(remaining, None)
        if span is None:
            return
        if span[0] <= at_us:
            yield sample


def summarise(
    samples: list[DeviceSample], wall_ms: float, energy_mj: float | None, activity: Activity | None
) -> DeviceRecord:
    """Medians over the samples at which the device was at work; over all samples if it never was."""
    used = [sample for sample in samples if sample.at_work] or samples
    throttles = [throttles_of(sample, _highest(used)) for sample in used]
    return DeviceRecord(
        n_samples=len(samples),
        wall_ms=wall_ms,
        sm_clock_mhz=_of(statistics.median, (sample.sm_clock_mhz for sample in used)),
        sm_clock_low_mhz=_of(min, (sample.sm_clock_mhz for sample in used)),
        memory_clock_mhz=_of(statistics.median, (sample.memory_clock_mhz for sample in used)),
        temperature_c=_of(max, (sample.temperature_c for sample in samples)),
        power_w=_of(statistics.median, (sample.power_w for sample in used)),
        energy_mj=energy_mj,
        throttle_reasons=tuple(sorted({name for names in throttles for name in names})),
        throttled_share=sum(map(bool, throttles)) / len(throttles) if throttles else 0.0,
        power_capped_share=sum(bool(sample.reasons & POWER_CAP) for sample in used) / len(used) if used else 0.0,
        busy_ms=activity.busy_ms if activity else None,
        busy_resolution_ms=activity.resolution_ms if activity else 0.0,
        peak_process_count=max((sample.process_count for sample in samples), default=0),
    )


def throttles_of(sample: DeviceSample, highest_clock_mhz: float) -> list[str]:
    """The reasons that throttled the device at a sample."""
    names = [name for bit, name in THROTTLES.items() if sample.reasons & bit]
    fell = sample.sm_clock_mhz is not None and sample.sm_clock_mhz < POWER_CAPPED_CLOCK * highest_clock_mhz
    return [*names, POWER_CAP_WORDS] if sample.reasons & POWER_CAP and fell else names


def _highest(samples: list[DeviceSample]) -> float:
    return max((sample.sm_clock_mhz or 0.0 for sample in samples), default=0.0)


def _of(combine: Callable[[list[float]], float], values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return combine(known) if known else None
