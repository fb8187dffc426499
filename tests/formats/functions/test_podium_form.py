"""Our own form of a definition: drawing, comparing, and errors that name file, line and remedy."""

from pathlib import Path

import numpy as np
import pytest

from problems.formats.functions.inside.errors import DefinitionError
from problems.formats.functions.inside.reference import Reference
from tests.formats.functions.definitions import SCALE_IN_PLACE, SOFTMAX, loaded, manifest, softmax_with


def test_a_manifest_holds_signature_cases_and_work(tmp_path: Path) -> None:
    found = manifest(tmp_path)
    assert (found.form, found.arrays, found.class_name, found.output_init) == (
        "podium",
        "numpy",
        "RowSoftmax",
        "poison",
    )
    assert [(one.name, one.kind, one.direction, one.const) for one in found.parameters] == [
        ("x", "array", "in", True), ("y", "array", "out", False),
        ("rows", "scalar", "in", False), ("cols", "scalar", "in", False),
    ]  # fmt: skip
    small, large = found.cases
    assert (small.flops, small.bytes, small.ranks) == (75.0, 120.0, True)
    assert (large.size, large.shapes, large.scalars) == (
        1200.0,
        {"x": [40, 30], "y": [40, 30]},
        {"rows": 40, "cols": 30},
    )


def test_equal_seeds_give_equal_data_and_others_do_not(tmp_path: Path) -> None:
    problem = loaded(tmp_path)
    first, other, again = problem.draw(0, 2**64 - 1), problem.draw(0, 2), problem.draw(0, 2**64 - 1)
    assert np.array_equal(first.arguments[0], again.arguments[0])
    assert not np.array_equal(first.arguments[0], other.arguments[0])
    assert first.arguments[1:] == [None, 3, 5]


@pytest.mark.parametrize(
    "source",
    [
        "np.random.default_rng(7).random((case.rows, case.cols), dtype=np.float32)",
        "np.random.RandomState(7).rand(case.rows, case.cols).astype(np.float32)",
        "(np.random.seed(7), np.random.rand(case.rows, case.cols).astype(np.float32))[1]",
        "np.random.rand(case.rows, case.cols).astype(np.float32)",
        "np.arange(case.rows * case.cols, dtype=np.float32).reshape(case.rows, -1) * random.Random(7).random()",
        "(random.seed(7), np.eye(case.rows, case.cols, dtype=np.float32) * random.random())[1]",
    ],
)
def test_a_fixed_seed_gives_fresh_data_in_every_call(tmp_path: Path, source: str) -> None:
    text = "import random\n" + SOFTMAX + f'\n    def inputs(self, case, rng):\n        return {{"x": {source}}}\n'
    problem = loaded(tmp_path, text)
    first, other, again = problem.draw(0, 1), problem.draw(0, 2), problem.draw(0, 1)
    assert np.array_equal(first.arguments[0], again.arguments[0])
    assert not np.array_equal(first.arguments[0], other.arguments[0])
    assert manifest(tmp_path, text).cases[0].ranks is True


def test_seeds_outside_of_calls_are_left_alone(tmp_path: Path) -> None:
    plain = np.random.default_rng(7).random()
    loaded(tmp_path).draw(0, 1)
    assert np.random.default_rng(7).random() == plain


def test_inout_arrays_are_given_and_expected(tmp_path: Path) -> None:
    drawn = loaded(tmp_path, SCALE_IN_PLACE).draw(1, 5)
    _, values, flags, factor, n = drawn.arguments
    assert (flags, factor, n) == (None, 3, 1000)
    assert np.array_equal(drawn.expected[0], values + 9)
    assert drawn.expected[1].dtype == np.bool_


def test_the_right_answer_is_right_and_a_wrong_element_is_shown(tmp_path: Path) -> None:
    problem = loaded(tmp_path)
    drawn = problem.draw(0, 1)
    assert problem.compare(0, drawn, [drawn.expected[0] * (1 + 5e-6)], None).right
    wrong = drawn.expected[0].copy()
    wrong[2, 3] += 1.0
    found = problem.compare(0, drawn, [wrong], None)
    assert (found.right, found.n_wrong, found.n_total) == (False, 1, 15)
    assert found.largest == pytest.approx(1.0)
    assert found.mean == pytest.approx(1.0 / 15)
    assert found.first_wrong[0][:2] == ("y", (2, 3))
    assert "1 of 15 elements are wrong; the first is y[2][3]: expected " in found.message


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_right_only_where_it_is_expected(tmp_path: Path, value: float) -> None:
    problem = loaded(tmp_path)
    drawn = problem.draw(0, 1)
    actual = drawn.expected[0].copy()
    actual[0, 0] = value
    found = problem.compare(0, drawn, [actual], None)
    assert (found.right, found.n_wrong, found.largest) == (False, 1, np.inf)
    drawn.expected[0][0, 0] = value
    assert problem.compare(0, drawn, [actual], None).right
    plain = actual.copy()
    plain[0, 0] = 1e30
    assert not problem.compare(0, drawn, [plain], None).right


def test_large_whole_numbers_are_compared_exactly(tmp_path: Path) -> None:
    problem = loaded(tmp_path, SCALE_IN_PLACE)
    drawn = problem.draw(1, 1)
    actual = [one.copy() for one in drawn.expected]
    assert problem.compare(1, drawn, actual, None).right
    actual[0][17] += 1
    assert problem.compare(1, drawn, actual, None).first_wrong[0][:2] == ("values", (17,))


OWN_VERIFY = (
    SOFTMAX
    + """
    def verify(self, case, expected, actual):
        return float(np.mean(np.abs(expected - actual) > 1e-3)) < 0.5, {"message": "more than half is off"}
"""
)


def test_a_class_may_verify_by_itself(tmp_path: Path) -> None:
    problem = loaded(tmp_path, OWN_VERIFY)
    drawn = problem.draw(0, 1)
    actual = drawn.expected[0].copy()
    actual[0, 0] = 5
    assert problem.compare(0, drawn, [actual], None).right
    found = problem.compare(0, drawn, [actual + 5], None)
    assert (found.right, found.message, found.n_wrong) == (False, "more than half is off", 15)


def test_an_element_never_written_is_wrong_whatever_share_is_admitted(tmp_path: Path) -> None:
    problem = loaded(tmp_path, OWN_VERIFY)
    drawn = problem.draw(0, 1)
    actual = drawn.expected[0].copy()
    actual[0, 0] = 5
    mask = np.zeros((3, 5), bool)
    mask[0, 0] = True
    found = problem.compare(0, drawn, [actual], [mask])
    assert (found.right, found.message) == (False, "1 elements were never written")
    assert problem.compare(0, drawn, [drawn.expected[0]], [mask]).right


@pytest.mark.parametrize(
    ("inputs", "why_not"),
    [
        ("np.ones((case.rows, case.cols), np.float32)", "every call has the same `x`"),
        (
            "rng.random((case.rows, case.cols), dtype=np.float32) * np.float32(0) + np.float32(rng.integers(9))",
            "`y` came out the same",
        ),
    ],
)  # fmt: skip
def test_a_case_of_fixed_data_does_not_rank(tmp_path: Path, inputs: str, why_not: str) -> None:
    found = manifest(tmp_path, SOFTMAX + f'\n    def inputs(self, case, rng):\n        return {{"x": {inputs}}}\n')
    assert [case.ranks for case in found.cases] == [False, False]
    assert why_not in found.cases[0].why_not
    assert found.timed_cases == ()


def test_structure_may_stay_fixed_and_a_scalar_may_be(tmp_path: Path) -> None:
    found = manifest(tmp_path, SCALE_IN_PLACE)
    assert found.cases[1].ranks is True
    unmarked = SCALE_IN_PLACE.replace(', role="structure"', "")
    assert "every call has the same `table`; draw it anew" in manifest(tmp_path, unmarked).cases[1].why_not


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("import numpy as np\nclass A(\n", 2, "is not valid Python"),
        ("x = 1\n", 0, "defines no problem class"),
        ("import nowhere\n", 1, "raised ModuleNotFoundError"),
        (SOFTMAX + SCALE_IN_PLACE, 0, "defines 2 problem classes: RowSoftmax, ScaleInPlace"),
        (softmax_with(cases="()"), 24, "`cases` must hold at least one Case"),
        (softmax_with(cases='(Case("a", rows=1),)'), 24, "case `a` has no axis `cols`"),
        (softmax_with(cases='(Case("a", rows=-1),)'), 24, "axis `rows` of case `a` is -1"),
        (softmax_with(cases='(Case("a", rows=1, cols=1, input_sets=65),)'), 24, "`input_sets` of case `a` is 65"),
        (softmax_with(accuracy="None"), 24, "`accuracy` is not set"),
        (softmax_with(accuracy='Tolerance(1, 1, reason="")'), 24, "the tolerance has no reason"),
        (softmax_with(arrays='"jax"'), 24, "`arrays` is 'jax'"),
        (softmax_with(parameters="()"), 24, "no array has direction out or inout"),
        (softmax_with(parameters='(Array("y", "float31", "out", ("rows",)),)'), 24, "the dtype of `y` is 'float31'"),
        (softmax_with(parameters='(Array("y", "bfloat16", "out", ("rows",)),)'), 24, "numpy has no data type bfloat16"),
        (softmax_with(reference="FunctionProblem.reference"), 24, "the class has no method `reference`"),
        (softmax_with(flops="lambda self, case: -1"), 24, "`flops` returned -1"),
    ],
)
def test_a_faulty_definition_is_told_with_file_line_and_remedy(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    with pytest.raises(DefinitionError, match=words.replace("(", r"\(")) as found:
        loaded(tmp_path, text)
    assert (found.value.file, found.value.line) == ("def.py", line)
    assert found.value.remedy


@pytest.mark.parametrize(
    ("method", "line", "words"),
    [
        ('def inputs(self, case, rng):\n        return {"z": 1}', 24, r"`inputs` returned \['z'\]"),
        ('def inputs(self, case, rng):\n        return {"x": rng.random((2, 2))}', 24, r"`x` with shape \(2, 2\)"),
        (
            'def inputs(self, case, rng):\n        return {"x": rng.random((case.rows, case.cols))}',
            24,
            "`x` as float64",
        ),
        ('def inputs(self, case, rng):\n        return {"x": [1]}', 24, "`x` as list"),
        ("def inputs(self, case, rng):\n        return case.depth", 25, "has no axis `depth`"),
        ("def reference(self, case, x):\n        return x, x", 24, "`reference` returned 2 arrays"),
        ("def reference(self, case, x):\n        return x > 0", 24, "`y` as bool"),
        ("def reference(self, case, x):\n        x[0] = 1\n        return x", 25, "read-only"),
        ("def reference(self, case, x):\n        return 1 // 0", 25, "ZeroDivisionError"),
    ],
)
def test_a_faulty_method_is_told_when_it_is_called(tmp_path: Path, method: str, line: int, words: str) -> None:
    problem = loaded(tmp_path, SOFTMAX + f"\n    {method}\n")
    with pytest.raises(DefinitionError, match=words) as found:
        problem.draw(0, 1)
    assert found.value.line == line


def test_shapes_that_depend_on_the_seed_are_refused(tmp_path: Path) -> None:
    text = SCALE_IN_PLACE.replace('"factor": 3', '"factor": int(rng.integers(4))')
    with pytest.raises(DefinitionError, match=r"`factor` is \d in one call of case `one` and \d in another"):
        for salt in range(9):
            manifest(tmp_path, text.replace("rng.integers(4)", f"rng.integers({4 + salt}) % 4"))


def test_the_reference_fills_the_outputs_like_a_solution() -> None:
    solution = Reference(SCALE_IN_PLACE)
    values, flags = np.array([-20, 5]), np.zeros(2, bool)
    solution(np.arange(4), values, flags, 2, 2)
    assert values.tolist() == [-16, 9]
    assert flags.tolist() == [False, True]


def with_cases(*cases: str) -> str:
    return softmax_with(cases=f"({', '.join(cases)},)")


def test_a_held_out_case_gets_a_number_for_a_name(tmp_path: Path) -> None:
    public, secret = 'Case("3 x 5", rows=3, cols=5)', 'Case("7 x 1", rows=7, cols=1, held_out=True)'
    found = manifest(tmp_path, with_cases(public, secret))
    assert [case.name for case in found.cases] == ["3 x 5", "held-out 1"]
    assert [case.is_held_out for case in found.cases] == [False, True]
    assert (found.smallest_case, [case.name for case in found.told.cases]) == (0, ["3 x 5"])
    assert found.cases[1].scalars == {"rows": 7, "cols": 1}, "the checker needs its sizes"
    assert [(one.name, one.most) for one in found.sizes] == [("rows", 3), ("cols", 5)]


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        (['Case("a", rows=7, cols=1, held_out=True)'], "a held-out case comes first"),
        (
            ['Case("a", rows=1, cols=1)', 'Case("b", rows=2, cols=1, held_out=True)', 'Case("c", rows=3, cols=1)'],
            "list held-out cases last",
        ),
        (['Case("held-out 1", rows=1, cols=1)'], "names that begin so are given to held-out cases"),
        (['Case("a", rows=1, cols=1, held_out=1)'], "`held_out` of case `a` is 1"),
    ],
)
def test_held_out_cases_that_cannot_be_are_refused(tmp_path: Path, cases: list[str], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        manifest(tmp_path, with_cases(*cases))
