"""A header that the tests include may be replaced, but not so that it changes what the tests' own words mean."""

import time

import pytest

from problems.spec.command.workspace_rules import WorkspaceRules
from runners.wire.protocol import Verdict
from tests.agent.machine import Machine, sources
from tests.agent.test_cheating import ANSWER, HONEST, compiled

OWN_MAIN = '#include "answer.h"\nint answer() { return 0; }\n#undef main\nint main() { return 0; }\n'


def why(header: str, **more: str) -> str:
    files = {"solution.cpp": HONEST, "include/answer.h": header}
    return WorkspaceRules.of(compiled()).why_bad(
        sources(files | {path.replace("__", "."): text for path, text in more.items()})
    )


def test_a_header_of_the_context_may_be_replaced(machine: Machine) -> None:
    guarded = "#ifndef ANSWER_H\n#define ANSWER_H\n#define WIDTH 3\n// for if main\nint answer();\n#endif\n"
    found = machine.judge(compiled(), {"solution.cpp": HONEST, "include/answer.h": guarded})
    assert found.report.verdict == Verdict.PASSED


def test_a_main_of_the_solutions_own_is_no_pass(machine: Machine) -> None:
    header = ANSWER + "#define main hidden\n"
    found = machine.judge(compiled(), {"solution.cpp": OWN_MAIN, "include/answer.h": header})
    assert found.report.verdict == Verdict.INVALID


@pytest.mark.parametrize(
    "line",
    [
        "#define main hidden",
        "#define if(x) if (0)",
        " # \tdefine return while (0)",
        "%:define main hidden",
        "??=define main hidden",
        "#\\\ndefine \\\n main hidden",
        "#/**/define/**/main hidden",
        "/* x\n*/#define main hidden",
        'const char* a = "/*";\n#define main hidden\nconst char* b = "*/";',
        "#define false true",
    ],
)
def test_macros_over_the_words_of_the_language_are_invalid(line: str) -> None:
    assert "may not define a macro" in why(f"{ANSWER}{line}\n")


def test_beginnings_of_comments_are_read_in_time() -> None:
    began = time.monotonic()
    assert why("#define A\n" + 200_000 * "/* ") == ""
    assert time.monotonic() - began < 10  # it would take minutes


def test_a_macro_in_a_file_that_a_header_includes_is_invalid_whatever_its_name() -> None:
    assert "evil.txt" in why(f'{ANSWER}#include "evil.txt"\n', evil__txt="#define main hidden\n")


@pytest.mark.parametrize("line", ["#define true 1", "#define false (0)", "#define MAIN 1", "#define main_width 1"])
def test_other_macros_are_the_solvers_own_business(line: str) -> None:
    assert why(f"{ANSWER}{line}\n") == ""


def test_comments_of_python_are_no_macros() -> None:
    assert why(ANSWER, tool__py="# define main first\n") == ""
