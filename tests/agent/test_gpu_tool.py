"""podium-gpu: its PTX is translated for real; what it does with a driver is seen over a stand-in for libcuda."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from runners.agent.devices import tool as tools
from runners.agent.devices.lanes import Lanes, Place
from runners.agent.devices.tool import DeviceFailed, GpuTool, ToolUnavailable, library_folders
from tests.agent import fake_gpu
from tests.agent.fake_gpu import UUID
from tests.requirements import requires

pytestmark = pytest.mark.skipif(not fake_gpu.present(), reason="needs g++")
SECRET = "0xDEADBEEF12345678"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> GpuTool:
    return fake_gpu.build(tmp_path_factory.mktemp("gpu"))


@pytest.fixture
def gpu(built: GpuTool, tmp_path: Path) -> GpuTool:
    return fake_gpu.device(built, tmp_path)


def with_setting(gpu: GpuTool, name: str, value: str) -> GpuTool:
    return replace(gpu, environment={**gpu.environment, name: value})


def ask(gpu: GpuTool, *arguments: str) -> dict[str, int]:
    return gpu._ask(UUID, arguments, 30)


@requires("nvcc")
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_its_kernels_are_good_ptx(built: GpuTool, architecture: str, tmp_path: Path) -> None:
    text = subprocess.run([built.program, "ptx"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "kernels.ptx").write_text(text)
    command = ["ptxas", "--warning-as-error", f"-arch={architecture}", "-o", "kernels.cubin", "kernels.ptx"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_its_kernels_ask_for_no_more_than_old_drivers_give(built: GpuTool) -> None:
    text = subprocess.run([built.program, "ptx"], capture_output=True, text=True, check=True).stdout
    assert text.startswith(".version 6.0\n.target sm_50\n")


def test_what_one_program_leaves_in_memory_the_next_finds_unless_it_is_scrubbed(gpu: GpuTool) -> None:
    left = ask(gpu, "scrub", "--fill", SECRET)
    assert ask(gpu, "scrub", "--find", SECRET)["found"] == left["bytes"] // 8 > 1_000_000
    assert gpu.scrub(UUID).n_bytes == left["bytes"]
    assert ask(gpu, "scrub", "--find", SECRET)["found"] == 0
    assert ask(gpu, "scrub", "--find", "0")["found"] == left["bytes"] // 8


def test_nearly_all_memory_is_scrubbed_also_where_only_small_pieces_are_to_be_had(gpu: GpuTool) -> None:
    scrubbed = with_setting(gpu, "FAKE_GPU_LARGEST", str(5 << 20)).scrub(UUID)
    assert scrubbed.n_bytes >= fake_gpu.MEMORY_BYTES - (4 << 20)


def test_memory_that_forgets_is_a_failure_in_words(gpu: GpuTool) -> None:
    with pytest.raises(DeviceFailed, match="does not hold the written values: 1 of"):
        with_setting(gpu, "FAKE_GPU_FAULT", "forgets").scrub(UUID)


def test_the_golden_program_is_six_computations_and_six_copies(gpu: GpuTool) -> None:
    golden = gpu.golden(UUID)
    assert (len(golden.compute_ms), len(golden.copy_ms)) == (6, 6)
    assert min(golden.compute_ms + golden.copy_ms) > 0


def test_one_wrong_bit_of_the_golden_program_is_a_failure(gpu: GpuTool) -> None:
    with pytest.raises(DeviceFailed, match="computed wrongly: 1 of"):
        with_setting(gpu, "FAKE_GPU_FAULT", "miscomputes").golden(UUID)


def test_an_error_of_the_driver_is_named(gpu: GpuTool) -> None:
    with pytest.raises(DeviceFailed, match=r"scrub on GPU-0aa.* failed: .*CUDA_ERROR_ILLEGAL_ADDRESS \(700"):
        with_setting(gpu, "FAKE_GPU_FAULT", "lost").scrub(UUID)


def test_a_device_that_hangs_is_given_up(gpu: GpuTool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "SCRUB_SECONDS", 0.3)
    with pytest.raises(DeviceFailed, match=r"gave no answer within 0.3 s: the device hangs"):
        with_setting(gpu, "FAKE_GPU_FAULT", "hangs").scrub(UUID)


def test_peaks_without_cublas_are_of_multiply_adds_and_say_so(gpu: GpuTool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "library_folders", list)
    measured = gpu.peaks(UUID)
    assert set(measured.peaks.gflops) == {"fp32", "fp64"} == set(measured.how)
    assert measured.peaks.gbps and measured.read_gbps > 0
    assert measured.peaks.l2_bytes == 1 << 20
    assert "no cuBLAS" in measured.missing["products"]


def test_without_a_driver_it_says_so(built: GpuTool) -> None:
    if shutil.which("nvidia-smi"):
        pytest.skip("there is a driver here")
    with pytest.raises(DeviceFailed, match="there is no NVIDIA driver here"):
        replace(built, environment={"LD_LIBRARY_PATH": ""}).golden(UUID)


def test_it_refuses_to_choose_among_devices(gpu: GpuTool) -> None:
    with pytest.raises(DeviceFailed, match="2 devices are visible"):
        gpu.golden(f"{UUID},{UUID}")


def test_without_a_compiler_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolUnavailable, match=r"apt install g\+\+"):
        GpuTool.build(tmp_path)


def test_a_built_program_may_be_named(built: GpuTool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_GPU_TOOL", str(built.program))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert GpuTool.build(tmp_path).program.read_bytes() == built.program.read_bytes()


def test_its_version_is_its_sources_alone(built: GpuTool) -> None:
    """Drift is judged among runs of one version: a new compiler on the node changes nothing that the device does."""
    assert re.fullmatch("gpu-[0-9a-f]{16}", built.version)
    assert built.program.parent.name.startswith(f"{built.version}-")


def test_cublas_is_looked_for_in_the_toolkit_and_in_wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("cuda/lib64", "site/nvidia/cu13/lib"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "libcublas.so.13").touch()
    (tmp_path / "site/nvidia/cublas/lib").mkdir(parents=True)
    monkeypatch.setenv("PODIUM_CUDA_HOME", str(tmp_path / "cuda"))
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert library_folders()[:2] == [tmp_path / "cuda/lib64", tmp_path / "site/nvidia/cu13/lib"]


def test_a_tenant_finds_nothing_of_the_one_before(gpu: GpuTool) -> None:
    def clean(uuid: str) -> None:
        gpu.scrub(uuid)

    lanes = Lanes(1, 2, [UUID], clean)
    with lanes.test(Place("one submission", UUID)):
        ask(gpu, "scrub", "--fill", SECRET)
    with lanes.test(Place("one submission", UUID)):
        assert ask(gpu, "scrub", "--find", SECRET)["found"] > 0
    with lanes.test(Place("another", UUID)):
        assert ask(gpu, "scrub", "--find", SECRET)["found"] == 0
