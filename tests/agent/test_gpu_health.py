"""When a GPU is called unwell, and when a contestant's own fault is not held against it."""

from collections.abc import Callable

import pytest

from runners.agent.devices.gpus import Gpus
from runners.agent.devices.nvml import Nvml
from tests.agent.fake_nvml import LOST, FakeNvml
from tests.agent.test_gpu_devices import H200
from tests.patience import until


@pytest.fixture
def fake() -> FakeNvml:
    return FakeNvml()


@pytest.fixture
def gpus(fake: FakeNvml):
    opened = Gpus(Nvml(fake))
    yield opened
    opened.close()


def soon(check: Callable[[], str]) -> str:
    """The first words of `check` that are not empty: errors are heard by a thread."""
    until(check)
    return check()


def test_a_sound_device_has_no_trouble(gpus: Gpus) -> None:
    assert gpus.trouble(H200) == ""


@pytest.mark.parametrize(
    ("xid", "words"),
    [
        (48, "Xid 48: an uncorrectable (double-bit) memory error"),
        (63, "Xid 63: a faulty memory row or page was marked for retirement"),
        (74, "Xid 74: an NVLink error"),
        (79, "Xid 79: it has fallen off the bus"),
        (95, "Xid 95: an uncontained uncorrectable memory error"),
        (119, "Xid 119: its system processor (GSP) does not answer the driver"),
        (777, "Xid 777: see the list"),
    ],
)
def test_a_critical_xid_is_trouble(gpus: Gpus, fake: FakeNvml, xid: int, words: str) -> None:
    fake.raise_xid(xid)
    assert soon(lambda: gpus.trouble(H200)).startswith(words)


@pytest.mark.parametrize("xid", [13, 31, 43, 45, 109])
def test_what_a_program_does_to_itself_is_not_the_device_s_trouble(gpus: Gpus, fake: FakeNvml, xid: int) -> None:
    fake.raise_xid(xid)
    fake.raise_xid(62)
    assert soon(lambda: gpus.trouble(H200)) == "Xid 62: its microcontroller halted"


def test_an_xid_is_the_trouble_of_its_own_board(fake: FakeNvml) -> None:
    fake.answers |= {"nvmlDeviceGetCount": 2, "board0:nvmlDeviceGetUUID": "GPU-a", "board1:nvmlDeviceGetUUID": "GPU-b"}
    gpus = Gpus(Nvml(fake))
    fake.raise_xid(79, device="board1")
    assert "fallen off" in soon(lambda: gpus.trouble("GPU-b"))
    assert gpus.trouble("GPU-a") == ""
    gpus.close()


def test_uncorrectable_errors_count_from_the_opening(fake: FakeNvml) -> None:
    fake.answers["nvmlDeviceGetTotalEccErrors(1,0)"] = 3
    gpus = Gpus(Nvml(fake))
    assert gpus.trouble(H200) == ""
    fake.answers["nvmlDeviceGetTotalEccErrors(1,0)"] = 5
    assert gpus.trouble(H200) == "2 uncorrectable memory errors (ECC) since the node started"
    gpus.close()


@pytest.mark.parametrize(
    ("rows", "words"), [([0, 1, 1, 0], "waits to be remapped: reset"), ([0, 9, 0, 1], "could not be remapped")]
)
def test_rows_beyond_use_are_trouble(gpus: Gpus, fake: FakeNvml, rows: list[int], words: str) -> None:
    fake.answers["nvmlDeviceGetRemappedRows"] = rows
    assert words in gpus.trouble(H200)


def test_older_cards_retire_pages(gpus: Gpus, fake: FakeNvml) -> None:
    fake.answers["nvmlDeviceGetRetiredPagesPendingStatus"] = 1
    assert gpus.trouble(H200) == "faulty memory pages wait to be retired: reset the GPU"


def test_the_driver_s_own_advice_is_passed_on(gpus: Gpus, fake: FakeNvml) -> None:
    fake.fields[fake.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION] = 2
    assert gpus.trouble(H200) == "the driver asks for a reboot of the machine"
    fake.fields[fake.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION] = 0
    assert gpus.trouble(H200) == ""


def test_a_lost_device_is_trouble_and_no_exception(gpus: Gpus, fake: FakeNvml) -> None:
    fake.answers = dict.fromkeys(fake.answers, LOST)
    assert gpus.trouble(H200) == "the driver has lost it (GPU is lost)"


def test_closing_ends_the_listening(fake: FakeNvml) -> None:
    Gpus(Nvml(fake)).close()
    assert fake.freed
