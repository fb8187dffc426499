"""A quick benchmark at the gate is measured again: alone if it fails, beside others if chance may decide."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from problems.spec.command.problem import CommandProblem
from runners.agent.judges.command import judge
from runners.agent.profilers.base import Attachment, Reading, Timer
from runners.agent.sandbox.policy import Mount, Outcome
from runners.wire.protocol import Clock, MeasurementReport, Role, TimingPolicy
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


@pytest.mark.rest
def test_what_hangs_with_the_device_in_its_hands_is_not_tried_again(machine: Machine, timer: AtTheGate) -> None:
    finished = machine.judge(problem(timeout_seconds=3.0), {"solution.py": HANGS})
    assert timer.n_runs == 1
    assert [flag.code for flag in finished.report.flags] == ["benchmark_failed"]


@pytest.mark.rest
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


@pytest.mark.rest
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


# ---- times that may differ by chance -------------------------------------------------------------------------------

SOLUTION, REFERENCE = "print('solution')", "print('reference')"


class Disturbed(AtTheGate):
    """A timer whose next times are given; the last one of a role stays."""

    def __init__(self, solution_ms: list[float | None], reference_ms: list[float | None]) -> None:
        super().__init__()
        self.times = {"solution": solution_ms, "reference": reference_ms}

    def read(self, _problem: CommandProblem, _notes: Path, outcome: Outcome) -> Reading:
        times = self.times[outcome.stdout.strip()]
        return Reading(times.pop(0) if len(times) > 1 else times[0])


def judged(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, timer: AtTheGate, code: str, **assignment: Any
) -> dict[Role, MeasurementReport]:
    """The measurements of a solution; `code` tells problems apart."""
    monkeypatch.setattr(judge, "timer_for", lambda *_: timer)
    problem = with_baseline(code, baseline={"solution.py": f"{REFERENCE} # {code}"})
    report = machine.judge(problem, {"solution.py": SOLUTION}, **assignment).report
    return {one.role: one for one in report.measurements}


@pytest.mark.parametrize(
    ("solution_ms", "reference_ms", "counted"),
    [
        ([1.1, 1.0], [1.0, 1.05], (1.0, 1.0)),
        ([1.0, 1.01], [1.2, 1.02], (1.0, 1.02)),
        ([1.9, 1.02], [1.0, 1.0], (1.02, 1.0)),
        ([1.0], [1.53, 1.01], (1.0, 1.01)),
        ([0.9], [1.0], (0.9, 1.0)),
    ],
    ids=["a slow solution", "a slow baseline", "a very slow solution", "a very slow baseline", "a faster solution"],
)
def test_of_times_that_differ_by_less_than_a_factor_of_two_both_are_taken_again_and_the_faster_of_each_role_counts(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    solution_ms: list[float | None],
    reference_ms: list[float | None],
    counted: tuple[float, float],
) -> None:
    timer = Disturbed(solution_ms, reference_ms)
    found = judged(machine, monkeypatch, timer, f"differs {counted}")
    assert timer.n_runs == 4
    assert (found[Role.CANDIDATE].runs_ms, found[Role.BASELINE].runs_ms) == ([counted[0]], [counted[1]])


@pytest.mark.parametrize(
    ("solution_ms", "reference_ms"), [(1.0, 1.02), (1.0, 2.1), (2.1, 1.0), (0.09, 0.1), (None, 1.0), (None, None)]
)
def test_times_that_agree_or_differ_much_or_are_brief_or_missing_are_taken_once(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, solution_ms: float | None, reference_ms: float | None
) -> None:
    timer = Disturbed([solution_ms], [reference_ms])
    judged(machine, monkeypatch, timer, f"agrees {solution_ms} {reference_ms}")
    assert timer.n_runs == 2


def test_a_second_time_that_is_missing_leaves_the_first(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(machine, monkeypatch, Disturbed([1.1, None], [1.0, None]), "missing")
    assert (found[Role.CANDIDATE].median_ms, found[Role.BASELINE].median_ms) == (1.1, 1.0)


def test_times_off_the_gate_are_taken_once_though_they_differ(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    timer = Disturbed([1.1], [1.0])
    timer.waits_at_gate = False
    judged(machine, monkeypatch, timer, "alone")
    assert timer.n_runs == 2


def test_ranked_times_are_not_taken_again(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    timer = Disturbed([1.1], [1.0])
    judged(machine, monkeypatch, timer, "ranked alone", timing_policy=TimingPolicy.RANKED)
    assert timer.n_runs == 12


def test_a_shared_baselines_key_names_the_series_that_counts(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal keys mean equal times: the site keeps one row for both results."""
    timer = Disturbed([1.0], [1.0, 0.95, 1.02])
    first = judged(machine, monkeypatch, timer, "key")[Role.BASELINE]
    timer.times["solution"] = [1.1]
    second = judged(machine, monkeypatch, timer, "key")[Role.BASELINE]
    third = judged(machine, monkeypatch, timer, "key")[Role.BASELINE]
    assert (first.median_ms, second.median_ms, third.median_ms) == (1.0, 0.95, 0.95)
    assert first.shared and second.shared
    assert first.key != second.key == third.key
    assert second.key.endswith(f"@{second.measured_at}@node-1")
    assert timer.n_runs == 2 + 3 + 2, "the third shares both baselines"
