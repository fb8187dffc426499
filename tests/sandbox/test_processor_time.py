"""A command with a limit on processor time is not out of time because others keep it from the cores."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runners.agent.sandbox.policy import PATIENCE, Limits
from tests.patience import until
from tests.sandbox.boxes import LIMITS, NAP_SECONDS, Run, processes_named

pytestmark = pytest.mark.rest


def limits(wall_seconds: float, processor_seconds: float) -> Limits:
    return Limits(**{**vars(LIMITS), "wall_seconds": wall_seconds, "processor_seconds": processor_seconds})


def keep_from_the_cores(word: str, seconds: float, then: Path) -> None:
    """Once the processes named so are there, they get no processor time for a while, as beside a great load."""
    assert until(lambda: processes_named(word))
    found = processes_named(word)
    for process in found:
        os.kill(process, signal.SIGSTOP)
    time.sleep(seconds)
    for process in found:
        os.kill(process, signal.SIGCONT)
    then.touch()


def test_a_command_that_others_keep_from_the_cores_is_not_out_of_time(run: Run, workspace: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        load = pool.submit(keep_from_the_cores, NAP_SECONDS, 2.5, workspace / "go")
        outcome = run(f": {NAP_SECONDS}; until [ -e go ]; do sleep 0.05; done; echo built", limits(2, 2))
        load.result()
    assert outcome.wall_ms > 2500
    assert (outcome.succeeded, outcome.stdout) == (True, "built\n")


@pytest.mark.parametrize(
    "shell",
    [
        "while :; do :; done",
        "while :; do head -c 1000000 /dev/zero | md5sum > /dev/null; done",
        f"(while :; do :; done) & sleep {NAP_SECONDS}",
    ],
    ids=["itself", "in children that end", "in the background"],
)
def test_a_command_ends_once_it_has_used_both_its_times(run: Run, shell: str) -> None:
    outcome = run(shell, limits(1, 0.3))
    assert outcome.timed_out
    assert outcome.cpu_ms >= 300
    assert 1000 <= outcome.wall_ms < PATIENCE * 1000


def test_a_command_that_uses_its_processor_time_at_once_has_all_its_wall_time(run: Run) -> None:
    outcome = run("for i in $(seq 20); do head -c 10000000 /dev/zero | md5sum; done; sleep 0.2", limits(10, 0.1))
    assert outcome.succeeded


def test_a_command_that_sleeps_ends_at_a_multiple_of_its_wall_time(run: Run) -> None:
    began = time.monotonic()
    outcome = run(f"sleep {NAP_SECONDS}", limits(0.3, 0.3))
    assert outcome.timed_out
    assert PATIENCE * 300 <= outcome.wall_ms <= 1e3 * (time.monotonic() - began)
