"""Leftover control groups are swept at start, but never those of an agent that lives."""

import os
import subprocess
from pathlib import Path

from runners.agent.sandbox.cages import GROUP_PREFIX, sweep


def test_only_the_groups_of_dead_agents_go(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    dead, alive = tmp_path / f"{GROUP_PREFIX}{gone.pid}-00", tmp_path / f"{GROUP_PREFIX}{os.getpid()}-00"
    for folder in (dead, alive):
        folder.mkdir()
    sweep(tmp_path)
    assert not dead.exists()
    assert alive.exists()
