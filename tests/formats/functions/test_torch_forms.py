"""torch definitions, in our form and in both of Tensara's. Without torch they are read and not run."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from problems.formats.functions.inside.errors import DefinitionError
from problems.formats.functions.inside.make_manifest import answer
from problems.formats.functions.inside.reference import Reference
from problems.formats.functions.inside.static import manifest_as_read
from problems.spec.function.manifest import Manifest
from tests.formats.functions.definitions import SOFTMAX, loaded, manifest, written
from tests.formats.functions.tensara_definitions import MARCH_2025, TODAY

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")

TORCH_FORM = """\
import torch
from podium_functions import Array, Case, Exact, FunctionProblem, Scalar, Tolerance


class Cast(FunctionProblem):
    arrays = "torch"
    computes_in = "bf16"
    parameters = (
        Array("x", "bfloat16", "in", ("n",)),
        Array("narrow", "float8_e4m3fn", "out", ("n",)),
        Array("signs", "bool", "out", ("n",)),
        Array("bytes_in", "int8", "inout", (4, "n")),
        Scalar("n", "size_t"),
    )
    accuracy = Tolerance(rtol=0, atol=0.5, reason="one step of float8 below 8")
    cases = (Case("17", n=17), Case("4096", n=4096))

    def inputs(self, case, rng):
        x = torch.randn(case.n, generator=rng, device="cuda").to(torch.bfloat16)
        made = {"dtype": torch.int8, "generator": rng, "device": self.device}
        return {"x": x, "bytes_in": torch.randint(-128, 128, (4, case.n), **made)}

    def reference(self, case, x, bytes_in):
        return x.to(torch.float8_e4m3fn), x > 0, bytes_in.bitwise_not_()
"""


def parameters_of(found: Manifest) -> list[tuple[str, str, str, str]]:
    return [(one.name, one.direction, one.role, one.dtype) for one in found.parameters]


TODAYS_PARAMETERS = [
    ("a", "in", "data", "float32"), ("kinds", "in", "structure", "int32"), ("shift", "in", "data", "float32"),
    ("total", "out", "data", "float32"), ("signs", "out", "data", "uint8"), ("n", "in", "data", "size_t"),
]  # fmt: skip
MARCHS_PARAMETERS = [
    ("matrix", "in", "data", "float32"), ("factors", "in", "data", "float32"), ("output", "out", "data", "float32"),
    ("rows", "in", "structure", "size_t"), ("cols", "in", "structure", "size_t"),
]  # fmt: skip


@needs_torch
def test_todays_form_gives_a_manifest_with_two_outputs(tmp_path: Path) -> None:
    found = manifest(tmp_path, TODAY)
    assert (found.form, found.output_init, found.accuracy.kind) == ("tensara", "zero", "own")
    assert parameters_of(found) == TODAYS_PARAMETERS
    case = found.cases[1]
    assert (case.name, case.size, case.flops, case.bytes) == ("n = 1000", 1000, 2000, 4000 * 3 + 1000)
    assert case.scalars == {"shift": 0.25, "n": 1000}
    assert case.ranks is True


@needs_torch
def test_the_form_of_march_2025_gives_a_manifest(tmp_path: Path) -> None:
    found = manifest(tmp_path, MARCH_2025)
    assert (found.form, found.dtype, found.fastest_dtype) == ("tensara-2025-03", "fp32", "tf32")
    assert [one[:2] + one[3:] for one in parameters_of(found)] == [one[:2] + one[3:] for one in MARCHS_PARAMETERS]
    assert found.cases[0].shapes == {"matrix": [3, 5], "factors": [3], "output": [3, 5]}
    assert [case.ranks for case in found.cases] == [True, True]


@needs_torch
@pytest.mark.parametrize("text", [TODAY, MARCH_2025, TORCH_FORM])
def test_fake_tensors_give_the_same_manifest_without_ranks(tmp_path: Path, text: str) -> None:
    real, fake = manifest(tmp_path, text), manifest(tmp_path, text, "fake")
    assert [case.ranks for case in fake.cases] == [None, None]
    plain = [case.model_copy(update={"ranks": None}) for case in real.cases]
    assert fake.cases == plain
    assert [one.dtype for one in fake.parameters] == [one.dtype for one in real.parameters]


@needs_torch
def test_a_definition_that_asks_for_values_is_run_on_the_cpu(tmp_path: Path) -> None:
    asking = MARCH_2025.replace("return matrix.cuda()", "assert float(matrix.max()) <= 1\n        return matrix.cuda()")
    found = Manifest.model_validate(answer(written(tmp_path, asking), "cpu", fake=True))
    assert [case.ranks for case in found.cases] == [True, True]


@needs_torch
@pytest.mark.parametrize("text", [TODAY, MARCH_2025])
def test_a_tensara_definition_draws_fresh_data_and_repeats_itself(tmp_path: Path, text: str) -> None:
    import torch

    problem = loaded(tmp_path, text)
    first, other, again = problem.draw(1, 1), problem.draw(1, 2), problem.draw(1, 1)
    assert torch.equal(first.arguments[0], again.arguments[0])
    assert not torch.equal(first.arguments[0], other.arguments[0])
    assert [value is None for value in first.arguments] == [one.is_written for one in problem.parameters]


@needs_torch
@pytest.mark.parametrize("text", [TODAY, MARCH_2025])
def test_a_tensara_definition_verifies_by_itself(tmp_path: Path, text: str) -> None:
    problem = loaded(tmp_path, text)
    drawn = problem.draw(0, 1)
    assert problem.compare(0, drawn, [one.clone() for one in drawn.expected], None).right
    wrong = [one.clone() for one in drawn.expected]
    wrong[0].view(-1)[2] += 1
    found = problem.compare(0, drawn, wrong, None)
    assert (found.right, found.n_wrong) == (False, 1)
    assert found.largest == pytest.approx(1.0)


@needs_torch
@pytest.mark.parametrize(
    "drawn",
    [
        "(torch.manual_seed(3), torch.rand((rows, cols), dtype=dtype))[1]",
        "(torch.cuda.manual_seed_all(3), torch.rand((rows, cols), dtype=dtype))[1]",
        "torch.rand((rows, cols), generator=torch.Generator().manual_seed(3), dtype=dtype).cuda()",
        "torch.rand((rows, cols), generator=torch.Generator(device='cuda').manual_seed(3), dtype=dtype, device='cuda')",
    ],
)
def test_a_fixed_seed_of_torch_gives_fresh_data_in_every_call(tmp_path: Path, drawn: str) -> None:
    text = MARCH_2025.replace('torch.rand((rows, cols), device="cuda", dtype=dtype)', drawn)
    assert drawn in text
    found = manifest(tmp_path, text)
    assert [case.ranks for case in found.cases] == [True, True]


@needs_torch
def test_narrow_data_types_are_drawn_and_compared(tmp_path: Path) -> None:
    import torch

    problem = loaded(tmp_path, TORCH_FORM)
    drawn = problem.draw(0, 7)
    assert drawn.arguments[0].dtype == torch.bfloat16
    assert drawn.arguments[0].device.type == "cpu"
    assert torch.equal(drawn.expected[2], ~drawn.arguments[3])
    assert problem.compare(0, drawn, drawn.expected, None).right
    wrong = [one.clone() for one in drawn.expected]
    wrong[0][3] = torch.tensor(float("nan")).to(torch.float8_e4m3fn)
    wrong[2][1, 2] ^= 1
    found = problem.compare(0, drawn, wrong, None)
    assert (found.n_wrong, [one[:2] for one in found.first_wrong]) == (2, [("narrow", (3,)), ("bytes_in", (1, 2))])


@needs_torch
@pytest.mark.parametrize("text", [TODAY, MARCH_2025])
def test_a_reference_may_not_change_its_inputs(tmp_path: Path, text: str) -> None:
    name = "a" if text is TODAY else "matrix"
    changing = text.replace("        return matrix.cuda()", "        matrix += 1\n        return matrix.cuda()")
    changing = changing.replace("        with torch.no_grad()", "        a.mul_(2)\n        with torch.no_grad()")
    with pytest.raises(DefinitionError, match="`reference_solution` changed its input 1"):
        loaded(tmp_path, changing).draw(0, 1)
    assert name in changing


@needs_torch
@pytest.mark.parametrize("text", [TODAY, MARCH_2025, TORCH_FORM])
def test_on_a_gpu_everything_is_drawn_and_compared_there(tmp_path: Path, text: str) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    problem = loaded(tmp_path, text, "cuda")
    drawn, again = problem.draw(1, 1), problem.draw(1, 1)
    assert {one.device.type for one in drawn.expected} == {"cuda"}
    assert torch.equal(drawn.arguments[0], again.arguments[0])
    assert problem.compare(1, drawn, [one.clone() for one in drawn.expected], None).right
    assert not problem.compare(1, drawn, [torch.zeros_like(one) for one in drawn.expected], None).right
    assert [case.ranks for case in manifest(tmp_path, text, "cuda").cases] == [True, True]


@needs_torch
def test_the_reference_of_a_tensara_definition_solves_it() -> None:
    import torch

    a, kinds = torch.tensor([-1.0, 2.0]), torch.tensor([4, 8], dtype=torch.int32)
    total, signs = torch.zeros(2), torch.zeros(2, dtype=torch.uint8)
    Reference(TODAY)(a, kinds, 0.5, total, signs, 2)
    assert (total.tolist(), signs.tolist()) == ([1.0, 6.0], [0, 1])


@needs_torch
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TODAY.replace('"type": "float"', '"type": "quad"', 1), r"line 7: `a` has the type 'quad'"),
        (TODAY.replace('"type": "uint8_t"', '"type": "int"'), "`signs` is declared as int32"),
        (TODAY.replace("return [test_case", "return [1, test_case"), "has 6 parameters, but a call has 3 inputs"),
        (TODAY.replace('{"name": "kinds"', '{"name": "a"'), "names `a` twice"),
        (TODAY.replace('"create_inputs"', '"made"'), "a callable `create_inputs`"),
        (TODAY.replace("return a + shift", "return 5, a + shift"), "must return a tensor or a tuple of tensors"),
        (TODAY.replace("verify_result", "verify_it"), "has no method `verify_result`"),
        (MARCH_2025.replace("ctypes.c_size_t,\n", "int,\n"), "`argtypes` holds <class 'int'>"),
        (MARCH_2025.replace('"argtypes"', '"types"'), "has no `argtypes`"),
    ],
)  # fmt: skip
def test_a_faulty_tensara_definition_is_told_with_words(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DefinitionError, match=words) as found:
        loaded(tmp_path, text).draw(0, 1)
    assert found.value.line > 0


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [(TODAY, "tensara", TODAYS_PARAMETERS), (MARCH_2025, "tensara-2025-03", MARCHS_PARAMETERS)],
)
def test_without_torch_a_definition_is_read_and_not_run(tmp_path: Path, text: str, form: str, expected: Any) -> None:
    found = Manifest.model_validate(manifest_as_read(written(tmp_path, text)))
    assert (found.form, found.is_run, found.cases) == (form, False, [])
    assert [(one.direction, one.dtype) for one in found.parameters] == [(one[1], one[3]) for one in expected]


def test_our_form_for_torch_is_read_like_the_others(tmp_path: Path) -> None:
    found = Manifest.model_validate(manifest_as_read(written(tmp_path, TORCH_FORM)))
    assert (found.is_run, found.dtype, found.accuracy.atol, found.arrays) == (False, "bf16", 0.5, "torch")
    assert parameters_of(found)[:2] == [("x", "in", "data", "bfloat16"), ("narrow", "out", "data", "float8_e4m3fn")]


def test_a_definition_for_numpy_is_always_run(tmp_path: Path) -> None:
    assert manifest_as_read(written(tmp_path, SOFTMAX)) is None
    assert answer(written(tmp_path, SOFTMAX), "cpu", fake=True)["is_run"] is True


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (TORCH_FORM.replace("    parameters = (", "    parameters = make(") , 8, "cannot be told without torch"),
        (TORCH_FORM.replace('"bfloat16"', "NARROW"), 9, "cannot be told without torch"),
        (TORCH_FORM.replace('"bfloat16"', '"b16"'), 5, "the dtype of `x` is 'b16'"),
        (MARCH_2025.replace('return {\n            "arg', 'return dict() or {\n            "arg'), 28, "cannot be"),
        (MARCH_2025.replace("matrix, factors", "*inputs"), 10, "cannot be told"),
    ],
)  # fmt: skip
def test_a_signature_that_cannot_be_read_is_told_with_its_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    with pytest.raises(DefinitionError, match=words) as found:
        manifest_as_read(written(tmp_path, text))
    assert found.value.line == line


COMPILE = """\
import torch
from problems.formats.functions.inside.reference import Reference
from tests.formats.functions.tensara_definitions import TODAY

plain, compiled = Reference(TODAY), Reference(TODAY, is_compiled=True)
for a in (torch.tensor([-1.0, 2.0]), torch.tensor([3.0, -4.0, 5.0])):
    kinds = torch.arange(len(a), dtype=torch.int32)
    outputs = [[torch.zeros(len(a)), torch.zeros(len(a), dtype=torch.uint8)] for _ in range(2)]
    plain(a, kinds, 0.5, *outputs[0], len(a))
    compiled(a, kinds, 0.5, *outputs[1], len(a))
    print([one.tolist() for one in outputs[0]] == [one.tolist() for one in outputs[1]], outputs[1][1].tolist())
"""


@needs_torch
def test_a_reference_can_be_compiled() -> None:
    """Compiles by torch.compile, each shape on its own, in a process of its own, because it loads Triton in its own
    way."""
    ended = subprocess.run([sys.executable, "-c", COMPILE], capture_output=True, text=True, check=True)
    assert ended.stdout == "True [0, 1]\nTrue [1, 0, 1]\n"


FLAGS = """\
import torch
from podium_functions import Array, Case, FunctionProblem, Scalar


def tell(where):
    backends = torch.backends
    print(where, backends.cuda.matmul.allow_tf32, backends.cudnn.allow_tf32, backends.cudnn.benchmark)


class Twice(FunctionProblem):
    arrays = "torch"
    parameters = (Array("x", "float32", "in", ("n",)), Array("y", "float32", "out", ("n",)), Scalar("n", "size_t"))
    cases = (Case("3", n=3),)

    def inputs(self, case, rng):
        return {"x": torch.rand(case.n, generator=rng, device=self.device)}

    def reference(self, case, x):
        tell("reference")
        return 2 * x

    def verify(self, case, expected, actual):
        tell("check")
        return bool((expected == actual).all())
"""
WITH_TF32 = """\
import sys
import torch
from problems.formats.functions.inside.loaded import load
from problems.formats.functions.inside.reference import Reference

torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
"""
JUDGED = "problem = load(sys.argv[1])\ndrawn = problem.draw(0, 1)\nproblem.compare(0, drawn, drawn.expected)\n"
AS_BASELINE = "Reference(open(sys.argv[1]).read())(torch.ones(3), torch.ones(3), 3)\n"


@needs_torch
@pytest.mark.parametrize(("body", "places"), [(JUDGED, ["reference", "check"]), (AS_BASELINE, ["reference"])])
def test_tf32_is_off_wherever_the_class_computes(tmp_path: Path, body: str, places: list[str]) -> None:
    """In a process of its own, where TF32 was on before, as an environment variable can have it."""
    command = [sys.executable, "-c", WITH_TF32 + body, written(tmp_path, FLAGS)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == [f"{place} False False False" for place in places]
