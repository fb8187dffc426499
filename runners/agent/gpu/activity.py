"""How long a GPU was at work, as its driver counts it: utilisation samples, about five a second.

Each tells what whole percentage of its period had a kernel running. They are read until one covers the end of the run,
so a run is measured to about 1 % of each period (2 ms of 200). The GPM counters of Hopper were tried beside them on an
H200: their two samples stand at times of their own, up to 0.1 s off, and the driver does not tell which.
"""

import itertools
import statistics
import time
from dataclasses import dataclass
from typing import Any

from runners.agent.gpu.nvml import Nvml

CLOSING_SECONDS = 0.5
CLOSING_POLL_SECONDS = 0.02
LEAD_US = 2_000_000
"""How far before the start samples are asked for, to know their period."""


@dataclass(frozen=True)
class Activity:
    busy_ms: float
    resolution_ms: float
    """How far `busy_ms` may be off, if nothing else used the device within a period of the run."""


class ActivityMeter:
    """Collects a device's utilisation samples from its making on."""

    def __init__(self, nvml: Nvml, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle
        self._started_us = now_us()
        self._samples: dict[int, float] = {}
        self.supported = self._read(self._started_us - LEAD_US)

    def collect(self) -> None:
        """Fetch what is new: the driver keeps some fourteen seconds of samples."""
        if self.supported:
            self._read(max(self._samples, default=self._started_us - LEAD_US))

    def close(self) -> Activity | None:
        """Wait for the sample that covers this moment, half a second at most. None where there are no samples."""
        ended_us = now_us()
        deadline = time.monotonic() + CLOSING_SECONDS
        while self.supported and max(self._samples, default=0) < ended_us and time.monotonic() < deadline:
            time.sleep(CLOSING_POLL_SECONDS)
            self.collect()
        return add_up(self._samples, self._started_us, ended_us)

    def _read(self, after_us: int) -> bool:
        """False where the device has no such samples; true also while there is none yet."""
        api = self._nvml.api
        try:
            _, found = api.nvmlDeviceGetSamples(self._handle, api.NVML_GPU_UTILIZATION_SAMPLES, after_us)
        except api.NVMLError as error:
            return bool(error.value == api.NVML_ERROR_NOT_FOUND)
        self._samples |= {int(sample.timeStamp): float(sample.sampleValue.uiVal) for sample in found}
        return True


def now_us() -> int:
    """The driver's clock for samples: microseconds of the wall clock."""
    return time.time_ns() // 1000


def add_up(samples: dict[int, float], started_us: int, ended_us: int) -> Activity | None:
    """Work within samples that touch the run. `samples`: end of a period to its percentage, rounded down.

    None unless they reach the end of the run and are enough to tell their period.
    """
    ends = sorted(samples)
    if len(ends) < 2 or ends[-1] < ended_us:
        return None
    usual = statistics.median_low(later - earlier for earlier, later in itertools.pairwise(ends))
    busy_us = doubt_us = 0.0
    for before, end in itertools.pairwise([ends[0] - usual, *ends]):
        if end <= started_us or before >= ended_us:
            continue
        percent = min(end - before, 2 * usual) / 100
        busy_us += percent * (samples[end] + 0.5 if samples[end] else 0.0)
        doubt_us += percent * (0.5 if samples[end] else 1.0)
    return Activity(busy_us / 1e3, doubt_us / 1e3)
