"""A full disk is this node's fault, never a contestant's failure, and nothing that happened on it is remembered."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runners.agent.ground.errors import DiskFull, UnusableProblem
from runners.agent.job.space import FLOOR_BYTES, Space
from runners.agent.job.workspace import Workspaces
from runners.agent.judges.registry import Judges
from runners.wire.protocol import Verdict
from tests.agent.machine import Machine, shell_problem, temporary_folder
from tests.requirements import requires

BLOCK = 4096
FAILS_ON_GO = "until test -e go; do sleep 0.01; done; exit 1"
HELLO = {"hello.cpp": '#include <cstdio>\nint main() { std::puts("hello"); }\n'}


class Disk:
    """Stands in for the kernel's figures of a disk, which no test may fill."""

    def __init__(self, free_bytes: int = 100 << 30, size_bytes: int = 500 << 30) -> None:
        self.free_bytes, self.size_bytes = free_bytes, size_bytes
        self.free_files, self.n_files = 1 << 20, 1 << 21
        self.n_looks = 0
        self.looked: Callable[[], None] = lambda: None
        """Called before each look."""

    def __call__(self, _: Path) -> os.statvfs_result:
        self.n_looks += 1
        self.looked()
        free = self.free_bytes // BLOCK
        return os.statvfs_result(
            (BLOCK, BLOCK, self.size_bytes // BLOCK, free, free, self.n_files, self.free_files, self.free_files, 0, 255)
        )

    def space(self, make_room: Callable[[], None] = lambda: None) -> Space:
        return Space([Path()], make_room, self)


def on(machine: Machine, disk: Disk) -> Machine:
    """The same machine with this disk."""
    space = disk.space(machine.environment.builds.give_way)
    machine.environment = replace(machine.environment, space=space)
    machine.judges = Judges(machine.environment)
    return machine


def test_a_node_needs_a_file_of_the_usual_maximum_size() -> None:
    assert Disk(FLOOR_BYTES).space().shortage() == ""
    assert Disk(FLOOR_BYTES - BLOCK).space().shortage() == "less than 1,024 MiB are free"


def test_a_small_disk_needs_a_quarter() -> None:
    assert Disk(1 << 20, 4 << 20).space().shortage() == ""
    assert Disk(512 << 10, 4 << 20).space().shortage() == "less than 1 MiB are free"


def test_a_disk_without_room_for_files_is_full() -> None:
    disk = Disk()
    disk.free_files = 7
    assert disk.space().shortage() == "there is room for less than 10,000 files"


def test_a_filesystem_without_a_bound_on_files_is_not_full() -> None:
    disk = Disk()
    disk.free_files = disk.n_files = 0
    assert disk.space().shortage() == ""


def test_a_disk_that_cannot_be_read_is_a_shortage(tmp_path: Path) -> None:
    assert Space([tmp_path / "gone"], list).shortage() == "it cannot be read: No such file or directory"


def test_every_disk_counts() -> None:
    disks = {Path("a"): Disk(), Path("b"): Disk(free_bytes=0)}
    assert Space(list(disks), list, lambda folder: disks[folder](folder)).shortage()


def test_no_command_starts_on_a_full_disk(fresh_machine: Machine) -> None:
    machine = on(fresh_machine, Disk(free_bytes=0))
    with pytest.raises(DiskFull, match="less than 1,024 MiB are free"):
        machine.judge(shell_problem(test_command="touch /tmp/ran"), {"solution.sh": "x"})
    assert machine.leftovers() == []


def test_a_failure_counts_where_there_was_room(fresh_machine: Machine) -> None:
    machine = on(fresh_machine, Disk())
    assert machine.judge(shell_problem(), {"solution.sh": "exit 1"}).report.verdict == Verdict.TEST_FAILED


@pytest.mark.parametrize("step", [{"build_command": FAILS_ON_GO}, {"build_command": None, "test_command": FAILS_ON_GO}])
def test_a_failure_is_a_fault_where_the_disk_was_full_for_a_moment(
    fresh_machine: Machine, step: dict[str, Any]
) -> None:
    """The command fails after the disk was seen full. By then it has room again."""
    disk = Disk()
    machine = on(fresh_machine, disk)
    plenty = disk.free_bytes

    def fill_for_a_moment() -> None:
        disk.free_bytes = 0 if disk.n_looks == 2 else plenty
        for workspace in machine.leftovers():
            (workspace / "go").touch()

    disk.looked = fill_for_a_moment
    with pytest.raises(DiskFull):
        machine.judge(shell_problem(**step), {"solution.sh": "x"})
    assert disk.space().shortage() == ""
    assert machine.leftovers() == []
    assert list(machine.builds_folder.glob("*/*")) == []


def test_a_command_that_fills_its_workspace_past_the_limit_fails_by_itself(fresh_machine: Machine) -> None:
    disk = Disk()
    machine = on(fresh_machine, disk)

    def fill_with_the_workspace() -> None:
        full = any((workspace / "big").exists() for workspace in machine.leftovers())
        disk.free_bytes = 0 if full else 100 << 30

    disk.looked = fill_with_the_workspace
    fill = "for n in big 2 3; do head -c 40M /dev/zero > $n; done; sleep 0.2; exit 1"
    report = machine.judge(shell_problem(build_command=None, test_command=fill), {"solution.sh": "x"}).report
    assert report.verdict == Verdict.TEST_FAILED


def test_a_build_that_ends_well_on_a_full_disk_is_a_fault(fresh_machine: Machine) -> None:
    """It may have ignored that a file could not be written."""
    disk = Disk()
    machine = on(fresh_machine, disk)

    def fill() -> None:
        disk.free_bytes = 0 if disk.n_looks > 1 else disk.free_bytes

    disk.looked = fill
    with pytest.raises(DiskFull):
        machine.judge(shell_problem(build_command="true"), {"solution.sh": "x"})
    assert list(machine.builds_folder.glob("*/*")) == []


def test_a_test_that_passes_on_a_full_disk_has_passed(fresh_machine: Machine) -> None:
    disk = Disk()
    machine = on(fresh_machine, disk)

    def fill() -> None:
        disk.free_bytes = 0 if disk.n_looks > 1 else disk.free_bytes

    disk.looked = fill
    assert machine.judge(shell_problem(build_command=None), {"solution.sh": "true"}).report.verdict == Verdict.PASSED


def test_kept_builds_give_way_when_the_disk_is_full(fresh_machine: Machine) -> None:
    """Otherwise a node with a small disk would take itself out by its own cache, for good."""
    disk = Disk()
    machine = on(fresh_machine, disk)
    plenty = disk.free_bytes

    def fill_by_builds() -> None:
        disk.free_bytes = 0 if len(list(machine.builds_folder.glob("*/*"))) > 2 else plenty

    disk.looked = fill_by_builds
    problem = shell_problem(build_command="cp solution.sh product")
    for n in range(6):
        assert machine.judge(problem, {"solution.sh": f"exit 0 # {n}"}).report.verdict == Verdict.PASSED
    assert machine.judge(problem, {"solution.sh": "exit 0 # 5"}).report.provenance.build_cached
    assert not machine.judge(problem, {"solution.sh": "exit 0 # 0"}).report.provenance.build_cached


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A real disk of 4 MiB."""
    with temporary_folder() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=755", "tmpfs", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def fill_up(folder: Path, left_bytes: int = 12 << 10) -> Path:
    facts = os.statvfs(folder)
    filler = folder / "filler"
    filler.write_bytes(bytes(facts.f_bavail * facts.f_frsize - left_bytes))
    return filler


@requires("tmpfs")
def test_honest_code_passes_once_the_disk_has_room_again(small_disk: Path) -> None:
    machine = Machine(small_disk)
    filler = fill_up(small_disk)
    problem = shell_problem(build_command="g++ hello.cpp -o hello", test_command="./hello")
    with pytest.raises(DiskFull):
        machine.judge(problem, HELLO)
    filler.unlink()
    report = machine.judge(problem, HELLO).report
    assert (report.verdict, report.provenance.build_cached) == (Verdict.PASSED, False)
    machine.environment.close()


@requires("tmpfs")
def test_files_that_find_no_room_are_no_fault_of_the_problem(small_disk: Path) -> None:
    workspaces = Workspaces(small_disk)
    fill_up(small_disk)
    with pytest.raises(OSError, match="No space left"), workspaces.open({"big": bytes(64 << 10)}):
        pass
    with pytest.raises(UnusableProblem), workspaces.open({"../outside": b""}):
        pass
    assert list(small_disk.glob("*/big")) == []
