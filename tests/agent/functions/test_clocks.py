"""The clocks of a GPU beside the times of functions."""

import pytest

from runners.agent.devices.gpus import Gpus
from runners.agent.devices.lanes import Seat
from runners.agent.devices.nvml import Nvml
from runners.agent.devices.record import DeviceRecord
from runners.agent.judges.function.comparison import Clocks, clocks_of
from tests.agent.fake_nvml import FakeNvml
from tests.agent.test_gpu_devices import H200
from tests.agent.test_gpu_watch import wait_for_samples


@pytest.mark.parametrize("seat", [Seat(0), Seat(0, (H200,))], ids=["cpu", "gpu"])
def test_the_clocks_are_those_of_the_seats_device(seat: Seat) -> None:
    fake = FakeNvml("busy")
    gpus = Gpus(Nvml(fake))
    with clocks_of(gpus, seat) as clocks:
        if seat.gpu_uuid:
            wait_for_samples(fake)
        assert clocks.facts == {}
    gpus.close()
    seen = {"sm_clock_mhz": 1980, "sm_clock_low_mhz": 1980, "memory_clock_mhz": 3201, "temperature_c": 56}
    assert clocks.facts == (seen if seat.gpu_uuid else {})
    assert clocks.findings == []


def test_a_device_that_was_slowed_down_is_a_finding() -> None:
    slow = Clocks(DeviceRecord(5, 100.0, 1200.0, throttle_reasons=("too hot",)))
    assert slow.facts == {"sm_clock_mhz": 1200.0, "throttle_reasons": "too hot"}
    assert [(one.code, one.detail) for one in slow.findings] == [("throttled", "The device was slowed down: too hot.")]
