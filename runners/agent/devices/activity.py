"""Measures how long a GPU was at work, from the driver's utilisation samples (about five per second).

A sample gives the share of its period in which a kernel ran, in whole percent. Samples are read until one covers the
end of the run, so a run is measured to about 1 % of each period (2 ms of 200 ms). Hopper's GPM counters were tried on
an H200 and left out: their samples are up to 0.1 s away from the requested time, and the driver does not report when.
"""

import itertools
import statistics
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runners.agent.devices.nvml import Nvml

LEAD_US = 2_000_000
"""Samples are read from this long before the start of a run, to learn their period."""
KEPT_US = 3_600_000_000
"""Samples are kept this long. No command lasts longer."""

Span = tuple[int, int]
"""Start and end, in microseconds of the driver's clock."""


@dataclass(frozen=True)
class Activity:
    """A device's time at work."""

    busy_ms: float
    resolution_ms: float
    """Maximum error of `busy_ms`, if nothing else used the device within one period of the run."""


class ActivityMeter:
    """Collects a device's utilisation samples from `started_us` on.

    Only `fetch` calls the driver, which may be slow while programs start. It may run beside another method; the other
    methods may not run beside each other.
    """

    def __init__(self, nvml: Nvml, handle: Any, started_us: int) -> None:
        self._nvml = nvml
        self._handle = handle
        self._started_us = started_us
        self._ends: list[int] = []
        self._percentages: dict[int, float] = {}
        self.supported = True
        """False after the driver has answered that it has no utilisation samples."""

    def fetch(self) -> dict[int, float]:
        """The new samples, to be passed to `add`. The driver keeps about fourteen seconds of samples."""
        if not self.supported:
            return {}
        api, after_us = self._nvml.api, self._ends[-1] if self._ends else self._started_us - LEAD_US
        try:
            _, found = api.nvmlDeviceGetSamples(self._handle, api.NVML_GPU_UTILIZATION_SAMPLES, after_us)
        except api.NVMLError as error:
            self.supported = bool(error.value == api.NVML_ERROR_NOT_FOUND)  # there is none yet
            return {}
        return {int(sample.timeStamp): float(sample.sampleValue.uiVal) for sample in found}

    def add(self, fresh: dict[int, float]) -> None:
        """Keep the samples of `fetch` for an hour."""
        if not fresh:
            return
        self._percentages |= fresh
        self._ends = sorted(self._percentages)
        n_old = bisect_left(self._ends, self._ends[-1] - KEPT_US)
        for end in self._ends[:n_old]:
            del self._percentages[end]
        del self._ends[:n_old]

    def covers(self, at_us: int) -> bool:
        """Whether the samples reach this time, or the driver has none."""
        return not self.supported or bool(self._ends and self._ends[-1] >= at_us)

    def add_up(self, spans: Sequence[Span], *, among_others: bool) -> Activity | None:
        """The activity in the spans by the kept samples; see the function `add_up`. None without spans."""
        if not spans:
            return None
        first = bisect_left(self._ends, spans[0][0] - LEAD_US)
        last = bisect_left(self._ends, spans[-1][1])
        ends = self._ends[first : last + 1]
        return add_up({end: self._percentages[end] for end in ends}, spans, among_others=among_others)


def now_us() -> int:
    """The driver's clock for samples: microseconds of the wall clock."""
    return time.time_ns() // 1000


def add_up(samples: dict[int, float], spans: Sequence[Span], *, among_others: bool = False) -> Activity | None:
    """The time at work in the sampling periods that overlap the spans.

    `samples` maps a period's end, in microseconds, to its percentage, rounded down. `spans` are sorted and do not
    overlap. All work in a period counts as the run's own. With `among_others`, only the part counts that cannot lie
    outside the spans. Returns None unless there are two samples and the last one reaches the end of the last span.
    """
    ends = sorted(samples)
    if len(ends) < 2 or not spans or ends[-1] < spans[-1][1]:
        return None
    usual_us = statistics.median_low(later - earlier for earlier, later in itertools.pairwise(ends))
    busy_us = doubt_us = 0.0
    for before, end in itertools.pairwise([ends[0] - usual_us, *ends]):
        covered_us = sum(max(0, min(end, until) - max(before, since)) for since, until in spans)
        if not covered_us:
            continue
        period_us = min(end - before, 2 * usual_us)
        at_work_us = period_us / 100 * (samples[end] + 0.5 if samples[end] else 0.0)
        busy_us += max(0.0, at_work_us - max(0, period_us - covered_us)) if among_others else at_work_us
        doubt_us += period_us / 100 * (0.5 if samples[end] else 1.0)
    return Activity(busy_us / 1e3, doubt_us / 1e3)
