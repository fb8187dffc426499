"""Samples one GPU while a command runs: clocks, power, heat, what slowed it, how long it was at work."""

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from runners.agent.gpu.activity import Activity, ActivityMeter
from runners.agent.gpu.nvml import Nvml
from runners.agent.gpu.record import DeviceRecord

PERIOD_SECONDS = 0.005
SLOW_EVERY = 10
"""Power, temperature and processes are asked for at every tenth sample: the driver renews them no faster."""
COLLECT_EVERY = 200
IDLE = 0x1
POWER_CAP = 0x4
THROTTLES = {
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}
"""Bits of nvmlDeviceGetCurrentClocksEventReasons that always tell of a device slower than it should be."""
POWER_CAP_WORDS = "power cap"
POWER_CAPPED_CLOCK = 0.5
"""A card that works at its power limit lowers its clocks as designed, for baseline and candidate alike: half-precision
matrix products took an H200 from 1980 to 1260 MHz within seconds. Only a deeper fall, below this share of the run's
highest clock, is throttling."""


@dataclass(frozen=True)
class Sample:
    sm_clock_mhz: float | None
    memory_clock_mhz: float | None
    reasons: int
    power_w: float | None = None
    temperature_c: float | None = None
    process_count: int = 0

    @property
    def at_work(self) -> bool:
        return not self.reasons & IDLE


class Watch:
    """Samples every 5 ms from entering to leaving."""

    def __init__(self, nvml: Nvml, board: Any, handle: Any, gpu_instance: int | None) -> None:
        self._nvml, self._board, self._handle = nvml, board, handle
        self._partitioned = gpu_instance is not None
        self._samples: list[Sample] = []
        self._left = Event()
        self._thread = Thread(target=self._run, name="podium-gpu-watch", daemon=True)
        self._record = DeviceRecord(0, 0.0)

    @property
    def record(self) -> DeviceRecord:
        """What was seen. Waits up to half a second after leaving, for the driver's last word on activity."""
        if self._left.is_set():
            self._thread.join()
        return self._record

    def __enter__(self) -> Self:
        self._meter = ActivityMeter(self._nvml, self._handle)
        self._energy_mj = self._energy()
        self._started = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._wall_ms = (time.monotonic() - self._started) * 1e3
        self._left.set()

    def _run(self) -> None:
        while True:
            self._sample()
            if self._left.wait(PERIOD_SECONDS):
                break
        after = self._energy()
        spent = None if after is None or self._energy_mj is None else after - self._energy_mj
        self._record = summarise(self._samples, self._wall_ms, spent, self._meter.close())

    def _sample(self) -> None:
        n_samples = len(self._samples)
        sample = self._slow_sample if n_samples % SLOW_EVERY == 0 else self._quick_sample
        self._samples.append(sample())
        if n_samples % COLLECT_EVERY == COLLECT_EVERY - 1:
            self._meter.collect()

    def _quick_sample(self) -> Sample:
        api = self._nvml.api
        return Sample(
            self._nvml.number("nvmlDeviceGetClockInfo", self._board, api.NVML_CLOCK_SM),
            self._nvml.number("nvmlDeviceGetClockInfo", self._board, api.NVML_CLOCK_MEM),
            int(self._nvml.ask("nvmlDeviceGetCurrentClocksEventReasons", self._board) or 0),
        )

    def _slow_sample(self) -> Sample:
        api = self._nvml.api
        quick = self._quick_sample()
        return Sample(
            quick.sm_clock_mhz,
            quick.memory_clock_mhz,
            quick.reasons,
            self._power_w(),
            self._nvml.number("nvmlDeviceGetTemperature", self._board, api.NVML_TEMPERATURE_GPU),
            len(self._nvml.ask("nvmlDeviceGetComputeRunningProcesses", self._handle) or ()),
        )

    def _power_w(self) -> float | None:
        """At this instant where the driver tells (since Ampere); elsewhere its average over about a second."""
        instant_mw = self._nvml.field(self._board, self._nvml.api.NVML_FI_DEV_POWER_INSTANT)
        return (
            instant_mw * 1e-3 if instant_mw else self._nvml.number("nvmlDeviceGetPowerUsage", self._board, scale=1e-3)
        )

    def _energy(self) -> float | None:
        """Millijoules since the driver was loaded; None for an instance, whose board works for others too."""
        return None if self._partitioned else self._nvml.number("nvmlDeviceGetTotalEnergyConsumption", self._board)


def summarise(
    samples: list[Sample], wall_ms: float, energy_mj: float | None, activity: Activity | None
) -> DeviceRecord:
    """Medians over the samples at which the device was at work, else over all."""
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


def throttles_of(sample: Sample, highest_clock_mhz: float) -> list[str]:
    """What slowed the device at a sample beyond what its work explains."""
    names = [name for bit, name in THROTTLES.items() if sample.reasons & bit]
    fell = sample.sm_clock_mhz is not None and sample.sm_clock_mhz < POWER_CAPPED_CLOCK * highest_clock_mhz
    return [*names, POWER_CAP_WORDS] if sample.reasons & POWER_CAP and fell else names


def _highest(samples: list[Sample]) -> float:
    return max((sample.sm_clock_mhz or 0.0 for sample in samples), default=0.0)


def _of(combine: Callable[[list[float]], float], values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return combine(known) if known else None
