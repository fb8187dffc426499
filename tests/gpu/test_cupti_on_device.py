"""The cupti profiler on a real GPU: programs whose work is known are run under it. Needs neither Django nor a plugin.

Without a GPU all of it is skipped. By hand, with the values that were measured:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_cupti_on_device.py
PODIUM_KEEP_NOTES=<folder> keeps what each test's programs left, for tests/agent/data. COMPUTE_EVAL_CUPTI=<its
libcuda_profile.so> compares the times with those of ComputeEval's own library.
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from problems.spec.command.timing_mode import RegionTimingMode
from runners.agent.profilers import cupti_library
from runners.agent.profilers.base import Reading
from runners.agent.profilers.cupti import Cupti
from runners.agent.profilers.facts import ProfileFacts, RangeFacts

COMPLAINT = cupti_library.why_unavailable()
pytestmark = [
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc"),
    pytest.mark.skipif(bool(COMPLAINT), reason=COMPLAINT),
]
SOURCE = Path(__file__).parent / "cupti_program.cu"
REGION = RegionTimingMode(include=["bench_region"])
SETTLING_LAUNCHES = 100_000
KERNELS_OF_A_GRAPH = 5


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("program") / "cupti_program"
    command = ["nvcc", "-std=c++17", "-arch=native", "-o", str(made), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return made


@dataclass
class Ran:
    code: int
    stdout: str
    stderr: str
    reading: Reading

    @property
    def facts(self) -> ProfileFacts:
        assert self.reading.facts is not None, self.reading.error
        return self.reading.facts

    @property
    def region(self) -> RangeFacts:
        return self.facts.ranges["bench_region"]


Profile = Callable[..., Ran]


@pytest.fixture
def profile(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Profile]:
    overlapping = Cupti()
    folders: list[Path] = []

    def run(shell: str, mode: Any = REGION, cupti: Cupti = overlapping) -> Ran:
        notes = tmp_path / f"notes-{len(folders)}"
        notes.mkdir()
        folders.append(notes)
        attachment = cupti.attach(shell, notes)
        environment = {**os.environ, **attachment.environment}
        done = subprocess.run(
            ["bash", "-c", attachment.shell], env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        problem, outcome = SimpleNamespace(timing_mode=mode), SimpleNamespace(wall_ms=120_000.0)
        reading = cupti.read(problem, notes, outcome)  # type: ignore[arg-type]
        return Ran(done.returncode, done.stdout, done.stderr, reading)

    yield run
    keep = os.environ.get("PODIUM_KEEP_NOTES")
    for folder in folders if keep else []:
        shutil.copytree(
            folder, Path(keep or "") / re.sub(r"\W+", "_", request.node.name) / folder.name, dirs_exist_ok=True
        )


def near(ms: float, share: float = 0.03) -> Any:
    return pytest.approx(ms, rel=share)


def well(ran: Ran) -> Ran:
    """Ended well, silently and whole."""
    assert (ran.code, ran.stdout, ran.stderr) == (0, "", "")
    assert ran.reading.error is None
    assert (ran.facts.unfinished, ran.facts.dropped_records) == (0, 0)
    return ran


def test_kernels_in_and_outside_the_range_are_told_apart(profile: Profile, program: Path) -> None:
    ran = well(profile(f"{program} plain"))
    assert ran.reading.time_ms == near(10)
    assert (ran.region.launches, ran.region.instances, ran.region.foreign_launches) == (10, 1, 0)
    assert 10 <= ran.region.wall_ms < 12
    assert (ran.facts.outside_launches, ran.facts.outside_ms) == (3, near(3))
    assert (ran.facts.processes, ran.facts.launches, ran.facts.kernel_ms) == (1, 13, near(13))
    assert ran.facts.kernels == {"spin": 13}
    assert ran.region.late_ms < 0.05
    assert ran.region.busy_ms == near(10)


def test_outer_ranges_hold_what_inner_ones_do(profile: Profile, program: Path) -> None:
    ranges = well(profile(f"{program} nested", RegionTimingMode())).facts.ranges
    assert (ranges["outer"].launches, ranges["inner"].launches) == (3, 2)
    assert (ranges["outer"].kernel_ms, ranges["inner"].kernel_ms) == (near(3), near(2))


def test_every_kind_of_range_takes_its_launches(profile: Profile, program: Path) -> None:
    ranges = well(profile(f"{program} kinds", RegionTimingMode())).facts.ranges
    assert list(ranges) == ["wide 日", "registered", "null domain", "started", 'say "hi"\n\\', "not utf-8 \ufffd"]
    assert all((one.launches, one.kernel_ms) == (1, near(1)) for one in ranges.values())


def test_copies_and_memsets_are_counted_by_direction(profile: Profile, program: Path) -> None:
    ran = well(profile(f"{program} copies"))
    assert ran.reading.metrics is not None
    transfers = ran.reading.metrics.memory_transfers
    assert {name: one.total_bytes for name, one in transfers.items()} == dict.fromkeys(
        ("DtoD", "DtoH", "HtoD"), 64 << 20
    )
    assert all(list(one.nvtx or {}) == ["bench_region"] for one in transfers.values())
    assert all(one.bandwidth_gbps > 0.5 for one in transfers.values())
    assert ran.region.memcpy_ms == ran.facts.memcpy_ms > 0
    assert ran.region.memset_ms == ran.facts.memset_ms > 0


def test_streams_that_overlap_are_busy_once(profile: Profile, program: Path) -> None:
    ran = well(profile(f"{program} streams"))
    assert ran.region.kernel_ms == near(20, 0.1)
    assert 5 <= ran.region.busy_ms < 8


def test_a_graphs_nodes_belong_to_its_launch(profile: Profile, program: Path) -> None:
    ran = well(profile(f"{program} graph"))
    assert (ran.region.launches, ran.region.kernel_ms) == (10, near(5))
    assert ran.facts.outside_launches == 0


def test_a_graphs_nodes_have_no_times_one_at_a_time_and_another_timer_gives_them(
    profile: Profile, program: Path
) -> None:
    one_at_a_time = Cupti(REGION)
    with_graphs = one_at_a_time.for_graphs
    assert with_graphs is not None
    alone = profile(f"{program} graph", cupti=one_at_a_time)
    print(f"one at a time: {alone.region.launches} of 10 launches have times, {alone.region.kernel_ms:.2f} of 5 ms")
    assert alone.reading.lacks_graphs
    ran = well(profile(f"{program} graph", cupti=with_graphs))
    assert (ran.region.launches, ran.region.kernel_ms) == (10, near(5))
    assert not ran.reading.lacks_graphs


@pytest.mark.parametrize("how", ["plain", "streams", "threads"])
def test_programs_without_graphs_need_no_other_timer(profile: Profile, program: Path, how: str) -> None:
    assert not well(profile(f"{program} {how}", cupti=Cupti(REGION))).reading.lacks_graphs


def test_another_threads_launches_are_added_and_told_as_foreign(profile: Profile, program: Path) -> None:
    ran = well(profile(f"{program} threads"))
    assert (ran.region.launches, ran.region.foreign_launches) == (5, 4)
    assert ran.reading.time_ms == near(5)


def test_kernels_that_outlive_their_range_count_and_are_told_as_late(profile: Profile, program: Path) -> None:
    ran = well(profile(f"{program} late"))
    assert ran.reading.time_ms == near(50)
    assert ran.region.wall_ms < 5
    assert 45 <= ran.region.late_ms <= 51


def test_every_way_to_launch_is_seen(profile: Profile, program: Path) -> None:
    ran = well(profile(f"{program} ways"))
    assert ran.facts.kernels == {"spin": 4, "void quoted<long long>": 1}
    assert (ran.region.launches, ran.facts.outside_launches) == (5, 0)


@pytest.mark.parametrize(
    ("shell", "processes", "launches"),
    [
        ("true && {0} plain && {0} plain", 2, 20),
        ("X=1 PYTHONPATH=. {0} plain | cat", 1, 10),
        ("{0} child_by_shell", 1, 5),
        ("{0} child_of_cuda_parent", 2, 5),
        ("{0} child_by_fork", 2, 6),
        ("exec {0} plain", 1, 10),
    ],
)
def test_compound_commands_and_children_are_added_up(
    profile: Profile, program: Path, shell: str, processes: int, launches: int
) -> None:
    ran = well(profile(shell.format(program)))
    assert (ran.facts.processes, ran.region.launches) == (processes, launches)
    assert ran.reading.time_ms == near(launches)


def test_a_process_that_ends_at_once_by__exit_is_unfinished(profile: Profile, program: Path) -> None:
    ran = profile(f"{program} abrupt")
    assert ran.code == 0
    if ran.reading.facts is None:
        assert ran.reading.error == "Benchmark profiling failed: None"
    else:
        assert ran.reading.facts.unfinished == 1


@pytest.mark.parametrize(("how", "code"), [("abrupt_later", 0), ("killed_later", 128 + signal.SIGKILL)])
def test_a_process_that_dies_loses_little(profile: Profile, program: Path, how: str, code: int) -> None:
    ran = profile(f"{program} {how}; exit $?")
    assert ran.code == code
    assert (ran.facts.unfinished, ran.region.launches, ran.facts.outside_launches) == (1, 10, 3)


def test_a_device_reset_loses_nothing(profile: Profile, program: Path) -> None:
    ran = well(profile(f"{program} reset"))
    assert (ran.region.launches, ran.region.instances) == (7, 2)


def test_kernels_that_still_run_at_the_end_do_not_go_unseen(profile: Profile, program: Path) -> None:
    ran = profile(f"{program} unsettled")
    facts = ran.facts
    assert facts.dropped_records + facts.launches == 3


def test_a_range_that_is_left_open_keeps_its_kernels(profile: Profile, program: Path) -> None:
    ran = well(profile(f"{program} left_open"))
    assert (ran.region.unclosed, ran.region.launches) == (1, 2)


def test_a_program_that_does_not_use_the_device_has_no_profile(profile: Profile, program: Path) -> None:
    assert profile(f"{program} nothing").reading.error == "Benchmark profiling failed: None"


def test_python_reaches_ranges_and_device_through_ctypes(profile: Profile, program: Path) -> None:
    folder = cupti_library.find_toolkit().cupti.resolve().parent
    runtime, nvtx = (next(folder.glob(f"{name}.so.*"), None) for name in ("libcudart", "libnvtx3interop"))
    if runtime is None or nvtx is None:
        pytest.skip("this toolkit has no libcudart or no libnvtx3interop beside CUPTI")
    script = (
        f"import ctypes; c = ctypes.CDLL('{runtime}'); n = ctypes.CDLL('{nvtx}'); p = ctypes.c_void_p(); "
        "c.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(1 << 26)); n.nvtxRangePushA(b'bench_region'); "
        "c.cudaMemset(p, 0, ctypes.c_size_t(1 << 26)); c.cudaDeviceSynchronize(); n.nvtxRangePop()"
    )
    ran = well(profile(f'{sys.executable} -c "{script}"'))
    assert ran.region.memset_ms > 0


def test_torch_is_recorded_as_it_is(profile: Profile) -> None:
    asked = [sys.executable, "-c", "import torch; assert torch.cuda.is_available()"]
    torch = subprocess.run(asked, capture_output=True, check=False)
    if torch.returncode != 0:
        pytest.skip("this Python has no torch")
    script = (
        "import torch; a = torch.randn(4096, 4096, device='cuda'); torch.cuda.synchronize(); "
        "torch.cuda.nvtx.range_push('bench_region'); b = a @ a; torch.cuda.synchronize(); torch.cuda.nvtx.range_pop()"
    )
    ran = profile(f'{sys.executable} -c "{script}"')
    assert (ran.code, ran.reading.error) == (0, None)
    assert ran.region.launches >= 1
    assert ran.region.kernel_ms > 0.5


def seconds(command: str, environment: dict[str, str]) -> float:
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1]) / 1e3


def test_recording_costs_little_per_launch(profile: Profile, program: Path) -> None:
    plain = statistics.median(seconds(f"{program} many", dict(os.environ)) for _ in range(3))
    runs = [profile(f"{program} many") for _ in range(3)]
    assert all(run.region.launches == SETTLING_LAUNCHES for run in runs)
    assert all(run.facts.dropped_records == 0 for run in runs)
    recorded = statistics.median(float(run.stdout) / 1e3 for run in runs)
    extra_us = (recorded - plain) / SETTLING_LAUNCHES * 1e6
    print(f"{SETTLING_LAUNCHES} launches: {plain:.3f} s alone, {recorded:.3f} s recorded, {extra_us:.2f} µs each")
    assert extra_us < 5


def test_short_ranges_take_no_longer_under_the_recorder(profile: Profile, program: Path) -> None:
    plain = statistics.median(seconds(f"{program} steady", dict(os.environ)) for _ in range(3))
    runs = [profile(f"{program} steady") for _ in range(3)]
    wall_s = statistics.median(run.region.wall_ms for run in runs) / 1e3
    print(f"100 ranges of 1 ms: {plain:.4f} s alone, {wall_s:.4f} s of recorded ranges")
    assert wall_s == near(plain)
    assert all(run.region.launches == 100 for run in runs)


@pytest.mark.parametrize("how", ["plain", "steady", "copies", "graph", "many", "streams"])
def test_times_agree_with_computeevals_own_library(
    profile: Profile, program: Path, how: str, tmp_path: Path, record_property: Any
) -> None:
    library = os.environ.get("COMPUTE_EVAL_CUPTI")
    if not library:
        pytest.skip("needs COMPUTE_EVAL_CUPTI")
    environment = {**os.environ, "NVTX_INJECTION64_PATH": library, "LD_PRELOAD": library}
    subprocess.run([str(program), how], env=environment, cwd=tmp_path, capture_output=True, check=True)
    theirs = json.loads((tmp_path / "profile.json").read_text())["nvtx_ranges"]["bench_region"]
    ours = profile(f"{program} {how}").region
    wall_ms = theirs.get("wall_clock_time_ms", 0.0)
    print(
        f"{how}: kernels {ours.kernel_ms:.3f} ms ours, {theirs['kernel_time_ms']:.3f} theirs; "
        f"copies {ours.memcpy_ms:.3f}, {theirs['memcpy_time_ms']:.3f}; wall {ours.wall_ms:.3f}, {wall_ms:.3f}"
    )
    # it records kernels one at a time, and then the launch of a graph is one record: see docs/decisions/0012
    assert ours.launches == theirs["kernel_invocations"] * (KERNELS_OF_A_GRAPH if how == "graph" else 1)
    if how != "many":  # whose empty kernels are all overhead
        assert ours.kernel_ms == near(theirs["kernel_time_ms"])
