"""A started command lives beside its caller until it ends, is stopped or meets a limit."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from runners.agent.sandbox import Command, Running, Sandbox, SandboxFault
from tests.patience import until
from tests.sandbox.boxes import EVERY, LIMITS, NAP_SECONDS, processes_named

NAP, NAPPING = f"sleep {NAP_SECONDS}", f"sleep\0{NAP_SECONDS}"
"""A command, and what is in the command line of its process alone."""


@pytest.fixture(params=EVERY)
def box(request: pytest.FixtureRequest, opened: Callable[[str], Sandbox]) -> Sandbox:
    return opened(request.param)


def appears(word: str, count: int = 1) -> bool:
    """Whether so many processes hold `word` in their command lines before long."""
    return until(lambda: len(processes_named(word)) >= count)


def disappears(word: str) -> bool:
    return until(lambda: not processes_named(word))


@pytest.fixture
def sleeping(box: Sandbox, workspace: Path) -> Iterator[Running]:
    """A command of two processes that would sleep for hours."""
    with box.start(Command(f"{NAP} & {NAP}", workspace, LIMITS)) as running:
        assert appears(NAPPING, 2)
        yield running


def test_a_started_command_lives_until_it_is_stopped(sleeping: Running) -> None:
    sleeping.stop()
    outcome = sleeping.wait()
    assert (outcome.cancelled, outcome.timed_out, outcome.succeeded) == (True, False, False)
    assert processes_named(NAPPING) == []


def test_stopping_a_command_that_has_ended_changes_nothing(box: Sandbox, workspace: Path) -> None:
    with box.start(Command("exit 3", workspace, LIMITS)) as running:
        outcome = running.wait()
        running.stop()
        assert running.wait() == outcome
    assert (outcome.exit_code, outcome.cancelled) == (3, False)


def test_an_error_in_the_caller_leaves_no_process_behind(box: Sandbox, workspace: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        box.start(Command(NAP, workspace, LIMITS)),
    ):
        assert appears(NAPPING)
        raise ZeroDivisionError
    assert processes_named(NAPPING) == []


def test_limits_hold_while_nobody_waits(box: Sandbox, workspace: Path) -> None:
    with box.start(Command(NAP, workspace, replace(LIMITS, wall_seconds=3))) as running:
        assert appears(NAPPING)
        assert disappears(NAPPING)
        assert running.wait().timed_out


def test_a_command_outlives_the_thread_that_started_it(box: Sandbox, workspace: Path) -> None:
    started: list[Running] = []

    def start() -> None:
        started.append(box.start(Command("until test -e go; do sleep 0.05; done; echo well", workspace, LIMITS)))
        assert appears("until test -e go")

    starter = threading.Thread(target=start)
    starter.start()
    starter.join()
    (workspace / "go").touch()
    with started[0] as running:
        assert running.wait().stdout == "well\n"


def test_a_sandbox_that_does_not_come_up_is_told_to_who_waits(box: Sandbox, workspace: Path) -> None:
    with box.start(Command("true", workspace / "missing", LIMITS)) as running, pytest.raises(SandboxFault):
        running.wait()


AGENT = """\
import sys, warnings
from pathlib import Path
from runners.agent.sandbox import Command
from tests.sandbox.boxes import LIMITS, open_sandbox
cache, workspace = map(Path, sys.argv[2:4])
command = Command(sys.argv[4], workspace, LIMITS)
open_sandbox(sys.argv[1], cache).start(command)
sys.stdin.read()
"""


def test_a_started_command_ends_with_its_agent(box: Sandbox, cache: Path, workspace: Path) -> None:
    arguments = [sys.executable, "-c", AGENT, box.name, str(cache), str(workspace), f"{NAP} & {NAP}"]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE) as agent:
        try:
            assert appears(NAPPING, 2)
        finally:
            agent.send_signal(signal.SIGKILL)
    assert disappears(NAPPING)
