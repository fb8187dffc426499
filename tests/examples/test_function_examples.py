"""The function problems in the examples: references agree with plain answers, and solutions get the stated verdicts."""

import faulthandler
import multiprocessing
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from problems.formats.functions.folder import FunctionFolder, read_folder
from problems.formats.functions.inside.loaded import Loaded, load
from problems.formats.functions.inside.make_manifest import manifest_of
from problems.formats.functions.pack import read_problem
from problems.spec.function.manifest import Manifest
from problems.spec.function.problem import FunctionProblem
from problems.spec.solution import SourceFile
from tests.examples.function_calls import rule, solution_of, verdict
from tests.examples.plain_answers import ANSWERS
from tests.requirements import requires

CPU, TEXTBOOK, GPU = (Path("examples", name) for name in ("functions-cpu", "textbook-cpu", "functions-gpu"))
ON_CPU = {path.parent.name: path.parent for root in (CPU, TEXTBOOK) for path in root.glob("problems/*/def.py")}
SLUGS = sorted(ON_CPU)
FOLDERS = sorted([*ON_CPU.values(), *(path.parent for path in GPU.glob("problems/*/def.py"))])
BAD_FILES = sorted(
    path for one in ON_CPU.values() for path in one.glob("known_bad/*") if path.is_file() and path.suffix != ".json"
)
BASELINES = sorted(path for one in ON_CPU.values() for path in one.glob("baselines/reference.*"))
SAMPLES = sorted(
    path for root in (CPU, TEXTBOOK) for path in root.glob("entrants/*/*/solution.*") if path.parent.name in ON_CPU
)
ENTRANTS = sorted(path for root in (CPU, GPU) for path in root.glob("entrants/*/entrant.yaml"))
CUDA_FILES = sorted(GPU.rglob("*.cu"))


def short(path: Path) -> str:
    return "/".join(path.parts[-3:])


@cache
def loaded(slug: str) -> Loaded:
    return load(str(ON_CPU[slug] / "def.py"))


@cache
def problem(slug: str) -> FunctionProblem:
    return read_problem(ON_CPU[slug], lambda _: Manifest.model_validate(manifest_of(loaded(slug))))


def expected_of_sample(path: Path) -> str:
    fields = yaml.safe_load((path.parents[1] / "entrant.yaml").read_text(encoding="utf-8"))
    (expected,) = fields["expected"][path.parent.name]
    return str(expected)


def slug_of(path: Path) -> str:
    return path.parent.name if path.stem == "solution" else path.parents[1].name


def file_of(path: Path) -> SourceFile:
    return SourceFile(path=f"solution{path.suffix}", content=path.read_text(encoding="utf-8"))


def test_no_problem_is_left_out() -> None:
    assert (len(SLUGS), len(FOLDERS)) == (14, 39)


@pytest.mark.parametrize("path", FOLDERS, ids=short)
def test_a_folder_has_a_statement_and_known_bad_solutions(path: Path) -> None:
    folder: FunctionFolder = read_folder(path)
    assert folder.slug == path.name
    assert {"title", "difficulty", "tags", "group"} <= folder.head.keys()
    assert len(folder.known_bad) >= 4
    for word in ("largest case", "within" if "Tolerance" in folder.definition.content else "exact"):
        assert word in folder.statement


@pytest.mark.parametrize("slug", SLUGS)
def test_every_case_ranks_since_every_call_has_data_of_its_own(slug: str) -> None:
    cases = problem(slug).manifest.cases
    assert 4 <= len(cases) <= 6
    assert [case.why_not for case in cases if not case.ranks] == []


def test_the_problems_cover_dtypes_and_directions() -> None:
    arrays = [one for slug in SLUGS for one in loaded(slug).parameters if one.is_array]
    assert {one.dtype for one in arrays} == {"float32", "float64", "int32", "int64", "uint8", "bool"}
    assert {one.direction for one in arrays} == {"in", "out", "inout"}


@pytest.mark.parametrize("path", BAD_FILES + BASELINES + SAMPLES, ids=short)
def test_no_honest_file_is_refused(path: Path) -> None:
    assert problem(slug_of(path)).rules().why_bad([file_of(path)]) == ""


@pytest.mark.parametrize("slug", SLUGS)
def test_the_reference_agrees_with_a_plain_answer(slug: str) -> None:
    of = loaded(slug)
    for case in range(3):
        for seed in (1, 2):
            drawn = of.draw(case, seed)
            given = {one.name: value for one, value in zip(of.parameters, drawn.arguments, strict=True)}
            plain = zip(ANSWERS[slug](given), drawn.expected, strict=True)
            answers = [np.array(answer, dtype=wanted.dtype) for answer, wanted in plain]
            assert of.compare(case, drawn, answers).message == ""


@pytest.mark.parametrize("slug", SLUGS)
def test_constants_and_answers_to_other_data_are_wrong(slug: str) -> None:
    of = loaded(slug)
    for case in range(2, len(of.cases)):
        drawn, other = of.draw(case, 1), of.draw(case, 2)
        zeros = [np.zeros_like(one) for one in drawn.expected]
        ones = [np.ones_like(one) for one in drawn.expected]
        means = [np.full_like(one, one.mean()) for one in drawn.expected]
        rulings = [of.compare(case, drawn, actual).right for actual in (zeros, ones, means, other.expected)]
        assert not any(rulings)


@pytest.mark.parametrize("path", BAD_FILES, ids=short)
def test_a_known_bad_solution_is_wrong(path: Path) -> None:
    (bad,) = (bad for bad in read_folder(path.parents[1]).known_bad if bad.name == path.stem)
    of = loaded(slug_of(path))
    assert verdict(of, solution_of(path, of)) == bad.expect == "wrong_answer"


@pytest.mark.parametrize("path", BASELINES, ids=short)
def test_a_baseline_is_right(path: Path) -> None:
    of = loaded(slug_of(path))
    assert verdict(of, solution_of(path, of)) == "passed"


@pytest.mark.parametrize("path", [path for path in SAMPLES if expected_of_sample(path) != "test_failed"], ids=short)
def test_a_sample_gets_its_verdict(path: Path) -> None:
    of = loaded(slug_of(path))
    assert verdict(of, solution_of(path, of)) == expected_of_sample(path)


@pytest.mark.parametrize("path", [path for path in SAMPLES if expected_of_sample(path) == "test_failed"], ids=short)
def test_a_crashing_sample_crashes_in_its_largest_case_alone(path: Path) -> None:
    of = loaded(slug_of(path))
    last = len(of.cases) - 1
    assert [exit_code(of, path, case) for case in (last - 1, last)] == [0, -6]


def exit_code(of: Loaded, path: Path, case: int) -> int | None:
    """How a child process ends that makes one call: 0 if it is right, 1 if wrong, the signal if it crashes."""

    def call() -> None:
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os._exit(not rule(of, solution_of(path, of), case, 1).right)

    child = multiprocessing.get_context("fork").Process(target=call)
    child.start()
    child.join(30)
    return child.exitcode


@pytest.mark.parametrize("path", ENTRANTS, ids=short)
def test_an_entrant_has_one_sample_for_each_problem_or_for_most(path: Path) -> None:
    fields: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    slugs = {folder.name for folder in FOLDERS if folder.is_relative_to(path.parents[2])}
    assert fields["name"] == path.parent.name
    assert fields["samples_per_problem"] == 1
    attempted = {file.parent.name for file in path.parent.glob("*/solution.*")}
    assert fields["expected"].keys() == attempted <= slugs
    assert len(attempted) > len(slugs) / 2


@pytest.mark.parametrize("path", sorted(GPU.rglob("*.py")), ids=short)
def test_python_files_for_gpus_compile(path: Path) -> None:
    compile(path.read_text(encoding="utf-8"), str(path), "exec")


@requires("nvcc")
@pytest.mark.parametrize("path", CUDA_FILES, ids=short)
def test_cuda_files_compile(path: Path, tmp_path: Path) -> None:
    subprocess.run(["nvcc", "-arch=sm_90", "-c", "-o", tmp_path / "solution.o", path], check=True)
