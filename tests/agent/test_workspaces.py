"""Workspaces hold what they should, and never outlive their use."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runners.agent.ground.errors import UnusableProblem
from runners.agent.job.workspace import Workspaces
from tests.agent.machine import shell_problem, subject_of


def test_later_files_replace_earlier_ones_in_compute_evals_order() -> None:
    problem = shell_problem(context={"a": "context", "b": "context"}, tests={"b": "test"})
    inputs = subject_of(problem, {"a": "solution"}).inputs
    assert inputs == {"a": b"solution", "b": b"test"}


def test_content_is_written_byte_for_byte(tmp_path: Path) -> None:
    content = "no newline at the end, a \r\n and a → ²".encode()
    with Workspaces(tmp_path).open({"deep/er/file": content}) as folder:
        assert (folder / "deep/er/file").read_bytes() == content


def test_the_folder_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    with Workspaces(tmp_path).open({"a": b""}) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


def test_files_whose_permissions_were_taken_away_are_removed_too(tmp_path: Path) -> None:
    with Workspaces(tmp_path).open({"locked/inner/file": b"x"}) as folder:
        (folder / "locked/inner").chmod(0)
        (folder / "locked").chmod(0)
    assert not folder.exists()


def test_folders_nested_beyond_reach_are_removed_too(tmp_path: Path) -> None:
    nest = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')\nos.chmod('.', 0)"
    try:
        with Workspaces(tmp_path).open({}) as folder:
            subprocess.run([sys.executable, "-c", nest], cwd=folder, check=True)
        assert not folder.exists()
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)  # pytest could not


def test_the_folder_is_removed_when_the_work_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="boom"), Workspaces(tmp_path).open({"a": b""}) as folder:
        raise RuntimeError("boom")
    assert not folder.exists()


def test_links_out_of_the_folder_are_not_followed_when_it_is_removed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep").write_text("kept")
    with Workspaces(tmp_path / "work").open({}) as folder:
        (folder / "link").symlink_to(outside)
    assert (outside / "keep").read_text() == "kept"


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x"])
def test_a_problem_whose_own_files_would_leave_the_folder_cannot_be_used(tmp_path: Path, path: str) -> None:
    problem = shell_problem(context={path: "x"})
    inputs = subject_of(problem, {"solution.sh": "true"}).inputs
    with pytest.raises(UnusableProblem, match="outside the workspace"), Workspaces(tmp_path).open(inputs):
        pass


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_uses_is_not(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from runners.agent.job.workspace import Workspaces\n"
        "with Workspaces(Path(sys.argv[1])).open({'a': b''}) as folder: print(folder, flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    theirs = Path(process.stdout.readline().strip())
    with Workspaces(tmp_path).open({"b": b""}) as ours:
        assert theirs.exists()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        Workspaces(tmp_path).close()
        assert not theirs.exists()
        assert ours.exists()


def test_a_half_made_room_is_left_alone_while_it_is_young(tmp_path: Path) -> None:
    young, old = tmp_path / "young", tmp_path / "old"
    young.mkdir()
    old.mkdir()
    os.utime(old, (time.time() - 3600,) * 2)
    Workspaces(tmp_path).close()
    assert young.exists()
    assert not old.exists()
