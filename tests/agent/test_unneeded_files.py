"""Runs do without the test files that the reference does without; finding that out does not delay the times."""

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from problems.spec.command.problem import CommandProblem
from runners.agent.ground.events import CommandRan, Event, Progress
from runners.agent.judges.command import judge
from runners.agent.judges.report import Finished
from runners.agent.profilers.base import Attachment
from runners.wire.protocol import Role, Verdict
from tests.agent.machine import Files, Machine, job_of, shell_problem
from tests.agent.test_second_look import AtTheGate
from tests.patience import SOON

SOLUTION, ANOTHER, REFERENCE = ({"solution.sh": f"echo 42 # {name}"} for name in ("solution", "another", "reference"))
READS_THE_TEST = {"solution.sh": "cat test/secret.txt 2>/dev/null || echo 41"}
NEEDS_THE_TEST = "cat */secret.txt"
OF_SOLUTION, OF_REFERENCE = False, True


class AtOnce(AtTheGate):
    """A timer whose benchmarks begin only in pairs."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = threading.Barrier(2)

    def attach(self, shell: str, notes: Path) -> Attachment:
        self.pair.wait(SOON)
        return super().attach(shell, notes)


def compiled(benchmark_command: str, **changes: Any) -> CommandProblem:
    """A problem whose test needs its file only to build, like a compiled harness."""
    fields: dict[str, Any] = {
        "tests": {"test/secret.txt": "42\n"},
        "build_command": "cp test/secret.txt kept; cp solution.sh run",
        "test_command": "sh run | cmp - kept",
        "benchmark_command": benchmark_command,
        "timing_mode": {"type": "kernels"},
        "baseline": REFERENCE,
        "podium": {},
    }
    return shell_problem(**fields | changes)


def use(monkeypatch: pytest.MonkeyPatch, timer: AtTheGate) -> AtTheGate:
    monkeypatch.setattr(judge, "timer_for", lambda *_: timer)
    return timer


def judged(machine: Machine, problem: CommandProblem, files: Files) -> tuple[Finished, list[CommandRan]]:
    """A sample's result, and its tests and benchmarks in the order of their ends."""
    events: list[Event] = []
    assignment = job_of(problem, files, withheld=None)
    finished = machine.judges.judge(assignment, Progress(events.append))
    return finished, [event for event in events if isinstance(event, CommandRan) and event.step != "build"]


def counted(commands: list[CommandRan]) -> Counter[tuple[str, bool]]:
    return Counter((command.step, command.is_reference) for command in commands)


def times(finished: Finished) -> dict[Role, list[float]]:
    return {one.role: one.runs_ms for one in finished.report.measurements}


def test_a_benchmark_and_its_baselines_begin_together_after_the_test(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, AtOnce())
    finished, commands = judged(fresh_machine, compiled("sh run"), SOLUTION)
    of = {(command.step, command.is_reference): command for command in commands}
    assert len(of) == len(commands) == 4
    assert of["test", OF_SOLUTION].ended_ns <= of["benchmark", OF_REFERENCE].began_ns
    assert of["benchmark", OF_SOLUTION].began_ns < of["benchmark", OF_REFERENCE].ended_ns
    assert times(finished) == {Role.CANDIDATE: [5.0], Role.BASELINE: [5.0]}
    assert finished.report.withheld == ["test/secret.txt"]


def test_a_solution_that_is_the_reference_is_its_own_test(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, AtTheGate())
    finished, commands = judged(fresh_machine, compiled("sh run"), REFERENCE)
    assert counted(commands) == {
        ("test", OF_SOLUTION): 1,
        ("benchmark", OF_SOLUTION): 1,
        ("benchmark", OF_REFERENCE): 1,
    }
    assert finished.report.withheld == ["test/secret.txt"]


def test_a_benchmark_that_needs_a_test_file_gets_it_and_this_is_found_out_once(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, AtTheGate())
    problem = compiled(NEEDS_THE_TEST)
    first, _ = judged(fresh_machine, problem, SOLUTION)
    second, commands = judged(fresh_machine, problem, ANOTHER)
    for finished in (first, second):
        assert times(finished) == {Role.CANDIDATE: [5.0], Role.BASELINE: [5.0]}
        assert (finished.report.verdict, finished.report.withheld) == (Verdict.PASSED, [])
        assert finished.report.flags == []
        assert [step.name for step in finished.report.steps] == ["build", "test", "benchmark"]
    assert counted(commands) == {("test", OF_SOLUTION): 1, ("benchmark", OF_SOLUTION): 1}, "the baseline is shared"


def test_a_failed_test_is_repeated_with_the_files_only_if_the_references_benchmark_needs_them(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, AtTheGate())
    for benchmark, verdict in ((NEEDS_THE_TEST, Verdict.PASSED), ("sh run", Verdict.TEST_FAILED)):
        finished, _ = judged(fresh_machine, compiled(benchmark), READS_THE_TEST)
        assert finished.report.verdict is verdict
        second, commands = judged(fresh_machine, compiled(benchmark), READS_THE_TEST)
        assert second.report.verdict is verdict
        assert ("benchmark", OF_REFERENCE) not in counted(commands), "the answer is kept, and so is a baseline"


def test_verdicts_do_not_depend_on_the_order_of_samples(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, AtTheGate())
    verdicts = [
        judged(fresh_machine, compiled("sh run"), files)[0].report.verdict for files in (SOLUTION, READS_THE_TEST)
    ]
    assert verdicts == [Verdict.PASSED, Verdict.TEST_FAILED]


@pytest.mark.parametrize(
    "benchmark",
    ["false", f'[ -z "$PODIUM_GATE" ] || {NEEDS_THE_TEST}'],
    ids=["it fails with the files, too", "without them it fails beside others only"],
)
def test_another_failure_of_the_references_benchmark_shows_no_file(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch, benchmark: str
) -> None:
    """A solution that makes the baseline beside it fail, say by taking the memory, must gain nothing by it."""
    use(monkeypatch, AtTheGate())
    problem = compiled(benchmark)
    first, _ = judged(fresh_machine, problem, SOLUTION)
    assert (first.report.verdict, first.report.withheld) == (Verdict.PASSED, ["test/secret.txt"])
    reads, _ = judged(fresh_machine, problem, READS_THE_TEST)
    assert (reads.report.verdict, reads.report.withheld) == (Verdict.TEST_FAILED, ["test/secret.txt"])


def test_a_reference_whose_test_needs_the_files_is_tested_with_them(
    fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, AtTheGate())
    problem = compiled("sh run", test_command="cat */secret.txt >/dev/null && sh run | cmp - kept")
    for files in (REFERENCE, SOLUTION, READS_THE_TEST):
        finished, _ = judged(fresh_machine, problem, files)
        assert (finished.report.verdict, finished.report.withheld) == (Verdict.PASSED, [])
