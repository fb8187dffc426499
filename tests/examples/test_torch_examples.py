"""The function problems for GPUs, in their small cases on the CPU: references and the entrants' solutions."""

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from problems.formats.functions.folder import read_folder
from problems.formats.functions.inside.loaded import Loaded, load
from problems.formats.functions.inside.mutants import mutants_of
from tests.examples.torch_calls import Solution, ruling, solution_on_cpu
from tests.requirements import requires

GPU = Path("examples/functions-gpu")
SLUGS = sorted(path.parent.name for path in GPU.glob("problems/*/def.py"))
TORCH_SAMPLES = sorted(GPU.glob("entrants/demo-torch/*/solution.py"))
NOT_INTERPRETED = {
    "fp8-quantise": "Triton's interpreter rounds 8-bit floats in another way",
    "histogram": "it takes the interpreter half a minute",
    "matmul-bf16": "Triton's interpreter takes bfloat16 for whole numbers",
    "stencil-2d": "Triton's interpreter refuses its mask",
}
TRITON_SAMPLES = [
    path for path in sorted(GPU.glob("entrants/demo-triton/*/solution.py")) if path.parent.name not in NOT_INTERPRETED
]
RIGHT_IN_SMALL_CASES = {"int8-matmul/single-precision-sums.py": "its sums pass 2^24 in the large cases alone"}
BAD_TORCH_FILES = [
    path
    for path in sorted(GPU.glob("problems/*/known_bad/*.py"))
    if "import triton" not in path.read_text("utf-8") and f"{path.parts[-3]}/{path.name}" not in RIGHT_IN_SMALL_CASES
]
KERNELS = sorted(GPU.glob("entrants/demo-naive/*/solution.cu"))
SMALL_CASES = range(3)

if find_spec("triton"):  # before any test, because triton reads it for its own kernels when it is first loaded
    os.environ["TRITON_INTERPRET"] = "1"

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")


@cache
def loaded(slug: str) -> Loaded:
    return load(str(GPU / "problems" / slug / "def.py"), "cpu")


def short(path: Path) -> str:
    return "/".join(path.parts[-3:-1])


@pytest.mark.parametrize("slug", SLUGS)
def test_the_reference_is_right_as_a_solution(slug: str) -> None:
    of = loaded(slug)
    for case in SMALL_CASES:
        assert ruling(of, reference_of(of), case).message == ""


@pytest.mark.parametrize("slug", SLUGS)
def test_the_check_rejects_wrong_answers(slug: str) -> None:
    of = loaded(slug)
    for case in SMALL_CASES:
        assert mutants_of(of, case).faults == []


def reference_of(of: Loaded) -> Solution:
    """The class's reference as it is timed: its results are copied to the outputs."""

    def solution(*arguments: Any) -> None:
        outputs = [value for one, value in zip(of.parameters, arguments, strict=True) if one.is_written]
        for output, answer in zip(outputs, of.form.answer(list(arguments)), strict=True):
            output.copy_(answer)

    return solution


@pytest.mark.parametrize("path", TORCH_SAMPLES, ids=short)
def test_a_torch_solution_is_right(path: Path) -> None:
    of = loaded(path.parent.name)
    for case in SMALL_CASES:
        assert ruling(of, solution_on_cpu(path, of), case).message == ""


@pytest.mark.parametrize("path", BAD_TORCH_FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_known_bad_solution_in_torch_is_wrong(path: Path) -> None:
    of, folder = loaded(path.parts[-3]), read_folder(path.parents[1])
    (expected,) = (bad.expect for bad in folder.known_bad if bad.name == path.stem)
    solution = solution_on_cpu(path, of)
    rulings = (ruling(of, solution, case, seed) for case in SMALL_CASES for seed in (1, 2))
    assert expected == "wrong_answer"
    assert not all(one.right for one in rulings)


@pytest.mark.skipif(find_spec("triton") is None, reason="needs triton")
@pytest.mark.parametrize("path", TRITON_SAMPLES, ids=short)
def test_a_triton_solution_is_right_in_the_interpreter(path: Path) -> None:
    of = loaded(path.parent.name)
    for case in SMALL_CASES[:2]:
        assert ruling(of, solution_on_cpu(path, of), case).message == ""


@requires("nvcc")
@pytest.mark.parametrize("path", KERNELS, ids=short)
def test_a_plain_kernel_is_right(path: Path) -> None:
    of = loaded(path.parent.name)
    for case in SMALL_CASES:
        assert ruling(of, solution_on_cpu(path, of), case).message == ""
