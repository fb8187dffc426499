"""podium-gpu and the keeper on a real GPU: scrubbing, the golden program, the peaks. Needs neither Django nor a plugin.

Without a GPU all of it is skipped. By hand, with the values that were measured:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_tool_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import shutil
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.agent.devices.gpus import Gpus
from runners.agent.devices.keeper import Keeper
from runners.agent.devices.lanes import Lanes, Place
from runners.agent.devices.ledger import Ledger
from runners.agent.devices.tool import GpuTool
from runners.agent.ground.errors import SandboxFault
from runners.wire.health import NodeHealth, NodeHealthReply


def _uuids() -> list[str]:
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


UUIDS = _uuids()
pytestmark = pytest.mark.skipif(not UUIDS, reason="needs an NVIDIA GPU")
SECRET = "0xDEADBEEF12345678"
SECRET_KERNEL = """
#include <cstdio>
#include <cstdint>
__global__ void fill(uint64_t* at, size_t n, uint64_t word) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) at[i] = word;
}
int main() {
    size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    size_t bytes = free_bytes / 10 * 9 / 8 * 8;
    uint64_t* at = nullptr;
    if (cudaMalloc(&at, bytes) != cudaSuccess) return 1;
    fill<<<4096, 256>>>(at, bytes / 8, 0xDEADBEEF12345678ull);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 2;
}
"""


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> GpuTool:
    return GpuTool.build(tmp_path_factory.mktemp("tool"))


def ask(gpu: GpuTool, *arguments: str) -> dict[str, int]:
    said = gpu._ask(UUIDS[0], arguments, 120)
    print(*arguments, said)
    return said


def test_scrubbing_reaches_nearly_all_memory_and_leaves_nothing_of_another_program(gpu: GpuTool) -> None:
    filled = ask(gpu, "scrub", "--fill", SECRET)
    found = ask(gpu, "scrub", "--find", SECRET)  # what the driver clears by itself is for the record only
    print("left by the driver without scrubbing:", found["found"] * 8, "of", filled["bytes"], "bytes")
    scrubbed = gpu.scrub(UUIDS[0])
    print(scrubbed)
    query = ["nvidia-smi", "-i", UUIDS[0], "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    total_bytes = int(subprocess.run(query, capture_output=True, text=True, check=True).stdout) << 20
    assert scrubbed.n_bytes > 0.97 * total_bytes
    assert ask(gpu, "scrub", "--find", SECRET)["found"] == 0
    assert scrubbed.ms < 5000


def test_it_scrubs_what_an_ordinary_cuda_program_left(gpu: GpuTool, tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("needs nvcc")
    (tmp_path / "leave.cu").write_text(SECRET_KERNEL)
    subprocess.run([nvcc, "-o", "leave", "leave.cu"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "leave"], check=True)
    gpu.scrub(UUIDS[0])
    assert ask(gpu, "scrub", "--find", SECRET)["found"] == 0


def test_the_golden_program_repeats_itself(gpu: GpuTool) -> None:
    """Its result is checked bit by bit inside; here, that its times hold still."""
    medians = []
    for _ in range(4):
        golden = gpu.golden(UUIDS[0])
        print(golden)
        medians.append((statistics.median(golden.compute_ms), statistics.median(golden.copy_ms)))
    for times in zip(*medians, strict=True):
        assert max(times) < 1.02 * min(times)
    assert 1 < medians[0][0] < 60
    assert 0.2 < medians[0][1] < 40


def test_peaks_are_plausible(gpu: GpuTool) -> None:
    measured = gpu.peaks(UUIDS[0])
    print(measured)
    peaks = measured.peaks
    assert peaks.gbps is not None
    assert 100 < peaks.gbps < 20_000
    assert peaks.gbps < measured.read_gbps * 1.3
    assert peaks.gflops["fp32"] > 1000
    assert peaks.l2_bytes >= 1 << 20
    if "products" not in measured.missing:
        assert {"fp64", "fp32", "tf32", "fp16"} <= set(peaks.gflops)
        assert peaks.gflops["fp16"] > peaks.gflops["fp32"]


class Told(list[NodeHealth]):
    """The reports that a site would have got."""

    def __call__(self, said: NodeHealth) -> NodeHealthReply:
        self.append(said)
        return NodeHealthReply()


@pytest.fixture
def keeper(gpu: GpuTool, tmp_path: Path) -> Iterator[Keeper]:
    gpus = Gpus.open()
    assert gpus is not None
    yield Keeper(gpus, gpus.capabilities(), gpu, Ledger(tmp_path), Told())
    gpus.close()


def test_a_tenant_finds_nothing_of_the_one_before(gpu: GpuTool, keeper: Keeper) -> None:
    lanes = Lanes(1, 2, UUIDS, keeper.clean)
    with lanes.test(Place("one submission", UUIDS[0])):
        assert ask(gpu, "scrub", "--fill", SECRET)["bytes"] > 0
    with lanes.test(Place("another", UUIDS[0])):
        assert ask(gpu, "scrub", "--find", SECRET)["found"] == 0
    assert keeper.complaint() == ""


def test_a_node_begins_by_measuring_and_finds_itself_well(keeper: Keeper) -> None:
    keeper.begin(Lanes(1, 2, UUIDS, keeper.clean))
    assert keeper.complaint() == ""
    assert all(keeper.peaks_of(uuid).gbps for uuid in UUIDS)


def test_a_gpu_is_not_cleaned_under_a_running_program(
    keeper: Keeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("needs nvcc")
    source = tmp_path / "stay.cu"
    source.write_text('#include <unistd.h>\nint main() { cudaFree(0); write(1, "on", 2); sleep(60); }\n')
    subprocess.run([nvcc, "-o", "stay", "stay.cu"], cwd=tmp_path, check=True)
    monkeypatch.setattr("runners.agent.devices.keeper.IDLE_SECONDS", 0.5)
    with subprocess.Popen([tmp_path / "stay"], stdout=subprocess.PIPE) as stays:
        assert stays.stdout is not None
        assert stays.stdout.read(2) == b"on"
        with pytest.raises(SandboxFault, match="a process is still on it"):
            keeper.clean(UUIDS[0])
        stays.kill()
