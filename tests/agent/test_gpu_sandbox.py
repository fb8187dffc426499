"""The parts of a GPU that a sandbox shows. There is none here: the driver's files are made by hand, as beside an
H200."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from runners.agent.devices.nvml import Nvml
from runners.agent.sandbox import Command, Limits, SandboxFault, bubblewrap, docker, gpu
from runners.agent.sandbox.gpu import (
    CACHE,
    NO_CACHE,
    device_nodes,
    find_driver_libraries,
    gpu_arguments,
    gpu_environment,
    locate,
)
from runners.agent.sandbox.privilege import Identity
from runners.agent.sandbox.root import BASE_PATH, find_toolchains
from runners.agent.sandbox.unconfined import UnconfinedSandbox
from tests.agent.fake_nvml import FakeNvml
from tests.requirements import requires

LIMITS = Limits(30, 1 << 30, 64, 1 << 26, 1 << 26, 1 << 16)


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """/proc/driver/nvidia of a machine with two GPUs."""
    root = tmp_path / "driver"
    for index in range(2):
        folder = root / f"gpus/0000:00:0{index}.0"
        folder.mkdir(parents=True)
        facts = f"Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-{index}\nBus Location: \t 0000:00:0{index}.0\n"
        (folder / "information").write_text(f"{facts}Device Minor: \t {index}\nGPU Excluded:\t No\n")
    (root / "params").write_text("RmProfilingAdminOnly: 0\n")
    (root / "suspend").write_text("secret")
    return root


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that stand for the shared device files."""
    folder = tmp_path / "dev"
    folder.mkdir()
    names = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
    monkeypatch.setattr(gpu, "SHARED_NODES", tuple(str(folder / name) for name in names))
    monkeypatch.setattr(gpu, "device_nodes", lambda located: [folder / name for name in (*names, "nvidia1")])
    for name in (*names, "nvidia1"):
        (folder / name).touch()
    return folder


def test_only_the_named_gpu_s_device_files_are_taken(driver: Path) -> None:
    found = [str(node) for node in device_nodes(locate(("GPU-1",), driver))]
    assert found == ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia1"]


def test_an_unknown_gpu_is_a_fault_that_names_the_known_ones(driver: Path) -> None:
    with pytest.raises(SandboxFault, match=r"GPU-9; the driver lists \['GPU-0', 'GPU-1'\]"):
        locate(("GPU-9",), driver)


def test_without_the_kernel_s_files_the_library_tells_the_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeNvml()
    fake.answers |= {"nvmlDeviceGetUUID": "GPU-7", "nvmlDeviceGetMinorNumber": 7}
    monkeypatch.setattr(Nvml, "load", lambda: Nvml(fake))
    (found,) = locate(("GPU-7",), tmp_path / "none")
    assert found.minor == 7


def test_an_instance_of_a_partitioned_gpu_brings_its_rights(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = driver / "capabilities/gpu1/mig/gi2/ci0"
    instance.mkdir(parents=True)
    (instance.parent / "access").write_text("DeviceFileMinor: 21\nDeviceFileMode: 292\nDeviceFileModify: 1\n")
    (instance / "access").write_text("DeviceFileMinor: 22\nDeviceFileMode: 292\nDeviceFileModify: 1\n")
    fake = FakeNvml()
    fake.answers |= {
        "nvmlDeviceGetMigMode": [1, 1],
        "nvmlDeviceGetMaxMigDeviceCount": 1,
        "nvmlDeviceGetMigDeviceHandleByIndex(0)": "mig0",
        "mig0:nvmlDeviceGetUUID": "MIG-a",
        "nvmlDeviceGetMinorNumber": 1,
        "nvmlDeviceGetGpuInstanceId": 2,
        "nvmlDeviceGetComputeInstanceId": 0,
    }
    monkeypatch.setattr(Nvml, "load", lambda: Nvml(fake))
    found = [str(node) for node in device_nodes(locate(("MIG-a",), driver))][3:]
    assert found == ["/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap21", "/dev/nvidia-caps/nvidia-cap22"]


@requires("bubblewrap")
def test_a_command_sees_the_files_of_its_gpu_and_no_other_s(driver: Path, nodes: Path) -> None:
    shell = f"find {driver} {nodes} -type f -printf '%P '; cat {driver}/params"
    seen = in_bubblewrap(driver, ("GPU-1",), shell)
    assert "gpus/0000:00:01.0/information" in seen
    assert "0000:00:00.0" not in seen
    assert "suspend" not in seen
    assert "RmProfilingAdminOnly" in seen
    assert "nvidia1 " in seen


@requires("bubblewrap")
def test_a_command_without_a_gpu_sees_nothing_of_the_driver(driver: Path) -> None:
    assert in_bubblewrap(driver, (), f"find {driver} -mindepth 1; echo end").strip() == "end"


def test_a_machine_without_the_driver_needs_no_arguments(tmp_path: Path) -> None:
    assert gpu_arguments((), tmp_path / "none") == []


def in_bubblewrap(driver: Path, uuids: tuple[str, ...], shell: str) -> str:
    """The output of a command in a sandbox that first shows all of the driver's folder, as it shows all of /proc."""
    start = [str(bubblewrap.find_bwrap()), "--unshare-all", *bubblewrap.system_arguments(), "--dev", "/dev"]
    whole = ["--ro-bind", str(driver), str(driver)]
    command = [*start, *whole, *gpu_arguments(uuids, driver), "--", "sh", "-c", shell]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_missing_device_file_is_a_fault_that_says_how_to_mend_it(driver: Path, nodes: Path) -> None:
    (nodes / "nvidia-uvm-tools").unlink()
    gpu_arguments(("GPU-1",), driver)
    (nodes / "nvidia-uvm").unlink()
    with pytest.raises(SandboxFault, match=r"nvidia-uvm is missing: .*nvidia-modprobe -u"):
        gpu_arguments(("GPU-1",), driver)


# ---- the driver's libraries ----------------------------------------------------------------------------------------


@pytest.fixture
def opt(tmp_path: Path) -> Path:
    """A driver outside /usr, as container toolkits and some distributions have it."""
    folder = tmp_path / "opt/nvidia/lib64"
    folder.mkdir(parents=True)
    (folder / "libcuda.so.1").touch()
    return folder


def test_libraries_are_found_through_the_search_path(opt: Path) -> None:
    found = find_driver_libraries(f"/nowhere:{opt}:", "")
    assert found.folders == (opt,)
    assert found.search_path == (str(opt),)


def test_libraries_are_found_through_the_loader_s_cache(opt: Path) -> None:
    cache = f"\tlibcuda.so.1 (libc6,x86-64) => {opt}/libcuda.so.1\n\tlibz.so.1 (libc6) => /lib/libz.so.1\n"
    found = find_driver_libraries("", cache)
    assert found.folders == (opt,)
    assert found.search_path == ()


def test_what_a_link_stands_for_is_shown_too(opt: Path, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    (links / "libcuda.so.1").symlink_to(opt / "libcuda.so.1")
    assert find_driver_libraries(str(links), "").folders == tuple(sorted((opt, links)))


@requires("bubblewrap")
def test_a_command_with_a_gpu_finds_the_driver_s_libraries(
    opt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(opt))
    monkeypatch.setattr(bubblewrap, "gpu_arguments", lambda uuids: [])
    box = bubblewrap.BubblewrapSandbox()
    shell = f"ls {opt}; echo $LD_LIBRARY_PATH $CUDA_VISIBLE_DEVICES $CUDA_CACHE_PATH; touch {opt}/mine"
    with_gpu = box.run(Command(shell, tmp_path, LIMITS, {"LD_LIBRARY_PATH": "/mine"}, gpu_uuids=("GPU-1",)))
    assert with_gpu.stdout == f"libcuda.so.1\n/mine:{opt} GPU-1 /tmp/.cuda-cache\n"
    assert "Read-only" in with_gpu.stderr
    assert box.run(Command(f"ls {opt}", tmp_path, LIMITS)).exit_code == 2


@requires("bubblewrap")
def test_bubblewrap_says_why_it_cannot_show_a_gpu() -> None:
    box = bubblewrap.BubblewrapSandbox()
    assert box.why_no_gpus(()) == ""
    assert "no such GPU on this machine: GPU-9" in box.why_no_gpus(("GPU-9",))


def test_a_toolkit_below_usr_is_on_the_search_path(monkeypatch: pytest.MonkeyPatch) -> None:
    places = {"nvcc": "/usr/local/cuda/bin/nvcc", "g++": "/usr/bin/g++"}
    monkeypatch.setattr(shutil, "which", places.get)
    found = find_toolchains()
    assert "/usr/local/cuda/bin" in found.search_path
    assert found.search_path[-3:] == BASE_PATH
    assert Path("/usr/local/cuda") not in found.folders


# ---- the environment -----------------------------------------------------------------------------------------------


def test_a_command_cannot_name_other_gpus_nor_share_compiled_code() -> None:
    given = {"CUDA_VISIBLE_DEVICES": "0,1", "CUDA_CACHE_PATH": "/workspace/x", "MINE": "1"}
    found = gpu_environment(("GPU-1",), given, CACHE)
    assert found == {"CUDA_VISIBLE_DEVICES": "GPU-1", "CUDA_CACHE_PATH": "/tmp/.cuda-cache", "MINE": "1"}


def test_without_a_gpu_the_environment_is_left_alone() -> None:
    assert gpu_environment((), {"MINE": "1"}, CACHE, ("/opt",)) == {"MINE": "1"}


def test_what_is_given_is_searched_before_the_driver_s_folders() -> None:
    found = gpu_environment(("GPU-1",), {"LD_LIBRARY_PATH": "/a:/b"}, NO_CACHE, ("/b", "/c"))
    assert found["LD_LIBRARY_PATH"] == "/a:/b:/c"


@pytest.mark.filterwarnings("ignore:SANDBOX=unconfined")
def test_unconfined_commands_get_their_gpu_and_keep_no_compiled_code(tmp_path: Path) -> None:
    shell = "echo $CUDA_VISIBLE_DEVICES $CUDA_CACHE_DISABLE"
    outcome = UnconfinedSandbox().run(Command(shell, tmp_path, LIMITS, gpu_uuids=("GPU-1",)))
    assert outcome.stdout == "GPU-1 1\n"


def test_nothing_limits_the_address_space(tmp_path: Path) -> None:
    """CUDA reserves terabytes of it."""
    with pytest.warns(UserWarning):
        outcome = UnconfinedSandbox().run(Command("ulimit -v", tmp_path, LIMITS, gpu_uuids=("GPU-1",)))
    assert outcome.stdout == "unlimited\n"


# ---- Docker, whose request and policy are checked as data ----------------------------------------------------------

ENGINE = {"Version": "28.3.0", "ApiVersion": "1.51"}
INFO = {
    "CDISpecDirs": ["/etc/cdi", "/var/run/cdi"],
    "DiscoveredDevices": [{"Source": "cdi", "ID": "nvidia.com/gpu=0"}, {"Source": "cdi", "ID": "nvidia.com/gpu=GPU-1"}],
}


def test_exactly_the_named_gpus_are_asked_for() -> None:
    assert docker.gpu_requests(()) == []
    (request,) = docker.gpu_requests(("GPU-1", "GPU-2"))
    assert request["Driver"] == "cdi"
    assert request["DeviceIDs"] == ["nvidia.com/gpu=GPU-1", "nvidia.com/gpu=GPU-2"]


def test_an_image_s_own_wish_for_gpus_is_not_granted() -> None:
    settings = docker.container_settings(Identity(1000, 1000, dropped=False), "sha256:0")
    assert settings["environment"] == {"NVIDIA_VISIBLE_DEVICES": "void"}


def test_a_container_with_a_gpu_is_confined_as_any_other(tmp_path: Path) -> None:
    settings = docker.host_settings(Command("true", tmp_path, LIMITS, gpu_uuids=("GPU-1",)), tmp_path)
    assert (settings["network_mode"], settings["cap_drop"], settings["read_only"]) == ("none", ["ALL"], True)
    assert "devices" not in settings
    assert {limit["Name"]: limit["Soft"] for limit in settings["ulimits"]}["memlock"] == -1


def test_a_container_s_environment_names_its_gpu(tmp_path: Path) -> None:
    orders = docker.orders_for(Command("true", tmp_path, LIMITS, gpu_uuids=("GPU-1",)))
    assert orders.environment["CUDA_VISIBLE_DEVICES"] == "GPU-1"
    assert orders.environment["CUDA_CACHE_PATH"].startswith("/tmp/")


def test_an_engine_that_knows_the_device_will_do() -> None:
    assert docker.why_no_gpus(ENGINE, INFO, ("GPU-1",)) == ""


def test_an_engine_that_does_not_list_devices_is_believed() -> None:
    assert (
        docker.why_no_gpus({"Version": "27.5", "ApiVersion": "1.47"}, {"CDISpecDirs": ["/etc/cdi"]}, ("GPU-1",)) == ""
    )


@pytest.mark.parametrize(
    ("version", "info", "words"),
    [
        ({"Version": "20.10.24", "ApiVersion": "1.41"}, {}, r"20\.10\.24 cannot give .* 25 or newer .* bubblewrap"),
        (ENGINE, {"CDISpecDirs": []}, "switched off: put .*cdi.*daemon.json"),
        (ENGINE, INFO, "no device nvidia.com/gpu=GPU-2: sudo nvidia-ctk cdi generate"),
    ],
)
def test_an_engine_that_cannot_give_gpus_is_told_how_to(version: dict, info: dict, words: str) -> None:
    assert re.search(words, docker.why_no_gpus(version, info, ("GPU-2",)))
