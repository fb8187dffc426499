"""Observations of a device in several stretches add up."""

from runners.agent.devices.record import DeviceRecord, merged


def test_stretches_of_watching_add_up() -> None:
    first = DeviceRecord(1, 10.0, sm_clock_mhz=1980, temperature_c=40, busy_ms=5.0, energy_mj=1.0)
    other = DeviceRecord(3, 30.0, sm_clock_mhz=1900, temperature_c=50, energy_mj=2.0, throttled_share=1.0)
    both = merged([first, other])
    assert both is not None
    assert (both.n_samples, both.wall_ms, both.temperature_c, both.energy_mj) == (4, 40.0, 50, 3.0)
    assert both.sm_clock_mhz == 1940
    assert both.busy_ms is None, "unknown for a part is unknown for the whole"
    assert both.throttled_share == 0.75
    assert merged([]) is None
