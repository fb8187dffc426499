"""A quick benchmark that waits at the gate and fails is measured again alone, unless it has plainly hung."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from problems.spec.command.problem import CommandProblem
from runners.agent.judges.command import judge
from runners.agent.profilers.base import Attachment, Reading, Timer
from runners.agent.sandbox.policy import Mount, Outcome
from runners.wire.protocol import Clock, Role, TimingPolicy
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


# Has the device for half a second.
WORKS = HANGS.replace("while True:\n    time.sleep(1)\n", 'time.sleep(0.5)\nstruct.pack_into("=I", page, 8, 0)\n')


class AtTheGate:
    """A timer whose benchmarks wait at the gate, and which counts them."""

    clock = Clock.IN_PROCESS
    waits_at_gate = True
    patience = 1.0
    for_graphs: Timer | None = None

    def __init__(self, name: str = "counts", reading: Reading | None = None) -> None:
        self.name = name
        self.reading = reading or Reading(5.0)
        self.n_runs = 0
        self.seen: list[Outcome] = []

    def attach(self, shell: str, notes: Path) -> Attachment:
        self.n_runs += 1
        return Attachment(shell, {}, (Mount(notes, str(notes), writable=True),))

    def read(self, _problem: CommandProblem, _notes: Path, outcome: Outcome) -> Reading:
        self.seen.append(outcome)
        return self.reading

    def own_failure(self, _notes: Path, _outcome: Outcome) -> str:
        return ""


@pytest.fixture
def timer(monkeypatch: pytest.MonkeyPatch) -> AtTheGate:
    timer = AtTheGate()
    monkeypatch.setattr(judge, "timer_for", lambda *_: timer)
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
    assert finished.texts.solution_ms == 5.0


def test_a_failure_beside_others_is_tried_again_alone(machine: Machine, timer: AtTheGate) -> None:
    finished = machine.judge(problem(), {"solution.py": "raise SystemExit(3)"})
    assert timer.n_runs == 2
    assert [flag.code for flag in finished.report.flags] == ["benchmark_failed"]


def test_what_hangs_with_the_device_in_its_hands_is_not_tried_again(machine: Machine, timer: AtTheGate) -> None:
    finished = machine.judge(problem(timeout_seconds=3.0), {"solution.py": HANGS})
    assert timer.n_runs == 1
    assert [flag.code for flag in finished.report.flags] == ["benchmark_failed"]


def test_what_runs_out_of_time_without_the_device_is_tried_again_alone(machine: Machine, timer: AtTheGate) -> None:
    machine.judge(problem(timeout_seconds=1.0), {"solution.py": "import time; time.sleep(30)"})
    assert timer.n_runs == 2


def test_a_timer_reads_a_run_with_its_waits_and_the_report_tells_its_own_time(
    machine: Machine, timer: AtTheGate
) -> None:
    """A profiler's notes span the waits too: held against the run's own time they would not be believed."""
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(machine.judge, problem(), {"solution.py": f"# {n}\n{WORKS}"}) for n in range(2)]
        own_ms = [run.result().report.steps[-1].wall_ms for run in runs]
    raw_ms = [outcome.wall_ms for outcome in timer.seen]
    # the second has to wait for the first one's half a second
    assert sum(raw_ms) - sum(own_ms) > 300
    assert sorted(own_ms)[0] >= 500


def with_baseline(code: str, **changes: Any) -> CommandProblem:
    """`code` tells problems apart, whose baselines one machine shares."""
    fields = {
        "test_command": "true",
        "timing_mode": {"type": "kernels"},
        "benchmark_command": "python3 solution.py",
        "baseline": {"solution.py": f"# {code}"},
    }
    return shell_problem(**fields | changes)


@pytest.mark.parametrize(("policy", "runs"), [(TimingPolicy.QUICK, 2), (TimingPolicy.RANKED, 12)])
def test_where_graphs_are_not_timed_both_roles_are_timed_anew_by_what_can(
    machine: Machine, timer: AtTheGate, policy: TimingPolicy, runs: int
) -> None:
    timer.reading = Reading(1.0, lacks_graphs=True)
    timer.for_graphs = with_graphs = AtTheGate("graphs")
    judged = machine.judge(with_baseline(policy.value), {"solution.py": ""}, timing_policy=policy)
    assert judged.report.provenance.profiler == "graphs"
    assert {one.role: one.median_ms for one in judged.report.measurements} == {Role.CANDIDATE: 5.0, Role.BASELINE: 5.0}
    assert (timer.n_runs, with_graphs.n_runs) == (2, runs)


def test_who_hangs_is_not_tried_again_for_the_baselines_graphs(machine: Machine, timer: AtTheGate) -> None:
    timer.reading = Reading(1.0, lacks_graphs=True)
    timer.for_graphs = with_graphs = AtTheGate("graphs")
    judged = machine.judge(with_baseline("hangs", timeout_seconds=3.0), {"solution.py": HANGS})
    assert (timer.n_runs, with_graphs.n_runs) == (2, 0)
    assert judged.report.measurements == [], "not the baseline's either, whose time lacks its graphs"


def test_where_one_of_the_baselines_graphs_is_not_timed_the_candidate_is_timed_anew_too(
    machine: Machine, timer: AtTheGate
) -> None:
    timer.reading = Reading(1.0, lacks_graphs=True)
    timer.for_graphs = with_graphs = AtTheGate("graphs")
    machine.judge(with_baseline("shared"), {"solution.py": ""})
    timer.reading = Reading(1.0)
    judged = machine.judge(with_baseline("shared"), {"solution.py": "# another"})
    assert judged.report.provenance.profiler == "graphs"
    assert (timer.n_runs, with_graphs.n_runs) == (3, 3)
