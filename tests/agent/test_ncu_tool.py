"""How ncu is asked what it is, and by what way it shall reach the programs that it profiles. A script stands for it."""

from pathlib import Path

import pytest

from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.profilers import ncu_tool
from runners.agent.profilers.ncu import CONNECTION, Ncu
from tests.agent.machine import shell_problem

PROBLEM = shell_problem(benchmark_command="./bench", timing_mode={"type": "kernels"})


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The `ncu` of the PATH, on a machine with a driver."""
    monkeypatch.setattr(ncu_tool, "DRIVER_SIGNS", ("/",))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    path = tmp_path / "ncu"
    path.write_text("#!/bin/sh\necho 'Version 2025.3.1.0 --csv'\n")
    path.chmod(0o755)
    return path


def test_ncu_is_told_to_use_the_one_kind_of_socket_that_a_sandbox_allows(program: Path, tmp_path: Path) -> None:
    attachment = Ncu(PROBLEM).attach("./bench", tmp_path)
    assert attachment.environment[CONNECTION] == "uds"
    assert f"{program} --csv --metrics" in attachment.shell


def test_an_ncu_that_does_not_answer_is_not_waited_for(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(ncu_tool, "ANSWER_SECONDS", 0.3)
    with pytest.raises(ProfilerUnavailable, match="timed out after"):
        Ncu(PROBLEM)
