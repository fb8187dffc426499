"""libpodium_cupti.so as it is built on a node: NVTX ranges of real programs, and what the build needs and leaves.

NVTX needs no GPU; what CUPTI delivers is tried in tests/gpu/test_cupti_on_device.py.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.ground.native import default_cache_directory
from runners.agent.profilers import cupti_library
from runners.agent.profilers.cupti import Cupti
from runners.agent.profilers.cupti_library import Library, build, find_toolkit, toolkit_at, toolkit_homes
from runners.agent.profilers.cupti_merge import RangeSum, sum_ranges
from runners.agent.profilers.cupti_notes import Notes, read_notes
from runners.agent.sandbox.policy import Command
from tests.agent.machine import temporary_folder
from tests.requirements import requires
from tests.sandbox.boxes import LIMITS, open_sandbox

pytestmark = requires("nvcc")

PROGRAM = Path(__file__).parent / "cupti_nvtx_program.c"
LONG_MS = 60_000


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    with temporary_folder() as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def library() -> Library:
    return build(find_toolkit(), default_cache_directory())


@pytest.fixture(scope="module")
def program(room: Path) -> Path:
    made = room / "program"
    includes = [f"-I{folder}" for folder in find_toolkit().includes]
    subprocess.run(["gcc", *includes, str(PROGRAM), "-o", str(made), "-ldl", "-pthread"], check=True)
    return made


class Run:
    """Runs commands with the library in their environment and reads what they leave."""

    def __init__(self, library: Library, notes: Path) -> None:
        self.notes = notes
        self.environment = {
            **os.environ,
            "CUDA_INJECTION64_PATH": str(library.path),
            "NVTX_INJECTION64_PATH": str(library.path),
            "PODIUM_CUPTI_NOTES": str(notes),
        }

    def __call__(self, shell: str) -> Notes:
        done = subprocess.run(
            ["bash", "-c", shell], env=self.environment, capture_output=True, text=True, timeout=60, check=True
        )
        assert set(done.stdout.split()) <= {"done"}
        assert done.stderr == ""
        found = read_notes(self.notes, LONG_MS)
        return found or Notes((), 0, 0)

    def ranges(self, shell: str) -> dict[str, RangeSum]:
        return sum_ranges(self(shell).processes)


@pytest.fixture
def run(library: Library, tmp_path: Path) -> Run:
    return Run(library, tmp_path)


def wall_ms(one: RangeSum) -> float:
    return one.wall_ns / 1e6


def test_every_kind_of_range_is_seen_by_its_name(run: Run, program: Path) -> None:
    ranges = run.ranges(f"{program} kinds")
    assert list(ranges) == [
        "push ascii",
        "push wide 日",
        "push attributes",
        "null domain",
        "domain wide",
        "registered",
        "registered wide",
        "start ascii",
        "start wide",
        "start in domain",
    ]
    assert all((one.instances, one.unclosed) == (1, 0) for one in ranges.values())
    assert all(5 <= wall_ms(one) < 2000 for one in ranges.values())


def test_misuse_of_nvtx_harms_neither_program_nor_profile(run: Run, program: Path) -> None:
    ranges = run.ranges(f"{program} oddities")
    assert list(ranges) == ["level is four", 'say "hi"\n\\ \ufffd', "left open"]
    assert (ranges["left open"].instances, ranges["left open"].unclosed) == (0, 1)


def test_threads_ranges_of_one_name_are_added_up(run: Run, program: Path) -> None:
    shared = run.ranges(f"{program} threads")["shared"]
    assert shared.instances == 4
    assert wall_ms(shared) >= 20


def test_a_forked_child_tells_its_own_ranges_and_not_its_parents(run: Run, program: Path) -> None:
    notes = run(f"{program} forks")
    assert sorted(one.name for process in notes.processes for one in process.ranges) == ["child", "parent"]
    assert len({process.pid for process in notes.processes}) == 2
    assert all(one.instances == 1 for process in notes.processes for one in process.ranges)


@pytest.mark.parametrize(
    ("shell", "times"),
    [
        ("true && {0} plain", 1),
        ("{0} plain && {0} plain", 2),
        ("X=1 PYTHONPATH=. {0} plain", 1),
        ("for i in 1 2 3; do {0} plain; done", 3),
        ("{0} plain | cat", 1),
        ("({0} plain; exec {0} plain)", 2),
    ],
)
def test_any_shell_command_will_do(run: Run, program: Path, shell: str, times: int) -> None:
    assert run.ranges(shell.format(program))["plain"].instances == times


def test_shells_and_programs_without_nvtx_leave_nothing(run: Run, program: Path) -> None:
    assert run(f"true && {program} && {shlex.quote(sys.executable)} -c 'pass'").processes == ()


def test_the_last_words_are_written_at_a_quick_exit_too(run: Run, program: Path) -> None:
    assert run.ranges(f"{program} quick")["before quick_exit"].instances == 1


@pytest.mark.parametrize("name", [pytest.param("bubblewrap", marks=requires("bubblewrap")), "unconfined"])
def test_a_sandbox_shows_what_the_profiler_attaches(
    name: str, library: Library, program: Path, room: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(cupti_library, "why_unavailable", lambda: "")
    monkeypatch.setattr(cupti_library, "find_or_build", lambda: library)
    workspace, notes = (Path(tempfile.mkdtemp(dir=room)) for _ in range(2))
    for folder in (workspace, notes):
        folder.chmod(0o777)
    shutil.copy(program, workspace)
    attachment = Cupti().attach("./program threads && ./program forks", notes)
    sandbox = open_sandbox(name, default_cache_directory())
    outcome = sandbox.run(
        Command(
            attachment.shell,
            workspace,
            LIMITS,
            environment=attachment.environment,
            mounts=attachment.mounts,
            trace=True,
        )
    )
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    found = read_notes(notes, outcome.wall_ms)
    assert found is not None
    assert {one.name: one.instances for process in found.processes for one in process.ranges} == {
        "shared": 4,
        "parent": 1,
        "child": 1,
    }


def test_python_reaches_nvtx_through_ctypes(run: Run) -> None:
    interop = next((path for path in find_toolkit().cupti.resolve().parent.glob("libnvtx3interop.so*")), None)
    if interop is None:
        pytest.skip("this toolkit has no libnvtx3interop")
    script = f"import ctypes; n = ctypes.CDLL({str(interop)!r}); n.nvtxRangePushA(b'python'); n.nvtxRangePop()"
    assert run.ranges(f'{shlex.quote(sys.executable)} -c "{script}"')["python"].instances == 1


def test_a_range_costs_less_than_a_few_microseconds(run: Run, program: Path) -> None:
    many = run.ranges(f"{program} many")["many"]
    assert many.instances == 200_000
    assert many.wall_ns / many.instances < 5_000


def test_without_a_notes_folder_the_library_does_nothing(run: Run, program: Path) -> None:
    del run.environment["PODIUM_CUPTI_NOTES"]
    assert run(f"{program} kinds").processes == ()
    assert list(run.notes.iterdir()) == []


def test_the_built_folder_holds_all_that_a_program_loads(library: Library, room: Path) -> None:
    needed = subprocess.run(["ldd", str(library.path)], capture_output=True, text=True, check=True).stdout
    (cupti,) = (line for line in needed.splitlines() if "libcupti" in line)
    assert f"=> {library.path.parent}/" in cupti
    assert "libstdc++" not in needed
    modes = {
        path.name: oct(path.stat().st_mode & 0o777) for path in [library.path.parent, *library.path.parent.iterdir()]
    }
    assert set(modes.values()) == {"0o755"}


def test_it_exports_its_entry_points_alone(library: Library) -> None:
    told = subprocess.run(["nm", "-D", "--defined-only", str(library.path)], capture_output=True, text=True, check=True)
    assert {line.split()[-1] for line in told.stdout.splitlines()} == {
        "InitializeInjection",
        "InitializeInjectionNvtx2",
    }


def test_it_is_built_once(library: Library, monkeypatch: Any) -> None:
    toolkit = find_toolkit()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert build(toolkit, default_cache_directory()) == library


def test_without_a_compiler_it_says_so(room: Path, monkeypatch: Any) -> None:
    toolkit = find_toolkit()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ProfilerUnavailable, match=r"apt install g\+\+"):
        build(toolkit, room / "elsewhere")


def test_without_cupti_it_says_where_it_looked(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PODIUM_CUDA_HOME", str(tmp_path))
    monkeypatch.setattr(cupti_library, "wheel_folders", lambda: iter(()))
    assert list(toolkit_homes()) == [tmp_path]
    with pytest.raises(ProfilerUnavailable, match=f"toolkits searched: {tmp_path}"):
        find_toolkit()


def test_wheels_make_a_toolkit_together(tmp_path: Path) -> None:
    for path in ("cuda_cupti/include/cupti.h", "cuda_runtime/include/cuda.h", "nvtx/include/nvtx3/nvToolsExt.h"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    homes = sorted(tmp_path.iterdir())
    assert toolkit_at(homes) is None
    (tmp_path / "cuda_cupti/lib").mkdir()
    (tmp_path / "cuda_cupti/lib/libcupti.so.12").touch()
    found = toolkit_at(homes)
    assert found is not None
    assert found.cupti.name == "libcupti.so.12"
    assert len(found.includes) == 3


def test_a_prebuilt_library_is_taken_as_it_is(tmp_path: Path, monkeypatch: Any) -> None:
    prebuilt = tmp_path / "libpodium_cupti.so"
    prebuilt.write_bytes(b"built elsewhere")
    monkeypatch.setenv("PODIUM_CUPTI_LIBRARY", str(prebuilt))
    cupti_library.find_or_build.cache_clear()
    assert cupti_library.find_or_build().path == prebuilt
    cupti_library.find_or_build.cache_clear()
    monkeypatch.setenv("PODIUM_CUPTI_LIBRARY", str(tmp_path / "none"))
    with pytest.raises(ProfilerUnavailable, match="mend or unset"):
        cupti_library.find_or_build()


def test_a_machine_without_the_driver_is_told_so(monkeypatch: Any) -> None:
    monkeypatch.setattr(cupti_library, "DRIVER_SIGNS", ("/nowhere/nvidia",))
    assert "no NVIDIA driver" in cupti_library.why_unavailable()
