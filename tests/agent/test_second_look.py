"""A quick benchmark that waits at the gate and fails is measured again alone, unless it has plainly hung."""

from pathlib import Path
from typing import Any

import pytest

from problems.spec.problem import CommandProblem
from runners.agent import pipeline
from runners.agent.profilers.base import Attachment, Reading
from runners.agent.sandbox.policy import Mount, Outcome
from runners.protocol import Clock
from tests.agent.machine import Machine, shell_problem

# Asks for the device as the profiler's library does, and works for as long as it is let.
HANGS = """
import mmap, os, struct, sys, time
with open(os.environ["PODIUM_GATE"], "r+b") as file:
    page = mmap.mmap(file.fileno(), 40)
struct.pack_into("=II", page, 4, 1, 1)
while not page[0]:
    time.sleep(0.001)
struct.pack_into("=I", page, 4, 0)
while True:
    time.sleep(1)
"""


class AtTheGate:
    """A timer whose benchmarks wait at the gate, and which counts them."""

    clock = Clock.IN_PROCESS
    name = "counts"
    waits_at_gate = True
    patience = 1.0

    def __init__(self) -> None:
        self.n_runs = 0

    def attach(self, shell: str, notes: Path) -> Attachment:
        self.n_runs += 1
        return Attachment(shell, {}, (Mount(notes, str(notes), writable=True),))

    def read(self, _problem: CommandProblem, _notes: Path, _outcome: Outcome) -> Reading:
        return Reading(5.0)

    def own_failure(self, _notes: Path, _outcome: Outcome) -> str:
        return ""


@pytest.fixture
def timer(monkeypatch: pytest.MonkeyPatch) -> AtTheGate:
    timer = AtTheGate()
    monkeypatch.setattr(pipeline, "timer_for", lambda *_: timer)
    return timer


def problem(**changes: Any) -> CommandProblem:
    fields = {
        "test_command": "true",
        "timing_mode": {"type": "kernels"},
        "benchmark_command": "python3 solution.py",
        "baseline_solution": None,
    }
    return shell_problem(**fields | changes)


def test_a_time_that_fits_is_measured_once(machine: Machine, timer: AtTheGate) -> None:
    finished = machine.judge(problem(), {"solution.py": ""})
    assert timer.n_runs == 1
    assert finished.outputs.solution_ms == 5.0


def test_a_failure_beside_others_is_tried_again_alone(machine: Machine, timer: AtTheGate) -> None:
    finished = machine.judge(problem(), {"solution.py": "raise SystemExit(3)"})
    assert timer.n_runs == 2
    assert [flag.code for flag in finished.report.flags] == ["benchmark_failed"]


def test_what_hangs_with_the_device_in_its_hands_is_not_tried_again(machine: Machine, timer: AtTheGate) -> None:
    finished = machine.judge(problem(timeout_seconds=1.0), {"solution.py": HANGS})
    assert timer.n_runs == 1
    assert [flag.code for flag in finished.report.flags] == ["benchmark_failed"]


def test_what_runs_out_of_time_without_the_device_is_tried_again_alone(machine: Machine, timer: AtTheGate) -> None:
    machine.judge(problem(timeout_seconds=1.0), {"solution.py": "import time; time.sleep(30)"})
    assert timer.n_runs == 2
