"""Wrong answers made from right ones: a case whose check accepts one does not rank."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from problems.formats.functions.inside import mutants
from problems.formats.functions.inside.comparing import Comparison
from problems.formats.functions.inside.freshness import look_at, ranking_of
from problems.formats.functions.inside.loaded import Drawn, Loaded
from problems.formats.functions.inside.mutants import Mutants, mutants_of
from problems.spec.function.manifest import Manifest
from tests.formats.functions.definitions import SOFTMAX, loaded, manifest, softmax_with

HEAD = "import numpy as np\nfrom podium_functions import Array, Case, Exact, FunctionProblem, Scalar, Tolerance\n\n\n"


def vector(reference: str, accuracy: str, *, n: int = 1000, dtype: str = "float32", inputs: str = "rng.random") -> str:
    """A class of one input and one output of n numbers each."""
    return f"""{HEAD}class Vector(FunctionProblem):
    parameters = (Array("x", "{dtype}", "in", ("n",)), Array("y", "{dtype}", "out", ("n",)), Scalar("n", "size_t"))
    {accuracy}
    cases = (Case("one", n={n}),)

    def inputs(self, case, rng):
        return {{"x": {inputs}(case.n, dtype=np.{dtype})}}

    def reference(self, case, x):
        return {reference}
"""


def tolerance(rtol: float, atol: float) -> str:
    return f'accuracy = Tolerance(rtol={rtol}, atol={atol}, reason="for a test")'


FIRST_HALF_ALONE = """accuracy = Exact()

    def verify(self, case, expected, actual):
        return bool((expected[:500] == actual[:500]).all())
"""


def why_not(found: Manifest) -> str:
    (case,) = found.cases
    assert case.ranks is False
    return case.why_not


@pytest.mark.parametrize(
    ("reference", "accuracy", "accepted"),
    [
        ("x * np.float32(1e-3)", tolerance(1e-5, 1e-2), "`y` filled with 0; "),
        ("x + np.float32(100)", tolerance(0.02, 0), "`y` filled with another call's mean."),
        ("x + np.float32(1e-4)", tolerance(0, 1e-3), "`y` as a copy of `x`."),
        ("np.sqrt(x)", FIRST_HALF_ALONE, "`y` with 0 in its last part."),
    ],
)
def test_a_case_whose_check_accepts_a_wrong_answer_does_not_rank(
    tmp_path: Path, reference: str, accuracy: str, accepted: str
) -> None:
    words = why_not(manifest(tmp_path, vector(reference, accuracy)))
    assert words.startswith("the check accepts wrong answers: ")
    assert accepted in words
    assert words.endswith("Tighten `accuracy`, or draw inputs whose answers differ more")


def test_the_same_cases_rank_if_the_check_is_strict(tmp_path: Path) -> None:
    for number, reference in enumerate(("x * np.float32(1e-3)", "x + np.float32(100)", "x + np.float32(1e-4)")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (case,) = manifest(folder, vector(reference, tolerance(2e-7, 0))).cases
        assert (case.ranks, case.why_not, case.admits) == (True, "", "")


def test_every_output_is_tried_alone(tmp_path: Path) -> None:
    text = vector("x * 2, np.zeros_like(x) + x[0] * np.float32(1e-9)", tolerance(0, 1e-6)).replace(
        'Scalar("n"', 'Array("noise", "float32", "out", ("n",)), Scalar("n"'
    )
    words = why_not(manifest(tmp_path, text))
    assert "`noise` filled with 0" in words
    assert "`y`" not in words


def test_zeros_that_are_right_are_no_fault(tmp_path: Path) -> None:
    (case,) = manifest(tmp_path, vector("np.where(np.arange(case.n) < 900, x, 0)", tolerance(1e-6, 0))).cases
    assert (case.ranks, case.why_not) == (True, "")


def test_a_few_elements_may_equal_an_input_and_many_may_not(tmp_path: Path) -> None:
    few, many = (manifest(tmp_path, vector("np.abs(x)", tolerance(1e-6, 0), n=n)).cases[0] for n in (3, 300))
    assert few.ranks is True
    assert "`y` as a copy of `x`" in many.why_not


def test_an_answer_that_is_right_by_chance_in_one_call_is_no_fault(tmp_path: Path) -> None:
    """A single bit is 0 in every other call."""
    text = vector("x > 0.5", "accuracy = Exact()", n=1).replace('("y", "float32"', '("y", "bool"')
    assert manifest(tmp_path, text).cases[0].ranks is True


@pytest.mark.parametrize(
    ("atol", "dtype", "admits"),
    [
        (2e-8, "float32", ""),
        (1e-3, "float32", "fp16"),
        (4e-3, "float32", "bf16"),
        (1e-12, "float64", ""),
        (1e-6, "float64", "fp32"),
    ],
)
def test_the_lowest_precision_that_the_check_admits_is_told(
    tmp_path: Path, atol: float, dtype: str, admits: str
) -> None:
    declared = {"float32": "fp32", "float64": "fp64"}[dtype]
    accuracy = f'{tolerance(0, atol)}\n    fastest_dtype = "{declared}"'
    (case,) = manifest(tmp_path, vector("np.sqrt(x)", accuracy, dtype=dtype)).cases
    assert (case.admits, case.ranks) == (admits, True)


def test_a_precision_that_is_declared_is_not_told(tmp_path: Path) -> None:
    accuracy = f'{tolerance(0, 4e-3)}\n    fastest_dtype = "bf16"'
    assert manifest(tmp_path, vector("np.sqrt(x)", accuracy)).cases[0].admits == ""


def test_whole_numbers_have_no_precision(tmp_path: Path) -> None:
    text = vector("x * 3", "accuracy = Exact()", dtype="int64", inputs="(lambda n, dtype: rng.integers(0, 99, n))")
    assert (manifest(tmp_path, text).cases[0].ranks, manifest(tmp_path, text).cases[0].admits) == (True, "")


def test_a_reference_that_refuses_rounded_inputs_admits_none(tmp_path: Path) -> None:
    reference = "np.sqrt(x) if (x != x.astype(np.float16)).any() else 1 / 0"
    (case,) = manifest(tmp_path, vector(reference, tolerance(0, 1e-3))).cases
    assert (case.ranks, case.admits) == (True, "")


def test_mutants_leave_a_draw_as_it_is(tmp_path: Path) -> None:
    problem = loaded(tmp_path, softmax_with(accuracy="Tolerance(rtol=0, atol=1e9, reason='x')"))
    drawn, again = problem.draw(1, 1), problem.draw(1, 1)
    mutants = Mutants(problem, 1, problem.draw(1, 0))
    mutants.look(drawn)
    assert len(mutants.faults) == 4
    assert np.array_equal(drawn.arguments[0], again.arguments[0])
    assert np.array_equal(drawn.expected[0], again.expected[0])


TORCH = """\
import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar, Tolerance


class Narrow(FunctionProblem):
    arrays = "torch"
    parameters = (
        Array("x", "float32", "in", ("n",)),
        Array("narrow", "float8_e4m3fn", "out", ("n",)),
        Array("is_large", "bool", "out", ("n",)),
        Array("half", "bfloat16", "out", ("n",)),
        Scalar("n", "size_t"),
    )
    accuracy = ACCURACY
    cases = (Case("one", n=500),)

    def inputs(self, case, rng):
        return {"x": torch.rand((case.n,), generator=rng, device=self.device) + 1}

    def reference(self, case, x):
        return x.to(torch.float8_e4m3fn), x > 1.5, x.bfloat16()
"""


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_torch_outputs_of_every_width_are_altered(tmp_path: Path) -> None:
    (strict,) = manifest(tmp_path, TORCH.replace("ACCURACY", "Exact()")).cases
    assert (strict.ranks, strict.admits) == (True, "")
    (loose,) = manifest(tmp_path, TORCH.replace("ACCURACY", "Tolerance(rtol=2, atol=0, reason='x')")).cases
    assert loose.ranks is False
    for output in ("narrow", "is_large", "half"):
        assert f"`{output}` filled with 0" in loose.why_not
    assert loose.admits == "fp8"


def test_an_honest_problem_has_no_faults(tmp_path: Path) -> None:
    assert [case.ranks for case in manifest(tmp_path, SOFTMAX).cases] == [True, True]


def on_a_device(found: Loaded, monkeypatch: pytest.MonkeyPatch, accepts_on_host: Callable[[bool], bool]) -> Mutants:
    """The mutants of a problem whose arrays are on a device; what the CPU rules is made of what the device ruled."""

    def on_host(case: int, drawn: Drawn, actual: list[Any]) -> Comparison:
        return Comparison(right=accepts_on_host(found.compare(case, drawn, actual).right))

    monkeypatch.setattr(found.library, "device", "cuda", raising=False)
    monkeypatch.setattr(found, "compare_on_host", on_host)
    return mutants_of(found, 0)


def test_a_check_that_rules_otherwise_on_the_cpu_is_told_with_each_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = vector("x + np.float32(1e-4)", tolerance(2e-7, 0))
    assert on_a_device(loaded(tmp_path, text), monkeypatch, lambda right: right).differing == []
    wrong = on_a_device(loaded(tmp_path, text), monkeypatch, lambda _: True)
    assert wrong.differing[0] == "`y` filled with 0"
    assert len(wrong.differing) == len(set(wrong.differing)) >= 4
    assert "the right answer" not in wrong.differing
    assert "the right answer" in on_a_device(loaded(tmp_path, text), monkeypatch, lambda _: False).differing


def test_outputs_too_large_for_the_hosts_memory_are_ruled_on_by_the_device_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = loaded(tmp_path, vector("x + np.float32(1e-4)", tolerance(2e-7, 0)))
    n_elements = found.draw(0, 0).expected[0].size
    for limit, is_ruled_on in ((n_elements, True), (n_elements - 1, False)):
        monkeypatch.setattr(mutants, "HOST_ELEMENTS", limit)
        assert bool(on_a_device(found, monkeypatch, lambda right: not right).differing) is is_ruled_on


def test_a_case_whose_check_rules_otherwise_on_the_cpu_does_not_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = loaded(tmp_path, vector("x + np.float32(1e-4)", tolerance(2e-7, 0)))
    assert ranking_of(found, set(), look_at(found, 0)) == (True, "")
    on_a_device(found, monkeypatch, lambda _: True)
    ranks, why_not = ranking_of(found, set(), look_at(found, 0))
    assert ranks is False
    assert why_not.startswith("the check rules otherwise on the GPU than on the CPU: `y` filled with 0; ")
