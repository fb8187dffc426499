"""How long a GPU was at work, as its driver counts it: utilisation samples, about five a second.

Each tells what whole percentage of its period had a kernel running. They are read until one covers the end of the run,
so a run is measured to about 1 % of each period (2 ms of 200). The GPM counters of Hopper were tried beside them on an
H200: their two samples stand at times of their own, up to 0.1 s off, and the driver does not tell which.
"""

import itertools
import statistics
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runners.agent.gpu.nvml import Nvml

LEAD_US = 2_000_000
"""How far before the start samples are asked for, to know their period."""
KEPT_US = 3_600_000_000
"""For how long samples are kept: no command lasts longer."""

Span = tuple[int, int]
"""From and until when, in microseconds of the driver's clock."""


@dataclass(frozen=True)
class Activity:
    busy_ms: float
    resolution_ms: float
    """How far `busy_ms` may be off, if nothing else used the device within a period of the run."""


class ActivityMeter:
    """Collects a device's utilisation samples from its making on.

    Only `fetch` asks the driver, which may take long while programs start up; it may run beside the others, which must
    not run beside each other.
    """

    def __init__(self, nvml: Nvml, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle
        self._started_us = now_us()
        self._ends: list[int] = []
        self._percentages: dict[int, float] = {}
        self.supported = True
        """False once the driver has said that it has no such samples."""

    def fetch(self) -> dict[int, float]:
        """What is new, for `add`: the driver keeps some fourteen seconds of samples."""
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
        """Keep what `fetch` brought, for an hour."""
        if not fresh:
            return
        self._percentages |= fresh
        self._ends = sorted(self._percentages)
        n_old = bisect_left(self._ends, self._ends[-1] - KEPT_US)
        for end in self._ends[:n_old]:
            del self._percentages[end]
        del self._ends[:n_old]

    def covers(self, at_us: int) -> bool:
        """Whether all about this moment is known, or nothing ever will be."""
        return not self.supported or bool(self._ends and self._ends[-1] >= at_us)

    def add_up(self, spans: Sequence[Span], *, among_others: bool) -> Activity | None:
        """See the function `add_up`."""
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
    """Work within samples that touch the spans. `samples`: end of a period to its percentage, rounded down.

    What ran in a period is taken to be the run's own, though it be longer than the spans in it; `among_others` only
    what must have been: the part that cannot lie outside them. None unless the samples reach the end of the last span
    and are enough to tell their period. Spans are in order and apart.
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
