"""The reference is a baseline only where it passes all that a sample must pass, its validation included."""

from typing import Any

import pytest

from problems.spec.command.problem import CommandProblem, problem_from
from problems.spec.profile import Profile
from runners.wire.protocol import Verdict
from tests.agent.machine import Machine, shell_problem

TIMED: dict[str, Any] = {
    "build_command": None,
    "test_command": "true",
    "benchmark_command": "sh solution.sh",
    "timing_mode": {"type": "custom"},
}
SCRIPT = "echo COMPUTE_EVAL_TIME_MS: {}"
FILES = {"solution.sh": SCRIPT.format(6), "used.cpp": "int wanted();"}


def timed(baseline: dict[str, str], task_id: str = "t", **changes: Any) -> CommandProblem:
    problem = shell_problem(baseline={"solution.sh": SCRIPT.format(12)} | baseline, **TIMED | changes)
    fields = problem.model_dump()
    fields["baseline_solution"]["task_id"] = task_id
    return problem_from(fields, Profile.PODIUM)


def test_a_sound_reference_is_the_baseline(machine: Machine) -> None:
    found = machine.judge(timed({"used.cpp": "int wanted();"}, source_references="wanted"), FILES)
    assert (found.texts.baseline_ms, found.report.speedup) == (12.0, 2.0)


@pytest.mark.parametrize(
    "problem",
    [
        timed({}, source_references="wanted"),
        timed({}, task_id="another"),
        timed({"test/t.sh": "exit 0"}),
    ],
    ids=["without the names it must use", "for another task", "with a test file"],
)
def test_a_reference_that_would_be_refused_is_no_baseline(machine: Machine, problem: CommandProblem) -> None:
    found = machine.judge(problem, FILES)
    assert found.report.verdict == Verdict.PASSED
    assert (found.texts.solution_ms, found.texts.baseline_ms, found.report.speedup) == (6.0, None, None)
