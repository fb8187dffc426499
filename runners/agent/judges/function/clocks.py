"""The clocks of a GPU while the processes of one solution are timed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runners.agent.devices.gpus import Gpus
from runners.agent.devices.lanes import Seat
from runners.agent.devices.record import DeviceRecord
from runners.agent.judges.judgement import Finding

TOLD = ("sm_clock_mhz", "sm_clock_low_mhz", "memory_clock_mhz", "temperature_c", "throttle_reasons")
"""The checker keeps the device busy between calls, so power and activity say nothing of the solution."""


@dataclass
class Clocks:
    """The observations of a device. Empty until the watch has ended, and on a CPU."""

    record: DeviceRecord | None = None

    @property
    def facts(self) -> dict[str, float | str]:
        """Those of `TOLD` that are known."""
        facts = self.record.facts if self.record is not None else {}
        return {name: facts[name] for name in TOLD if name in facts}

    @property
    def findings(self) -> list[Finding]:
        """A flag if the device was slowed down."""
        words = self.record.throttle_words if self.record is not None else ""
        return [Finding("throttled", words)] if words else []


@contextmanager
def clocks_of(gpus: Gpus | None, seat: Seat) -> Iterator[Clocks]:
    """Watch the seat's device inside."""
    seen = Clocks()
    if gpus is None or not seat.gpu_uuid:
        yield seen
        return
    with gpus.watch(seat.gpu_uuid) as watch:
        yield seen
    seen.record = watch.samples
