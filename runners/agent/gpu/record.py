"""What was seen of a GPU from outside, through NVML, while a command ran on it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceRecord:
    """One run on one device. A value that the driver does not give is None."""

    n_samples: int
    wall_ms: float
    sm_clock_mhz: float | None = None
    """Median over the samples at which the device was at work, else over all."""
    sm_clock_low_mhz: float | None = None
    memory_clock_mhz: float | None = None
    temperature_c: float | None = None
    """Highest."""
    power_w: float | None = None
    """Median."""
    energy_mj: float | None = None
    throttle_reasons: tuple[str, ...] = ()
    """Those that slow the device for want of power or for heat, at any sample; idling is none."""
    throttled_share: float = 0.0
    """The share of samples at which one of them held."""
    busy_ms: float | None = None
    """How long the device was at work, as the driver counts it, over the whole run."""
    busy_resolution_ms: float = 0.0
    """How far `busy_ms` may be off."""
    peak_process_count: int = 0
    """The most compute processes seen at one time."""

    @property
    def throttled(self) -> bool:
        return bool(self.throttle_reasons)
