"""A solution's paths are plain, relative and inside the workspace, and no spelling of them reaches the tests."""

import posixpath
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.spec.command.problem import CommandProblem
from problems.spec.command.workspace_rules import STRICT_FAILURE, WorkspaceRules, strict_failure
from problems.spec.paths import spelling_key, why_bad_path
from problems.spec.profile import Profile
from problems.spec.solution import FileSolution, PatchSolution, SourceFile
from tests.formats.sources import problem


def files(*paths: str) -> list[SourceFile]:
    return [SourceFile(path=path, content="x") for path in paths]


def why_bad_files(problem: CommandProblem, files: list[SourceFile]) -> str:
    return WorkspaceRules.of(problem).why_bad(files)


@pytest.mark.parametrize(
    "path",
    [
        *("", "/abs", "../x", "a/../b", "./a", "a/./b", "a//b", "a/", ".", "..", "a/..", "a\\b", "C:/x"),
        *("a\0b", "a\nb", "a\x7f", "\ud800", "a\u200bb", "a\u202eb", " a", "a "),
        *("x" * 256, "/".join(["d" * 200] * 6)),
    ],
)
def test_bad_paths_are_told_why(path: str) -> None:
    assert why_bad_path(path)


@pytest.mark.parametrize(
    "path", ["solution.cu", "include/a.h", "src/deep/er/b.cuh", ".clang-format", "größe.py", "a b.cu"]
)
def test_good_paths_pass(path: str) -> None:
    assert why_bad_path(path) == ""


@given(st.text(max_size=30))
def test_a_path_that_passes_stays_inside_and_can_be_written(path: str) -> None:
    if why_bad_path(path):
        return
    assert posixpath.normpath(path) == path
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path
        assert target.resolve().is_relative_to(Path(folder).resolve())
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("x")


@given(st.text(alphabet="test/main.cu.\\ TEſ\0", max_size=20))
def test_nothing_that_passes_names_the_test_file(path: str) -> None:
    if not why_bad_files(problem(), files(path)):
        assert spelling_key(posixpath.normpath(path)) != "test/main.cu"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("test/main.cu", "test file"),
        ("Test/MAIN.cu", "test file"),
        ("teſt/main.cu", "test file"),
        ("./test/main.cu", "normal form"),
        ("test//main.cu", "normal form"),
        ("test/./main.cu", "normal form"),
        ("test/zz.cu", "folder of the problem's tests"),
        ("test/add.h", "folder of the problem's tests"),
        ("include/cstdio", "instead of the system's"),
        ("include/cuda_runtime.h", "system header"),
        ("include/bits/c++config.h", "system header"),
        ("test", "needs a folder"),
        ("include", "needs a folder"),
        ("include/add.h/x", "is a file"),
        ("conftest.py", "by itself"),
    ],
)
def test_files_that_could_move_a_test_are_refused(path: str, words: str) -> None:
    assert words in why_bad_files(problem(), files("solution.cu", path))


@pytest.mark.parametrize(
    "paths",
    [
        ["solution.cu"],
        ["solution.cu", "include/add.h"],
        ["solution.cu", "include/helpers.cuh"],
        ["solution.cu", "helpers.h", "src/impl.cu"],
        ["solution.cu", "math.h"],
        ["solution.cu", "utils.py"],
        ["solution.cu", "solution.cu"],
    ],
)
def test_honest_solutions_pass(paths: list[str]) -> None:
    assert why_bad_files(problem(), files(*paths)) == ""


def test_two_spellings_of_one_path_are_refused() -> None:
    assert "two spellings" in why_bad_files(problem(), files("a.cu", "A.cu"))


def test_a_file_cannot_be_a_folder() -> None:
    assert "needs a folder" in why_bad_files(problem(), files("a", "a/b"))


def test_no_files_are_no_solution() -> None:
    assert "no files" in why_bad_files(problem(), [])


@pytest.mark.parametrize("content", ["a\0b", "\udc80"])
def test_content_that_is_not_text_is_refused(content: str) -> None:
    assert why_bad_files(problem(), [SourceFile(path="solution.cu", content=content)])


def test_an_earlier_include_folder_may_not_be_filled() -> None:
    subject = problem(build_command="nvcc -I . -Iinclude solution.cu test/main.cu")
    assert "instead of include/add.h" in why_bad_files(subject, files("solution.cu", "add.h"))


def test_what_the_tests_pull_in_is_followed() -> None:
    context = [
        {"path": "include/add.h", "content": '#include "detail/check.h"\n'},
        {"path": "lib/detail/check.h", "content": "#pragma once\n"},
    ]
    subject = problem(context_files=context, build_command="nvcc -I include -isystem lib solution.cu test/main.cu")
    assert "instead of lib/detail/check.h" in why_bad_files(subject, files("solution.cu", "include/detail/check.h"))


def test_a_header_that_the_solution_must_bring_is_allowed() -> None:
    tests = [{"path": "test/main.cu", "content": '#include "../solution.h"\n#include "own.h"\n'}]
    assert why_bad_files(problem(test_files=tests), files("solution.cu", "solution.h", "include/own.h")) == ""


def test_what_the_reference_brings_is_allowed() -> None:
    reference = {"type": "file", "task_id": "T/0", "files": [{"path": "include/cstdio", "content": ""}]}
    assert why_bad_files(problem(baseline_solution=reference), files("include/cstdio")) == ""


def test_tests_in_the_root_leave_the_root_open() -> None:
    tests = [{"path": "test_solution.py", "content": "import random\nimport solution\nimport helpers\n"}]
    context = [{"path": "helpers.py", "content": ""}]
    subject = problem(type="cuda_python", test_files=tests, context_files=context, baseline_solution=None)
    assert why_bad_files(subject, files("solution.py", "kernels.py", "helpers.py")) == ""
    assert "instead of helpers.py" in why_bad_files(subject, files("solution.py", "helpers/__init__.py"))
    assert "instead of the system's" in why_bad_files(subject, files("solution.py", "random.py"))
    assert "Python module" in why_bad_files(subject, files("solution.py", "bisect.py"))
    assert "by itself" in why_bad_files(problem(), files("solution.cu", "sitecustomize.py"))


MODULES = ("numpy.py", "string.py", "typing.py", "json.py", "collections/extra.py")


def python_problem(test: str, command: str = "python test/run.py", **podium: object) -> CommandProblem:
    tests = [{"path": "test/run.py", "content": test}]
    metadata = {"podium": podium}
    return problem(
        Profile.PODIUM, type="python", test_files=tests, test_command=command, metadata=metadata, baseline_solution=None
    )


@pytest.mark.parametrize("module", MODULES)
def test_a_module_s_name_is_free_where_no_test_loads_that_module(module: str) -> None:
    given = files("solution.py", module)
    assert why_bad_files(python_problem("import sys, time\nfrom solution import f\n"), given) == ""
    assert "Python module" in why_bad_files(python_problem("import solution\n", harness="separate"), given)


@pytest.mark.parametrize(
    ("test", "command", "module"),
    [
        ("import subprocess", "python test/run.py", "selectors.py"),
        ("import json", "python test/run.py", "re.py"),
        ("import numpy", "python test/run.py", "string.py"),
        ("import solution", "python -m pytest test", "typing.py"),
        ("import solution", "python test/run.py", "encodings/__init__.py"),
        ("import importlib", "python test/run.py", "json.py"),
    ],
)
def test_a_module_that_the_tests_load_indirectly_is_not_replaced(test: str, command: str, module: str) -> None:
    assert "Python module" in why_bad_files(python_problem(f"{test}\n", command), files("solution.py", module))


def test_a_glob_that_gathers_tests_gathers_nothing_else() -> None:
    tests = [{"path": "test/unit/a.cu", "content": ""}]
    subject = problem(test_files=tests, build_command="nvcc solution.cu test/*/*.cu")
    assert "for a test file" in why_bad_files(subject, files("solution.cu", "test/evil/z.cu"))


def test_tests_beside_the_reference_leave_their_folder_open() -> None:
    tests = [{"path": "src/test_main.cu", "content": ""}]
    reference = {"type": "file", "task_id": "T/0", "files": [{"path": "src/solution.cu", "content": ""}]}
    subject = problem(test_files=tests, baseline_solution=reference)
    assert why_bad_files(subject, files("src/solution.cu", "src/kernels.cuh")) == ""


def test_compute_evals_own_validation_compares_strings() -> None:
    subject = problem()
    good = FileSolution(task_id="T/0", files=files("./test/main.cu"))
    assert strict_failure(subject, good) is None
    for bad in (
        FileSolution(task_id="T/0", files=files("test/main.cu")),
        FileSolution(task_id="T/0"),
        FileSolution(task_id="T/1", files=files("a")),
        PatchSolution(task_id="T/1", patch=""),
    ):
        assert strict_failure(subject, bad) == STRICT_FAILURE == "[VALIDATION ERROR] Solution failed validation checks."


def test_podium_problems_follow_the_same_rules() -> None:
    assert why_bad_files(problem(Profile.PODIUM, type="cpp", group="g"), files("test/main.cu"))


MANY_PATHS = st.lists(
    st.sampled_from(
        [
            *("solution.cu", "Solution.cu", "src/a.h", "src", "src/A.H", "/abs", "../up", "a//b", "", "a\\b", "a b.cu"),
            *("test/test_main.cu", "test/Test_main.cu", "conftest.py", "sitecustomize.py", "include/helper.h"),
        ]
    ),
    min_size=1,
    max_size=5,
)


@given(MANY_PATHS)
def test_a_field_refuses_a_path_if_and_only_if_the_intake_refuses_the_files(paths: list[str]) -> None:
    rules = WorkspaceRules.of(problem())
    faults = rules.path_faults(paths)
    assert bool(faults) == bool(rules.why_bad(files(*paths)))
    good = [path for place, path in enumerate(paths) if place not in faults]
    assert not good or rules.why_bad(files(*good)) == ""
