"""Solutions of other forms find their problems, and are refused in words. Nothing of them runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from problems.formats.compute_eval.packs import read_problem_pack
from problems.formats.set_solutions import converted
from problems.spec.function.problem import FunctionProblem
from tests.examples.digests import EXAMPLES

SETS = EXAMPLES / "problem-sets"


@pytest.fixture(scope="module")
def problems() -> dict[str, FunctionProblem]:
    pack = read_problem_pack(next((SETS / "board").glob("*-problems.tar.gz")))
    return {one.problem.task_id: one.problem for one in pack.records if isinstance(one.problem, FunctionProblem)}


def test_kernelbenchs_own_file_names_find_problems_of_a_level_and_of_a_whole_checkout(
    tmp_path: Path, problems: dict[str, FunctionProblem]
) -> None:
    text = (SETS / "kernelbench-solutions/kernelbench-level1-2-shift-in-place.py").read_text()
    (tmp_path / "level_1_problem_2_sample_0_kernel.py").write_text(text)
    whole = "kernelbench-level1-2-shift-in-place"
    level = {name.removeprefix("kernelbench-"): one for name, one in problems.items()}
    for pack in (problems, level):
        (found,) = converted("kernelbench", tmp_path, pack)
        assert found.solution is not None, found.refused
        assert found.solution.task_id == whole


@pytest.mark.parametrize(
    ("form", "spec", "words"),
    [
        ("sol-execbench", {}, ""),
        ("sol-execbench", {"languages": ["tlx"], "target_hardware": ["LOCAL"]}, ""),
        ("sol-execbench", {"target_hardware": ["local"]}, "target_hardware 'local', which SOL-ExecBench refuses"),
        ("flashinfer", {"target_hardware": ["local"]}, ""),
        ("sol-execbench", {"languages": ["triton", "cuda_cpp"]}, "is in cuda_cpp"),
        (
            "sol-execbench",
            {"languages": ["triton"], "entry_point": "k.cu::run"},
            "is in triton, but its entry point 'k.cu'",
        ),
    ],
)
def test_a_solution_is_taken_by_its_sets_rules(
    tmp_path: Path, problems: dict[str, FunctionProblem], form: str, spec: dict[str, Any], words: str
) -> None:
    made = {"entry_point": "k.py::run", "languages": ["pytorch"], **spec}
    source = {"path": str(made["entry_point"]).partition("::")[0], "content": "def run(*all):\n    pass\n"}
    solution = {"name": "one", "definition": "normed_rows", "spec": made, "sources": [source]}
    (tmp_path / "one.json").write_text(json.dumps(solution))
    (found,) = converted(form, tmp_path, problems)
    assert (found.solution is None) == bool(words)
    assert words in found.refused
