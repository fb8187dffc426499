"""A solution that ends its process at once fails a separate harness, and ends any other with status 0."""

import pytest

from problems.spec.command.problem import CommandProblem
from runners.wire.protocol import Verdict
from tests.agent.machine import Machine, shell_problem

PY_ANSWER = "from __future__ import annotations\n\n\ndef answer() -> int:\n    return 42\n"
CPP_ANSWER = "int answer() { return 42; }\n"
SHELL_ANSWER = "number=42\n"
CHILD = "import subprocess, sys\ncode = 'import solution; print(solution.answer())'\n"
CHILD += "said = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)\n"
SEPARATE = {
    "python": {
        "type": "python",
        "tests": {"t.py": f"{CHILD}assert said.stdout == '42\\n', said\n"},
        "test_command": "python t.py",
        "baseline": {"solution.py": PY_ANSWER},
    },
    "C++": {
        "context": {"say.cpp": '#include <cstdio>\nint answer();\nint main() { std::printf("%d\\n", answer()); }\n'},
        "tests": {"t.sh": '[ "$(./say)" = 42 ]\n'},
        "build_command": "g++ -o say say.cpp solution.cpp",
        "test_command": "sh t.sh",
        "baseline": {"solution.cpp": CPP_ANSWER},
    },
    "shell": {
        "tests": {"t.sh": '[ "$(sh -c ". ./solution.sh; echo \\$number")" = 42 ]\n'},
        "test_command": "sh t.sh",
        "baseline": {"solution.sh": SHELL_ANSWER},
    },
}
SHARED = {
    "python": SEPARATE["python"] | {"tests": {"t.py": "import solution\nassert solution.answer() == 42\n"}},
    "C++": SEPARATE["C++"]
    | {
        "tests": {"t.cpp": "int answer();\nint main() { return answer() == 42 ? 0 : 1; }\n"},
        "build_command": "g++ -o t t.cpp solution.cpp",
        "test_command": "./t",
    },
    "shell": SEPARATE["shell"] | {"tests": {"t.sh": '. ./solution.sh\n[ "$number" = 42 ]\n'}},
}


def promising(fields: dict[str, object]) -> CommandProblem:
    return shell_problem(metadata={"releases": [], "podium": {"harness": "separate"}}, **fields)


def ended(machine: Machine, problem: CommandProblem) -> tuple[Verdict, int | None]:
    """Verdict and status of the test of the solution that ends early."""
    solution = problem.ending_early
    assert solution is not None
    report = machine.judge(problem, {file.path: file.content for file in solution.files}).report
    return report.verdict, report.steps[-1].exit_code


@pytest.mark.parametrize("language", SEPARATE)
def test_a_separate_harness_sees_its_end(machine: Machine, language: str) -> None:
    problem = promising(SEPARATE[language])
    reference = {file.path: file.content for file in problem.baseline_solution.files}  # type: ignore[union-attr]
    assert machine.judge(problem, reference).report.verdict is Verdict.PASSED
    verdict, status = ended(machine, problem)
    assert verdict is Verdict.TEST_FAILED
    assert status not in (0, None)


@pytest.mark.parametrize("language", SHARED)
def test_a_harness_that_shares_its_process_ends_with_it(machine: Machine, language: str) -> None:
    assert ended(machine, promising(SHARED[language]))[1] == 0


def test_a_problem_that_promises_nothing_is_not_asked(machine: Machine) -> None:
    assert shell_problem(**SHARED["shell"]).ending_early is None
