"""A node's description of its GPUs, from answers recorded on an H200 (tests/agent/fake_nvml.py): there is no GPU
here."""

import ctypes
from pathlib import Path
from types import SimpleNamespace

import pynvml
import pytest

from runners.agent import capabilities
from runners.agent.devices.gpus import Gpus, UnknownGpu, profiling_admin_only
from runners.agent.devices.nvml import Nvml
from tests.agent.fake_nvml import NOT_SUPPORTED, FakeNvml

H200 = "GPU-a6abdf58-3afe-3f1a-896d-1b6211fb0e2d"


@pytest.fixture
def fake() -> FakeNvml:
    return FakeNvml()


@pytest.fixture
def gpus(fake: FakeNvml):
    opened = Gpus(Nvml(fake))
    yield opened
    opened.close()


def test_a_machine_without_a_driver_has_no_gpus() -> None:
    opened = Gpus.open()
    if opened is not None:
        opened.close()
        pytest.skip("this machine has an NVIDIA driver")
    assert opened is None


def test_an_h200_is_described(gpus: Gpus) -> None:
    (found,) = gpus.capabilities()
    assert (found.uuid, found.name, found.compute_capability) == (H200, "NVIDIA H200", "9.0")
    assert found.memory_bytes == 150754820096
    assert (found.driver, found.pci_bus_id) == ("580.159.04", "00000000:00:06.0")
    assert (found.sm_clock_mhz, found.memory_clock_mhz, found.power_limit_w) == (1980, 3201, 700)
    assert found.ecc is True


def test_what_a_card_does_not_tell_stays_empty(fake: FakeNvml) -> None:
    for unknown in ("nvmlDeviceGetEccMode", "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetMemoryInfo"):
        fake.answers[unknown] = NOT_SUPPORTED
    (found,) = Gpus(Nvml(fake)).capabilities()
    assert (found.ecc, found.power_limit_w, found.memory_bytes) == (None, None, 0)
    assert found.uuid == H200


def test_every_board_is_listed_in_the_driver_s_order(fake: FakeNvml) -> None:
    fake.answers |= {"nvmlDeviceGetCount": 2, "board0:nvmlDeviceGetUUID": "GPU-b", "board1:nvmlDeviceGetUUID": "GPU-a"}
    assert [gpu.uuid for gpu in Gpus(Nvml(fake)).capabilities()] == ["GPU-b", "GPU-a"]


def test_an_operator_chooses_gpus_by_the_beginnings_of_their_uuids(
    fake: FakeNvml, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.answers |= {"nvmlDeviceGetCount": 2, "board0:nvmlDeviceGetUUID": "GPU-b", "board1:nvmlDeviceGetUUID": "GPU-a"}
    for named, expected in (("GPU-a", ["GPU-a"]), (" GPU-a , GPU-b", ["GPU-b", "GPU-a"]), ("", ["GPU-b", "GPU-a"])):
        monkeypatch.setenv("PODIUM_GPUS", named)
        opened = Gpus(Nvml(fake))
        assert [gpu.uuid for gpu in opened.capabilities()] == expected
    monkeypatch.setenv("PODIUM_GPUS", "GPU-a")
    with pytest.raises(UnknownGpu, match="'GPU-b'"):
        Gpus(Nvml(fake)).process_ids("GPU-b")


def test_a_chosen_gpu_that_is_not_there_is_named(fake: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_GPUS", "GPU-none")
    with pytest.raises(UnknownGpu, match=f"PODIUM_GPUS names 'GPU-none'.*{H200}"):
        Gpus(Nvml(fake))
    monkeypatch.setattr(capabilities, "_output", lambda arguments: "")
    with pytest.raises(UnknownGpu, match="this machine has none"):
        capabilities.gpus_by_nvidia_smi()


def test_a_partitioned_board_is_listed_by_its_instances(fake: FakeNvml) -> None:
    fake.answers |= {
        "nvmlDeviceGetMigMode": [1, 1],
        "nvmlDeviceGetMaxMigDeviceCount": 7,
        "nvmlDeviceGetMigDeviceHandleByIndex(0)": "mig0",
        "nvmlDeviceGetMigDeviceHandleByIndex(1)": "mig1",
        "mig0:nvmlDeviceGetUUID": "MIG-0",
        "mig1:nvmlDeviceGetUUID": "MIG-1",
        "mig1:nvmlDeviceGetName": "NVIDIA H200 MIG 1g.18gb",
        "mig1:nvmlDeviceGetMemoryInfo": {"total": 16 << 30},
    }
    first, second = Gpus(Nvml(fake)).capabilities()
    assert (first.uuid, second.uuid) == ("MIG-0", "MIG-1")
    assert (second.name, second.memory_bytes) == ("NVIDIA H200 MIG 1g.18gb", 16 << 30)
    assert second.compute_capability == "9.0"


def test_an_unknown_uuid_is_named_with_the_known_ones(gpus: Gpus) -> None:
    with pytest.raises(UnknownGpu, match=f"'GPU-9'.*{H200}"):
        gpus.process_ids("GPU-9")


def test_the_processes_on_a_device_are_known_and_waited_for(gpus: Gpus, fake: FakeNvml) -> None:
    assert gpus.idle(H200, 0.0)
    fake.work()
    assert gpus.process_ids(H200) == [508]
    assert not gpus.idle(H200, 0.03)


def test_a_resident_is_no_stranger_on_a_device(gpus: Gpus, fake: FakeNvml) -> None:
    fake.work()
    gpus.residents.admit(508)
    assert gpus.idle(H200, 0.0)


@pytest.mark.parametrize(("text", "expected"), [("0", False), ("1", True)])
def test_who_may_profile_is_read_from_the_driver_s_parameters(tmp_path: Path, text: str, expected: bool) -> None:
    (tmp_path / "params").write_text(f"NvLinkDisable: 1\nRmProfilingAdminOnly: {text}\nEnableMSI: 1\n")
    assert profiling_admin_only(tmp_path / "params") is expected


def test_without_a_driver_nobody_knows_who_may_profile(tmp_path: Path) -> None:
    assert profiling_admin_only(tmp_path / "none") is None


def test_capabilities_come_from_the_library_and_else_from_nvidia_smi(
    fake: FakeNvml, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capabilities, "_output", lambda arguments: "GPU-smi, NVIDIA L4, 8.9, 23034, 580.1\n")
    monkeypatch.setattr(Gpus, "open", lambda: Gpus(Nvml(fake)))
    assert [gpu.uuid for gpu in capabilities.gpus()] == [H200]
    monkeypatch.setattr(Gpus, "open", lambda: None)
    assert [gpu.uuid for gpu in capabilities.gpus()] == ["GPU-smi"]


def test_a_driver_that_is_gone_is_no_error() -> None:
    api = SimpleNamespace(NVMLError=OSError, nvmlDeviceGetCount=_fail, nvmlInit=lambda: None)
    assert list(Nvml(api).boards()) == []


def test_handles_are_told_apart_by_where_they_point() -> None:
    board, other = pynvml.struct_c_nvmlDevice_t(), pynvml.struct_c_nvmlDevice_t()
    nvml = Nvml(FakeNvml())
    assert nvml.same(ctypes.pointer(board), ctypes.pointer(board))
    assert not nvml.same(ctypes.pointer(board), ctypes.pointer(other))


def _fail() -> None:
    raise OSError("gone")
