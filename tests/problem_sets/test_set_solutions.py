"""Solutions of other forms find their problems, are refused in words, or are judged in the sandbox."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from problems.formats.compute_eval.packs import read_problem_pack
from problems.formats.set_solutions import converted
from problems.spec.function.problem import FunctionProblem
from tests.examples.digests import EXAMPLES
from tests.problem_sets.torches import needs_torch
from tests.requirements import requires
from tests.warm_podium import run_podium

SETS = EXAMPLES / "problem-sets"
CUDA = {"languages": ["cuda_cpp"], "entry_point": "k.cu::run"}
TORCH = """\
#include <torch/extension.h>
#include "scaled.h"
torch::Tensor run(torch::Tensor x, double factor) { return scaled(factor) * x / (x * x).sum(1, true).sqrt(); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
"""


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
        ("sol-execbench", {"languages": ["triton", "cuda_cpp"]}, "mixes triton and cuda_cpp"),
        ("sol-execbench", {"languages": ["cobol"]}, "is in 'cobol'; the form's languages are"),
        ("sol-execbench", CUDA | {"binding": "tvm-ffi"}, "has the binding 'tvm-ffi'; this form's are torch"),
        ("flashinfer", CUDA | {"binding": "pybind"}, "has the binding 'pybind'"),
        ("sol-execbench", CUDA | {"entry_point": "src/k.cu::run"}, "has the entry point 'src/k.cu' in a folder"),
        ("flashinfer", CUDA | {"entry_point": "k.py::run"}, "is in cuda_cpp, but its entry point 'k.py'"),
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


@pytest.mark.parametrize(
    ("form", "spec", "files", "words"),
    [
        ("flashinfer", {}, "('k.cu', 'a/b.cpp')", "binding='tvm-ffi', writes=True, flags={})"),
        (
            "flashinfer",
            {"binding": "torch"},
            "('k.cu', 'a/b.cpp')",
            "binding='torch', writes=True, flags={'with_cuda': True})",
        ),
        (
            "sol-execbench",
            {"compile_options": {"cflags": ["-O2"]}, "destination_passing_style": False},
            "('k.cu',)",
            "binding='torch', writes=False, flags={'extra_cflags': ['-O2'], 'extra_cuda_cflags': ['-O3', "
            "'--use_fast_math'], 'extra_ldflags': ['-lcuda'], 'with_cuda': True})",
        ),
    ],
)
def test_a_solution_in_cuda_is_compiled_as_its_set_does(
    tmp_path: Path, problems: dict[str, FunctionProblem], form: str, spec: dict[str, Any], files: str, words: str
) -> None:
    sources = [{"path": path, "content": ""} for path in ("k.cu", "a/b.cpp", "k.h")]
    solution = {"name": "one", "definition": "normed_rows", "spec": CUDA | spec, "sources": sources}
    (tmp_path / "one.json").write_text(json.dumps(solution))
    (found,) = converted(form, tmp_path, problems)
    assert found.solution is not None, found.refused
    assert f"ADAPTED = AdaptedExtension(SOURCES, {files}, 'run', {words}\n" in found.solution.files[0].content


@needs_torch
@requires("bubblewrap")
@pytest.mark.parametrize(("header", "verdict"), [("return by;", "passed"), ("return 2 * by;", "wrong_answer")])
def test_a_solution_in_cpp_is_judged_by_its_answers(tmp_path: Path, header: str, verdict: str) -> None:
    """With torch's binding, whose headers a compiler reads for ten seconds in each process."""
    spec = {"entry_point": "k.cpp::run", "language": "cpp", "binding": "torch", "destination_passing_style": False}
    sources = [
        {"path": "k.cpp", "content": TORCH},
        {"path": "scaled.h", "content": f"inline double scaled(double by) {{ {header} }}\n"},
    ]
    solution = {"name": "one", "definition": "scaled_rows_w64", "spec": spec, "sources": sources}
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions/one.json").write_text(json.dumps(solution))
    environment = os.environ | {"NO_COLOR": "1"}
    for words in (
        ["problems", "import", "flashinfer", str(SETS / "flashinfer"), "--device", "cpu", "--out", "made.tar.gz",
         "--sandbox", "bubblewrap"],
        ["problems", "adapt", "flashinfer", "solutions", "--problems", "made.tar.gz", "--out", "one.tar.gz"],
        ["evaluate", "--problems", "made.tar.gz", "--solutions", "one.tar.gz", "--out", "graded.jsonl", "--sandbox",
         "bubblewrap"],
    ):  # fmt: skip
        done = run_podium(words, environment, tmp_path)
        assert done.returncode == 0, done.stderr
    (row,) = [json.loads(line) for line in (tmp_path / "graded.jsonl").read_text().splitlines()]
    assert row["podium"]["verdict"] == verdict, row["podium"]["steps"]
