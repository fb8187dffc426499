"""A benchmark by the wall clock that other programs lengthened is measured again, and else its time is flagged."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runners.agent.judges.host import SPARE_RUNS, host_during
from runners.agent.judges.registry import Judges
from runners.agent.sandbox.policy import Command, Outcome, Sandbox
from runners.wire.protocol import FlagScope, Report, Role, TimingPolicy, Witness
from tests.agent.machine import Machine, QuietSandbox, open_sandbox, shell_problem, temporary_folder
from tests.sandbox.boxes import LIMITS, Run, runner

OWN, REFERENCE = "true # own", "true # reference"


def ended(**seen: Any) -> Outcome:
    facts = {"exit_code": 0, "signal": None, "timed_out": False, "memory_exceeded": False, "cancelled": False}
    texts = {"stdout": "", "stderr": "", "truncated": False, "witness": Witness.SEEN}
    times = {"wall_ms": 1000.0, "cpu_ms": 1000.0, "peak_memory_bytes": 1}
    return Outcome(**{**facts, **texts, **times, **seen})


@pytest.mark.parametrize(
    ("seen", "is_busy"),
    [
        ({"lost_ms": 10.0, "others_ms": 2000.0}, False),
        ({"cpu_ms": 500.0, "lost_ms": 500.0, "others_ms": 1500.0}, True),
        ({"cpu_ms": 10.0, "lost_ms": 5.0, "others_ms": 2000.0}, False),  # it sleeps
        ({"cpu_ms": 2000.0, "lost_ms": 800.0, "others_ms": 20.0}, False),  # its own threads wait for each other
        ({"cpu_ms": 8000.0, "lost_ms": 500.0, "others_ms": 500.0}, True),  # one of its threads has to share a core
        ({"steal_ms": 200.0}, True),
        ({"stalled_ms": 2500.0, "wall_ms": 3500.0}, True),
        ({"wall_ms": 10.0, "cpu_ms": 9.0, "lost_ms": 1.0, "others_ms": 10.0}, False),  # too short to tell
    ],
)
def test_a_host_is_busy_if_its_other_work_lengthened_the_run(seen: dict[str, float], is_busy: bool) -> None:
    assert host_during(ended(**seen)).is_busy == is_busy


class SharedSandbox(QuietSandbox):
    """The real sandbox on a machine where others take half of the time of a solution's first benchmarks."""

    def __init__(self, inner: Sandbox) -> None:
        super().__init__(inner)
        self.left = {OWN: 0, REFERENCE: 0}
        """By solution, the number of benchmarks that are still to be disturbed."""
        self.n_runs = {OWN: 0, REFERENCE: 0}

    def run(self, command: Command) -> Outcome:
        outcome = super().run(command)
        if command.shell != "sh bench.sh":
            return outcome
        solution = (command.workspace / "solution.sh").read_text()
        self.n_runs[solution] += 1
        self.left[solution] -= 1
        busy = {"lost_ms": outcome.wall_ms / 2, "others_ms": outcome.wall_ms, "wall_ms": outcome.wall_ms + 100.0}
        return replace(outcome, **busy) if self.left[solution] >= 0 else outcome


@pytest.fixture
def shared(machine: Machine) -> SharedSandbox:
    sandbox = SharedSandbox(open_sandbox())
    machine.environment = replace(machine.environment, sandbox=sandbox)
    machine.judges = Judges(machine.environment)
    return sandbox


@pytest.fixture
def judge(machine: Machine, shared: SharedSandbox) -> Callable[..., Report]:
    problem = shell_problem(
        build_command=None,
        test_command="true",
        benchmark_command="sh bench.sh",
        timing_mode={"type": "process"},
        context={"bench.sh": "sleep 0.15; sh solution.sh"},
        baseline={"solution.sh": REFERENCE},
    )
    return lambda **options: machine.judge(problem, {"solution.sh": OWN}, **options).report


def codes(report: Report) -> list[tuple[str, FlagScope]]:
    return [(flag.code, flag.scope) for flag in report.flags]


@pytest.mark.parametrize("solution", [OWN, REFERENCE])
def test_a_disturbed_quick_time_is_flagged_and_not_repeated(judge: Any, shared: SharedSandbox, solution: str) -> None:
    shared.left[solution] = 1
    assert codes(judge()) == [("busy_host", FlagScope.TIME)]
    assert shared.n_runs == {OWN: 1, REFERENCE: 1}


def test_a_disturbed_baseline_is_not_shared(judge: Any, shared: SharedSandbox) -> None:
    shared.left[REFERENCE] = 1
    assert codes(judge()) == [("busy_host", FlagScope.TIME)]
    assert codes(judge()) == []


@pytest.mark.rest
def test_ranked_blocks_are_repeated_and_one_disturbed_run_of_six_decides_nothing(
    judge: Any, shared: SharedSandbox
) -> None:
    shared.left[OWN] = SPARE_RUNS + 1
    report = judge(timing_policy=TimingPolicy.RANKED)
    assert shared.n_runs == {OWN: 6 + SPARE_RUNS, REFERENCE: 6 + SPARE_RUNS}
    assert codes(report) == []
    shared.left[OWN] = 99
    assert codes(judge(timing_policy=TimingPolicy.RANKED)) == [("busy_host", FlagScope.TIME)]


def test_load_and_steal_are_stored_with_each_measurement(judge: Any) -> None:
    measurements = judge().measurements
    assert {one.role for one in measurements} == {Role.CANDIDATE, Role.BASELINE}
    names = {"host_lost_share", "host_others_cores", "host_steal_share", "host_load_1m"}
    assert all(names <= one.device.keys() for one in measurements)


BUSY = """\
import os, time
children = []
for _ in range(len(os.sched_getaffinity(0)) - 1):
    children.append(os.fork())
    if not children[-1]: break
end = time.process_time() + 0.4
while time.process_time() < end: pass
if 0 not in children:
    for child in children: os.waitpid(child, 0)
"""
"""A process for each core: a group of processes may have a fair share of the cores, however many others there are."""


@contextmanager
def every_core_busy() -> Iterator[None]:
    """Two programs for each core want it all."""
    loop = [sys.executable, "-c", "print(flush=True)\nwhile True: pass"]
    hogs = [subprocess.Popen(loop, stdout=subprocess.PIPE) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        for hog in hogs:
            assert hog.stdout and hog.stdout.readline()
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.communicate()


@pytest.fixture
def run(workspace: Path) -> Run:
    return runner(open_sandbox(), workspace)


@pytest.fixture
def workspace() -> Iterator[Path]:
    with temporary_folder() as folder:
        yield Path(folder)


def test_a_program_that_computes_on_a_busy_machine_loses_time_and_one_that_sleeps_does_not(
    run: Run, workspace: Path
) -> None:
    (workspace / "busy.py").write_text(BUSY)
    with every_core_busy():
        computing = run("python3 busy.py", LIMITS, trace=True)
        sleeping = run("sleep 1", LIMITS, trace=True)
    assert computing.succeeded
    assert computing.others_ms > 0
    assert host_during(computing).is_busy
    assert computing.wall_ms - computing.lost_ms < computing.wall_ms * 0.75
    assert sleeping.wall_ms - sleeping.cpu_ms > 900
    assert host_during(sleeping).lost_share < host_during(computing).lost_share / 2
