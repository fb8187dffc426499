"""The description of processes on a GPU: enough to find out why one was not left."""

import os
import subprocess
from pathlib import Path

from runners.agent.devices.occupants import UNSEEN, describe
from tests.patience import until


def test_a_process_is_named_with_its_state_its_user_and_its_parent() -> None:
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        words = f"process {sleeper.pid} (sleep, sleeping, user {os.getuid()}, parent {os.getpid()}"
        assert until(lambda: words in describe([sleeper.pid]))
        sleeper.kill()


def test_one_that_is_dead_and_not_waited_for_is_told_apart() -> None:
    with subprocess.Popen(["true"]) as ended:
        assert until(lambda: "(true, zombie" in describe([ended.pid]))


def test_one_that_cannot_be_seen_is_said_to_be_so() -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    assert describe([gone.pid]) == f"process {gone.pid} ({UNSEEN})"
    assert describe([]) == "no process"


def test_its_numbers_in_inner_namespaces_are_given(tmp_path: Path) -> None:
    (tmp_path / "508").mkdir()
    (tmp_path / "508" / "status").write_text("Name:\tburn one\nState:\tD (disk sleep)\nPPid:\t7\nNSpid:\t508\t12\t3\n")
    assert describe([508], tmp_path) == "process 508 (burn one, stuck in the kernel, parent 7, inside 12/3)"
