"""Observations of a GPU from outside while something runs on it; answers as recorded on an H200."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from runners.agent.devices import watch as watch_module
from runners.agent.devices.activity import add_up
from runners.agent.devices.gpus import Gpus
from runners.agent.devices.nvml import Nvml
from runners.agent.devices.record import DeviceRecord
from runners.agent.devices.watch import DeviceSample, summarise
from tests.agent.fake_nvml import RECORDED, FakeNvml
from tests.agent.test_gpu_devices import H200
from tests.patience import SOON, until

PERIOD_US = 20_000


class Clock:
    """Microseconds of the driver's clock, which pass when the test says so."""

    def __init__(self) -> None:
        self.now_us = 1_000_000_000

    def __call__(self) -> int:
        return self.now_us


def wait_for_samples(fake: FakeNvml, n: int = 1) -> None:
    """Until so many more have been kept: what was asked for before the last one has."""
    asked = fake.asked["nvmlDeviceGetCurrentClocksEventReasons"]
    assert until(lambda: fake.asked["nvmlDeviceGetCurrentClocksEventReasons"] > asked + n)


def watched(fake: FakeNvml, n_samples: int = 1) -> DeviceRecord:
    gpus = Gpus(Nvml(fake))
    with gpus.watch(H200) as watch:
        wait_for_samples(fake, n_samples)
    record = watch.record
    gpus.close()
    assert record is not None
    return record


def test_a_device_under_load_is_sampled_again_and_again() -> None:
    began = time.monotonic()
    record = watched(FakeNvml("busy"), 8)
    assert record.n_samples >= 8
    assert 0 < record.wall_ms <= 1e3 * (time.monotonic() - began)
    assert (record.sm_clock_mhz, record.sm_clock_low_mhz, record.memory_clock_mhz) == (1980, 1980, 3201)
    assert (record.temperature_c, record.power_w) == (56, pytest.approx(411.8, abs=0.1))
    assert record.peak_process_count == 1
    assert not record.throttled


def test_the_power_of_the_moment_is_preferred() -> None:
    fake = FakeNvml("busy")
    fake.fields[fake.NVML_FI_DEV_POWER_INSTANT] = 683_202
    assert watched(fake).power_w == pytest.approx(683.2, abs=0.1)


def test_energy_is_what_the_device_spent_meanwhile() -> None:
    fake = FakeNvml("busy")
    gpus = Gpus(Nvml(fake))
    with gpus.watch(H200) as watch:
        fake.answers["nvmlDeviceGetTotalEnergyConsumption"] += 48_152
    assert watch.record is not None
    assert watch.record.energy_mj == 48_152
    gpus.close()


def test_what_the_driver_does_not_tell_is_none() -> None:
    fake = FakeNvml()
    fake.answers = {"nvmlDeviceGetCount": 1, "nvmlDeviceGetUUID": H200}
    record = watched(fake)
    assert record.n_samples > 0
    assert (record.sm_clock_mhz, record.power_w, record.energy_mj, record.busy_ms) == (None, None, None, None)
    assert not record.throttled


def test_work_is_added_up_over_the_periods_that_touch_the_run() -> None:
    clock = Clock()
    fake = FakeNvml("busy", clock)
    percentages = {2: 50, 3: 100, 4: 25}
    fake.utilisation = [(clock.now_us + n * PERIOD_US, percentages.get(n, 0)) for n in range(-20, 200)]
    gpus = Gpus(Nvml(fake), clock)
    with gpus.watch(H200) as watch:
        clock.now_us += 150_000
    clock.now_us += PERIOD_US
    record = watch.record
    gpus.close()
    assert record is not None
    assert (record.wall_ms, record.busy_ms) == (150.0, pytest.approx(35.3))
    assert 0 < record.busy_resolution_ms < 3


def test_the_record_waits_for_the_period_that_covers_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "CLOSING_SECONDS", SOON)
    clock = Clock()
    fake = FakeNvml("busy", clock)
    fake.utilisation = [(clock.now_us + n * 100_000, 30) for n in range(-3, 20)]
    gpus = Gpus(Nvml(fake), clock)
    with gpus.watch(H200) as watch:
        clock.now_us += 10_000
    with ThreadPoolExecutor(1) as pool:
        record = pool.submit(lambda: watch.record)
        fetched = fake.asked["nvmlDeviceGetSamples"]
        assert until(lambda: fake.asked["nvmlDeviceGetSamples"] > fetched + 1)
        assert not record.done()
        clock.now_us += 90_000
        found = record.result(SOON)
    gpus.close()
    assert found is not None
    assert found.busy_ms == pytest.approx(30.5)


def test_recorded_activity_comes_to_the_work_that_was_done() -> None:
    """An H200 worked for 108 ms and then for 216 ms in matrix products, with 0.3 s of rest between."""
    samples = {at: float(value) for at, value in json.loads(RECORDED.read_text())["utilisation"]}
    ends = sorted(samples)
    six, nineteen = (next(at for at in ends if samples[at] == value) for value in (6, 19))
    first = add_up(samples, [(six - 100_000, six + 150_000)])
    second = add_up(samples, [(nineteen - 350_000, nineteen - 50_000)])
    assert first is not None
    assert second is not None
    assert abs(first.busy_ms - 108) < first.resolution_ms + 2
    assert abs(second.busy_ms - 216) < second.resolution_ms + 2
    assert max(first.resolution_ms, second.resolution_ms) < 5


def test_activity_that_does_not_reach_the_end_is_unknown() -> None:
    assert add_up({0: 0.0, 200_000: 99.0}, [(100_000, 300_000)]) is None
    assert add_up({200_000: 99.0}, [(100_000, 150_000)]) is None
    assert add_up({}, [(0, 1)]) is None
    assert add_up({0: 0.0, 200_000: 99.0}, []) is None


def test_among_others_only_what_cannot_be_theirs_counts() -> None:
    samples = {0: 0.0, 200_000: 49.5, 400_000: 49.5, 600_000: 0.0}
    for end_us, busy_ms in ((100_000, 0.0), (150_000, 50.0), (400_000, 200.0)):
        activity = add_up(samples, [(0, end_us)], among_others=True)
        assert activity is not None
        assert activity.busy_ms == pytest.approx(busy_ms)


def test_many_short_stretches_count_their_period_once() -> None:
    samples = {0: 0.0, 200_000: 49.5, 400_000: 0.0}
    spans = [(at, at + 1_000) for at in range(0, 200_000, 10_000)]
    activity = add_up(samples, spans)
    assert activity is not None
    assert activity.busy_ms == pytest.approx(100.0)


def test_a_command_that_has_the_device_in_stretches_is_watched_in_all_of_them() -> None:
    fake = FakeNvml("busy")
    gpus = Gpus(Nvml(fake))
    watch = gpus.watch(H200, among_others=True)
    assert watch.record is None
    windows = []
    with watch:
        for _ in range(3):
            since = time.monotonic_ns()
            wait_for_samples(fake, 2)
            windows.append((since, time.monotonic_ns()))
            wait_for_samples(fake, 2)
    whole = watch.record
    watch.narrow(windows)
    record = watch.record
    gpus.close()
    assert whole is not None
    assert record is not None
    assert record.wall_ms == pytest.approx(sum(until_ns - since_ns for since_ns, until_ns in windows) / 1e6, abs=0.01)
    assert 6 <= record.n_samples < whole.n_samples
    assert record.energy_mj is None, "others spend of it too"


def test_two_commands_share_one_sampler() -> None:
    fake = FakeNvml("busy")
    gpus = Gpus(Nvml(fake))
    with gpus.watch(H200) as one:
        with gpus.watch(H200) as other:
            wait_for_samples(fake)
        wait_for_samples(fake)
    gpus.close()
    assert one.record is not None
    assert other.record is not None
    assert one.record.n_samples > other.record.n_samples > 0


# ---- what counts as throttling ------------------------------------------------------------------------------------


def summary(*samples: DeviceSample) -> DeviceRecord:
    return summarise(list(samples), 100.0, None, None)


@pytest.mark.parametrize(
    ("bit", "reason"),
    [
        (0x8, "hardware slowdown"),
        (0x10, "sync boost"),
        (0x20, "software thermal slowdown"),
        (0x40, "hardware thermal slowdown"),
        (0x80, "hardware power brake"),
    ],
)
def test_heat_and_want_of_power_throttle(bit: int, reason: str) -> None:
    record = summary(*[DeviceSample(1980, 3201, 0)] * 3, DeviceSample(1500, 3201, bit))
    assert record.throttle_reasons == (reason,)
    assert record.throttled_share == 0.25


def test_idling_and_clocks_that_somebody_set_do_not_throttle() -> None:
    assert not summary(
        DeviceSample(345, 3201, 0x1), DeviceSample(1500, 3201, 0x2), DeviceSample(1500, 3201, 0x100)
    ).throttled


def test_a_card_at_its_power_limit_is_recorded_and_not_called_throttled() -> None:
    record = summary(DeviceSample(1980, 3201, 0), *[DeviceSample(1650, 3201, 0x4)] * 3)
    assert not record.throttled
    assert record.power_capped_share == 0.75
    assert record.sm_clock_low_mhz == 1650


def test_a_card_that_its_power_limit_brings_to_its_knees_is_throttled() -> None:
    record = summary(DeviceSample(1980, 3201, 0), DeviceSample(900, 3201, 0x4))
    assert record.throttle_reasons == ("power cap",)


def test_medians_leave_out_the_idle_samples() -> None:
    record = summary(*[DeviceSample(345, 3201, 0x1, 80.0, 40.0)] * 8, *[DeviceSample(1980, 3201, 0, 500.0, 60.0)] * 3)
    assert (record.sm_clock_mhz, record.sm_clock_low_mhz, record.power_w) == (1980, 1980, 500)
    assert record.temperature_c == 60


def test_a_device_that_idled_throughout_is_described_all_the_same() -> None:
    assert summary(DeviceSample(345, 3201, 0x1)).sm_clock_mhz == 345
    assert summary().n_samples == 0
