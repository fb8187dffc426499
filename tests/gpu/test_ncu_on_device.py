"""The ncu profiler on a real GPU, in the sandbox that benchmarks run in. Needs neither Django nor a plugin of pytest.

Without a GPU or Nsight Compute all of it is skipped. By hand, with the values that were measured:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_ncu_on_device.py
PODIUM_KEEP_NOTES=<folder> keeps what ncu left of each test, for tests/agent/data.
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.command.timing_mode import GpuTimingMode, KernelsTimingMode, RegionTimingMode
from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.profilers.base import Reading
from runners.agent.profilers.ncu import CONNECTION, ENVIRONMENT, SAMPLED_LAUNCHES, Ncu
from runners.agent.profilers.ncu_csv import TIME
from runners.agent.profilers.ncu_tool import require_ncu
from runners.agent.sandbox.bubblewrap import BubblewrapSandbox, why_unavailable
from runners.agent.sandbox.policy import Command, Limits, Mount, Outcome
from runners.wire.protocol import Witness


def _uuids() -> list[str]:
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


def _why_no_ncu() -> str:
    try:
        require_ncu()
    except ProfilerUnavailable as error:
        return str(error)
    return ""


UUIDS = _uuids()
COMPLAINT = _why_no_ncu()
pytestmark = [
    pytest.mark.skipif(not UUIDS, reason="needs an NVIDIA GPU"),
    pytest.mark.skipif(bool(COMPLAINT), reason=COMPLAINT),
    pytest.mark.skipif(bool(UUIDS) and bool(why_unavailable()), reason="needs bubblewrap"),
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc"),
]
SOURCE = Path(__file__).parent / "cupti_program.cu"
LIMITS = Limits(
    wall_seconds=120,
    memory_bytes=24 << 30,
    processes=1024,
    file_bytes=2 << 30,
    workspace_bytes=2 << 30,
    output_bytes=1 << 20,
)
REGION = RegionTimingMode(include=["bench_region"])
PRODUCT = """\
import torch
from named import NAME
a = torch.randn(4096, 4096, device="cuda")
torch.cuda.synchronize()
torch.cuda.nvtx.range_push(NAME)
b = a @ a
torch.cuda.synchronize()
torch.cuda.nvtx.range_pop()
print("product", tuple(b.shape))
"""


@pytest.fixture(scope="module")
def box() -> BubblewrapSandbox:
    return BubblewrapSandbox()


@pytest.fixture(scope="module")
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="podium-ncu-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        command = ["nvcc", "-std=c++17", "-arch=native", "-o", str(folder / "program"), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True)
        (folder / "product.py").write_text(PRODUCT)
        (folder / "lib").mkdir()
        (folder / "lib" / "named.py").write_text("NAME = 'bench_region'\n")
        yield folder


@dataclass
class Ran:
    outcome: Outcome
    reading: Reading
    notes: Path

    @property
    def metrics(self) -> PerformanceMetrics:
        assert self.reading.metrics is not None, self.reading.error
        return self.reading.metrics

    def launches(self, name: str = "bench_region") -> int:
        return self.metrics.nvtx_ranges[name].kernel_invocations


Profile = Callable[..., Ran]


@pytest.fixture
def profile(box: BubblewrapSandbox, workspace: Path, request: pytest.FixtureRequest) -> Iterator[Profile]:
    with tempfile.TemporaryDirectory(prefix="podium-ncu-notes-") as name:
        Path(name).chmod(0o755)
        folders: list[Path] = []

        def run(shell: str, mode: Any = REGION, seconds: float = 4) -> Ran:
            notes = Path(name) / f"notes-{len(folders)}"
            notes.mkdir()
            notes.chmod(0o777)
            folders.append(notes)
            problem: Any = SimpleNamespace(timing_mode=mode, effective_benchmark_timeout_seconds=seconds)
            timer = Ncu(problem)
            made = timer.attach(shell, notes)
            command = Command(
                made.shell,
                workspace,
                LIMITS,
                environment=made.environment,
                mounts=made.mounts,
                gpu_uuids=(UUIDS[0],),
                trace=True,
            )
            outcome = box.run(command)
            reading = timer.read(problem, notes, outcome)
            _tell(shell, outcome, reading, notes)
            return Ran(outcome, reading, notes)

        yield run
        keep = os.environ.get("PODIUM_KEEP_NOTES")
        for folder in folders if keep else []:
            shutil.copytree(folder, Path(keep or "") / request.node.name / folder.name, dirs_exist_ok=True)


def _tell(shell: str, outcome: Outcome, reading: Reading, notes: Path) -> None:
    print(f"\n{shell}: {reading.time_ms} ms, {reading.error}; wall {outcome.wall_ms:.0f} ms, witness {outcome.witness}")
    print(f"  report {len(reading.report or b'')} bytes; left: {sorted(path.name for path in notes.iterdir())}")
    for log in sorted(notes.glob("*.log")):
        remarks = [line for line in log.read_text(errors="replace").splitlines() if line.startswith("==")]
        print(f"  {log.name}: {remarks}")
        if "_names" in shell:
            print(
                "   ", [line[:400] for line in log.read_text(errors="backslashreplace").splitlines() if ":none" in line]
            )


def near(ms: float, share: float = 0.05) -> Any:
    return pytest.approx(ms, rel=share)


def well(ran: Ran) -> Ran:
    assert ran.outcome.succeeded, ran.outcome
    assert ran.reading.error is None
    return ran


Said = Callable[[str, str, int], Outcome]


@pytest.fixture
def said(box: BubblewrapSandbox, workspace: Path) -> Said:
    """The output of ncu in the sandbox with nothing of ours around it: it tells which part fails where other tests
    do."""

    def bare(connection: str, scope: str, most_seconds: int) -> Outcome:
        tool = require_ncu()
        assert tool.folder.is_dir()
        shell = (
            f"timeout -k 1 {most_seconds} {tool.program} --nvtx --nvtx-push-pop-scope {scope} --metrics {TIME} --csv"
        )
        environment = {**ENVIRONMENT, CONNECTION: connection}
        mounts = (Mount(tool.folder, str(tool.folder)),)
        command = Command(f"{shell} ./program threads", workspace, LIMITS, environment, mounts, gpu_uuids=(UUIDS[0],))
        outcome = box.run(command)
        print(
            f"\n{tool.program}, connection {connection}, scope {scope}: {outcome.exit_code}, {outcome.wall_ms:.0f} ms"
        )
        print(outcome.stdout[-2500:], outcome.stderr[-1000:])
        return outcome

    return bare


@pytest.mark.parametrize("scope", ["process", "thread"])
def test_ncu_reaches_its_target_through_a_unix_socket(said: Said, scope: str) -> None:
    outcome = said("uds", scope, 30)
    assert outcome.succeeded, outcome
    assert TIME in outcome.stdout


def test_ncu_cannot_reach_its_target_over_tcp(said: Said) -> None:
    """The reason for naming a socket to the profiler: without a network ncu waits, and says nothing."""
    outcome = said("tcp", "process", 5)
    assert not outcome.succeeded, outcome
    assert TIME not in outcome.stdout


def test_only_launches_in_the_range_are_profiled(profile: Profile) -> None:
    ran = well(profile("./program plain"))
    assert ran.reading.time_ms == near(10)
    assert ran.launches() == ran.metrics.summary.total_kernel_invocations == 10
    assert ran.outcome.witness is Witness.SEEN
    (kernel,) = ran.metrics.kernels
    assert kernel.name.startswith("spin(")
    assert kernel.sm_throughput_avg is not None
    assert kernel.dram_throughput_avg is not None


def test_all_kernels_are_profiled_where_all_are_asked_for(profile: Profile) -> None:
    ran = well(profile("./program plain", KernelsTimingMode()))
    assert (ran.reading.time_ms, ran.metrics.summary.total_kernel_invocations) == (near(13), 13)
    assert ran.launches() == 10
    gpu: Any = SimpleNamespace(timing_mode=GpuTimingMode(), effective_benchmark_timeout_seconds=4)
    assert Ncu(gpu).read(gpu, ran.notes, ran.outcome).time_ms == ran.reading.time_ms


def test_outer_ranges_hold_what_inner_ones_do(profile: Profile) -> None:
    ran = well(profile("./program nested", RegionTimingMode()))
    assert (ran.launches("outer"), ran.launches("inner")) == (3, 2)
    inner = well(profile("./program nested", RegionTimingMode(include=["inner"])))
    assert inner.reading.time_ms == near(2)


def test_every_kind_of_range_with_a_plain_name_has_its_launches(profile: Profile) -> None:
    ranges = well(profile("./program ascii_names", RegionTimingMode())).metrics.nvtx_ranges
    assert set(ranges) == {"plain", "registered", "null domain", "in domain", "started", "started in domain"}
    assert all((one.kernel_invocations, one.kernel_time_ms) == (1, near(1)) for one in ranges.values())


def test_start_end_ranges_are_found_by_name(profile: Profile) -> None:
    assert well(profile("./program ascii_names", RegionTimingMode(include=["started"]))).reading.time_ms == near(1)


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("wide_names", "wide 日", "lost by ncu"),
        ("utf8_names", "utf-8 日", ""),
        ("not_utf8_names", "not utf-8 ", "failed by itself"),
        ("quoted_names", "say ", "names of NVTX ranges hold quotes"),
    ],
)
def test_a_name_that_is_not_plain_has_its_launch_or_the_error_tells_of_names(
    profile: Profile, workspace: Path, kind: str, name: str, words: str
) -> None:
    """ncu 2025.3.1 throws or crashes over some of these, or loses them; without it the program does well."""
    subprocess.run([workspace / "program", kind], check=True, timeout=60)
    ran = profile(f"./program {kind}", RegionTimingMode())
    if ran.reading.error is not None:
        assert words
        assert words in ran.reading.error
        assert "profiler cupti" in ran.reading.error
        assert ran.reading.time_ms is None
        return
    assert well(ran).reading.time_ms == near(2)
    ranges = ran.metrics.nvtx_ranges
    plain, other = ranges
    assert (plain, other[: len(name)]) == ("plain", name)
    assert all((one.kernel_invocations, one.kernel_time_ms) == (1, near(1)) for one in ranges.values())


def test_a_graphs_kernels_count_one_by_one(profile: Profile) -> None:
    ran = well(profile("./program graph"))
    assert (ran.launches(), ran.reading.time_ms) == (10, near(5))


def test_launches_of_helper_threads_do_not_escape_the_range(profile: Profile) -> None:
    assert well(profile("./program threads")).launches() == 5


@pytest.mark.parametrize(
    ("shell", "launches"),
    [
        ("true && ./program plain && ./program plain", 26),
        ("X=1 PYTHONPATH=. ./prog*m plain | cat", 13),
        ("./program child_by_shell", 5),
        ("exec ./program plain", 13),
    ],
)
def test_compound_commands_and_children_are_added_up(profile: Profile, shell: str, launches: int) -> None:
    ran = well(profile(shell, KernelsTimingMode()))
    assert (ran.metrics.summary.total_kernel_invocations, ran.reading.time_ms) == (launches, near(launches))


@pytest.mark.xfail(
    strict=False,
    raises=AssertionError,
    reason="ncu 2025.3.1 does not follow a child made by fork without exec: it hangs until it is ended",
)
def test_children_made_by_fork_are_followed(profile: Profile) -> None:
    ran = well(profile("./program child_by_fork", KernelsTimingMode(), seconds=1))
    assert ran.reading.time_ms == near(6)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
def test_python_commands_with_an_environment_before_them_are_profiled(profile: Profile) -> None:
    ran = well(profile("PYTHONPATH=lib python product.py", seconds=8))
    assert ran.outcome.stdout == "product (4096, 4096)\n"
    assert ran.launches() >= 1
    assert (ran.reading.time_ms or 0) > 0.5
    assert (ran.metrics.sm_throughput_pct or 0) > 10
    assert (ran.metrics.dram_throughput_pct or 0) > 0


def test_the_report_can_be_opened(profile: Profile, tmp_path: Path) -> None:
    ran = well(profile("./program plain"))
    assert ran.reading.report is not None
    report = tmp_path / "report.ncu-rep"
    report.write_bytes(ran.reading.report)
    shown = subprocess.run(
        [require_ncu().program, "--import", report, "--page", "raw", "--csv"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "spin" in shown.stdout
    assert "dram__throughput" in shown.stdout


def test_many_launches_take_bearable_time(profile: Profile) -> None:
    ran = well(profile("./program steady", seconds=10))
    assert (ran.launches(), ran.reading.time_ms) == (100, near(100))
    rows = (ran.notes / "throughputs.log").read_text().count(TIME)
    print(f"{ran.outcome.wall_ms / 1e3:.1f} s for 100 launches twice; {rows} of at most {SAMPLED_LAUNCHES} sampled")
    assert rows <= SAMPLED_LAUNCHES


def test_a_benchmark_that_fails_keeps_its_status(profile: Profile) -> None:
    assert profile("./program plain; exit 7").outcome.exit_code == 7


def test_a_file_of_the_contestants_renames_no_kernel(profile: Profile, workspace: Path) -> None:
    original = well(profile("./program plain", KernelsTimingMode())).metrics.kernels[0].name
    renames = workspace / "ncu-kernel-renames.yaml"
    renames.write_text(f"-\n - Original: {original}\n - Renamed: another\n")
    try:
        kernels = well(profile("./program plain", KernelsTimingMode())).metrics.kernels
    finally:
        renames.unlink()
    assert [kernel.name for kernel in kernels] == [original]


def test_what_matches_nothing_is_told(profile: Profile) -> None:
    error = profile("./program plain", RegionTimingMode(include=["other"])).reading.error
    assert error is not None
    assert "no kernel was launched inside an NVTX range 'other'" in error
    assert (profile("./program nothing", KernelsTimingMode()).reading.error or "").endswith("launched no kernel")
