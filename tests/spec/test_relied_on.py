"""A changed context file on which the tests rely is found, whatever way they pull it in; other changes are free."""

from collections.abc import Mapping
from typing import Any

import pytest

from problems.spec.command.relied_on import changed_context
from tests.agent.machine import shell_problem, sources

Files = Mapping[str, str]
EVIL = "changed\n"


def changed(context: Files, tests: Files, solution: Files, **fields: Any) -> list[str]:
    fields = {"baseline": {"solution.cpp": "int answer() { return 42; }\n"}} | fields
    problem = shell_problem(context=context, tests=tests, **fields)
    return sorted(changed_context(problem, sources(solution)))


@pytest.mark.parametrize(
    "line",
    [
        '#include "check.h"',
        "#include <check.h>",
        ' # include "check.h" // see there',
        '/* now */ #include "check.h"',
        '#inc\\\nlude "check.h"',
        '%:include "check.h"',
        '??=include "check.h"',
        '#include "../include/check.h"',
        '#include "./check.h"',
        '#define HEADER "check.h"\n#include HEADER',
        "#define NAME(x) #x\n#include NAME(check.h)",
        '#include_next "check.h"',
        "#include CHECKS // -DCHECKS=<check.h>",
    ],
)
def test_every_form_of_include_is_followed(line: str) -> None:
    test = {"test/main.cpp": f"#include <cstdio>\n{line}\nint main() {{}}\n"}
    assert changed({"include/check.h": "one\n"}, test, {"include/check.h": EVIL}) == ["include/check.h"]


def test_an_include_is_followed_through_files_that_did_not_change() -> None:
    context = {
        "include/a.h": '#include "detail/b.inl"\n',
        "include/detail/b.inl": '#include "c.def"\n',
        "c.def": "X(1)\n",
    }
    test = {"test/main.cpp": '#include "a.h"\n'}
    assert changed(context, test, {"c.def": EVIL}) == ["c.def"]
    assert changed(context, test, {"include/detail/b.inl": EVIL, "solution.cpp": "x"}) == ["include/detail/b.inl"]


@pytest.mark.parametrize(
    "line",
    [
        "import check",
        "import os, check as c",
        "from check import same",
        "from . import check",
        "from tools import check",
        "import importlib\nimportlib.import_module('ch' + 'eck')",
        "exec(open('tools/check.py').read())",
        "import runpy\nrunpy.run_path(name)",
        "import subprocess, sys\nsubprocess.run([sys.executable, 'check.py'])",
    ],
)
def test_every_form_of_import_is_followed(line: str) -> None:
    fields = {"type": "python", "baseline": {"solution.py": "def answer(): return 42\n"}}
    found = changed({"tools/check.py": "one\n"}, {"test/t.py": line}, {"tools/check.py": EVIL}, **fields)
    assert found == ["tools/check.py"]


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("Makefile", {"build_command": "make"}),
        ("CMakeLists.txt", {"build_command": "cmake -B b && cmake --build b"}),
        ("conftest.py", {"test_command": "pytest test"}),
        ("run.sh", {"test_command": "sh ./run.sh"}),
        ("tools/compare.py", {"test_command": "python -m tools.compare"}),
        ("check.h", {"build_command": "g++ -include check.h solution.cpp test/*.cpp"}),
        ("common/probe.cpp", {"build_command": "g++ solution.cpp common/*.cpp test/*.cpp"}),
    ],
)
def test_what_the_commands_read_or_run_counts(path: str, fields: dict[str, str]) -> None:
    assert changed({path: "one\n"}, {"test/main.cpp": "int main() {}\n"}, {path: EVIL}, **fields) == [path]


def test_what_a_script_or_a_string_of_the_tests_names_counts() -> None:
    context = {"data/expected.txt": "42\n", "lib/same.sh": "cmp $1 $2\n", "lib/free.txt": "\n"}
    test = {"test/t.sh": ". lib/same.sh\n", "test/main.cpp": 'std::ifstream in("data/expected.txt");\n'}
    assert changed(context, test, dict.fromkeys(context, EVIL)) == ["data/expected.txt", "lib/same.sh"]


@pytest.mark.parametrize("copy", ["one\ntwo\n", "one\ntwo", "one \r\ntwo\r\n\n"])
def test_unchanged_copies_are_fine(copy: str) -> None:
    test = {"test/main.cpp": '#include "check.h"\n'}
    assert changed({"check.h": "one\ntwo\n"}, test, {"check.h": copy}) == []


def test_what_the_reference_changes_is_the_contestants() -> None:
    context, test = {"task.h": "// write here\n"}, {"test/main.cpp": '#include "task.h"\n'}
    assert changed(context, test, {"task.h": EVIL}, baseline={"task.h": "int answer();\n"}) == []
    assert changed(context, test, {"task.h": EVIL}, baseline={"task.h": "// write here\n"}) == ["task.h"]


def test_the_file_that_a_contestant_starts_from_is_the_contestants() -> None:
    test = {"test/t.py": "import solution\nimport helper\n"}
    problem = shell_problem(
        type="python", context={"solution.py": "...\n", "helper.py": "one\n"}, tests=test, baseline_solution=None
    )
    assert list(changed_context(problem, sources({"solution.py": EVIL}))) == []
    assert list(changed_context(problem, sources({"helper.py": EVIL}))) == ["helper.py"]


def test_files_that_only_the_solution_uses_may_change() -> None:
    context = {"include/task.h": "int answer();\n", "src/fast.h": "one\n", "README.md": "# check.h\n"}
    test = {"test/main.cpp": '#include "task.h"\n// see README.md and fast.h\nint main() { puts("a * b"); }\n'}
    assert changed(context, test, {"src/fast.h": EVIL, "README.md": EVIL, "solution.cpp": "x"}) == []


def test_without_a_reference_a_named_program_may_be_the_contestants() -> None:
    problem = shell_problem(
        context={"kernel.cu": "// write here\n"}, tests={"test/main.cu": "int main() {}\n"}, baseline_solution=None,
        build_command="nvcc kernel.cu test/main.cu",
    )  # fmt: skip
    assert changed_context(problem, sources({"kernel.cu": EVIL})) == {}
