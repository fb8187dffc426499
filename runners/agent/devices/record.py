"""Observations of a GPU, made through NVML while a command ran on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class DeviceRecord:
    """Observations of one run on one device. A value that the driver does not give is None."""

    n_samples: int
    wall_ms: float
    sm_clock_mhz: float | None = None
    """Median over the samples at which the device was at work; over all samples if it never was."""
    sm_clock_low_mhz: float | None = None
    """The lowest value of the same samples."""
    memory_clock_mhz: float | None = None
    temperature_c: float | None = None
    """The highest value of all samples."""
    power_w: float | None = None
    """Median over the samples at which the device was at work; over all samples if it never was."""
    energy_mj: float | None = None
    """Millijoules that the board used during the run."""
    throttle_reasons: tuple[str, ...] = ()
    """Reasons, at any sample, that slow the device because of power or heat. Idling is not among them."""
    throttled_share: float = 0.0
    """The share of samples with such a reason, from 0 to 1."""
    power_capped_share: float = 0.0
    """The share of samples at the card's power limit. This is no fault, since the limit is the same for every run."""
    busy_ms: float | None = None
    """The time for which the device was at work during the whole run, by the driver's count."""
    busy_resolution_ms: float = 0.0
    """Maximum error of `busy_ms`."""
    peak_process_count: int = 0
    """The most compute processes seen at one time."""

    @property
    def throttled(self) -> bool:
        return bool(self.throttle_reasons)

    @property
    def facts(self) -> dict[str, float | str]:
        """The values that are stored with a measurement, without unknown ones."""
        numbers = {
            "sm_clock_mhz": self.sm_clock_mhz,
            "sm_clock_low_mhz": self.sm_clock_low_mhz,
            "memory_clock_mhz": self.memory_clock_mhz,
            "temperature_c": self.temperature_c,
            "power_w": self.power_w,
            "energy_mj": self.energy_mj,
            "throttled_share": self.throttled_share,
            "power_capped_share": self.power_capped_share,
            "busy_ms": self.busy_ms,
            "busy_resolution_ms": self.busy_resolution_ms or None,
            "held_ms": self.wall_ms,
        }
        facts: dict[str, float | str] = {name: value for name, value in numbers.items() if value is not None}
        return facts | ({"throttle_reasons": ", ".join(self.throttle_reasons)} if self.throttled else {})

    @property
    def throttle_words(self) -> str:
        """The cause that slowed the device down, as a sentence; empty if nothing did."""
        return f"The device was slowed down: {', '.join(self.throttle_reasons)}." if self.throttled else ""


def merged(records: Sequence[DeviceRecord]) -> DeviceRecord | None:
    """Merge the records of several windows: sums of durations and energy, medians and extremes of other values."""
    if not records:
        return None
    n_samples = sum(record.n_samples for record in records)
    weights = [record.n_samples / n_samples if n_samples else 0.0 for record in records]
    busy = _known(record.busy_ms for record in records)
    energy = _known(record.energy_mj for record in records)
    return DeviceRecord(
        n_samples=n_samples,
        wall_ms=sum(record.wall_ms for record in records),
        sm_clock_mhz=_middle(record.sm_clock_mhz for record in records),
        sm_clock_low_mhz=min(_known(record.sm_clock_low_mhz for record in records), default=None),
        memory_clock_mhz=_middle(record.memory_clock_mhz for record in records),
        temperature_c=max(_known(record.temperature_c for record in records), default=None),
        power_w=_middle(record.power_w for record in records),
        energy_mj=sum(energy) if energy else None,
        throttle_reasons=tuple(sorted({reason for record in records for reason in record.throttle_reasons})),
        throttled_share=sum(r.throttled_share * w for r, w in zip(records, weights, strict=True)),
        power_capped_share=sum(r.power_capped_share * w for r, w in zip(records, weights, strict=True)),
        busy_ms=sum(busy) if len(busy) == len(records) else None,
        busy_resolution_ms=sum(record.busy_resolution_ms for record in records),
        peak_process_count=max(record.peak_process_count for record in records),
    )


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _middle(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return median(known) if known else None
