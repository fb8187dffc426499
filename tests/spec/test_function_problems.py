"""The record of a function problem: what it holds, who may read it, and what its digest depends on."""

import json
from typing import Any

import pytest

from problems.spec.digests import grading_digest
from problems.spec.errors import RecordError
from problems.spec.hardware import Hardware
from problems.spec.kinds import Kind
from problems.spec.profile import Profile
from problems.spec.records import parse_record
from problems.spec.sizes import why_bad_sizes
from problems.spec.solution import FileSolution, SourceFile
from tests.spec.functions import SOFTMAX_PARAMETERS, function_fields, function_problem, manifest_fields, softmax_case


def digest(**changes: Any) -> str:
    problem = function_problem(**changes)
    return grading_digest(problem, problem.withheld)


BASELINE = FileSolution(task_id="row-softmax", files=[SourceFile(path="solution.py", content="SECRET")]).model_dump()


def test_a_record_is_read_back_from_its_own_line() -> None:
    problem = function_problem(baseline_solution=BASELINE)
    line = problem.to_line()
    assert json.loads(line)["kind"] == "function"
    assert parse_record(line, Profile.PODIUM) == problem
    assert parse_record(line, Profile.PODIUM).to_line() == line
    assert problem.kind is Kind.FUNCTION


def test_a_strict_pack_takes_no_function_problem() -> None:
    with pytest.raises(RecordError, match="type"):
        parse_record(json.dumps(function_fields()), Profile.COMPUTE_EVAL)


def test_public_facts_hold_neither_definition_nor_baseline() -> None:
    problem = function_problem(baseline_solution=BASELINE)
    facts = json.dumps(problem.public_facts())
    assert "SECRET" not in facts
    assert "RowSoftmax" not in facts
    assert 'extern \\"C\\" void solution(const float* x, float* y, size_t rows, size_t cols)' in facts
    assert [file.is_held_out for file in problem.files] == [True]


def test_cases_carry_their_work_and_those_that_cannot_rank_are_not_timed() -> None:
    fixed = softmax_case(7, 7, ranks=False, why_not="`y` stays the same")
    problem = function_problem(manifest=manifest_fields(cases=[softmax_case(), fixed], dtype="fp16"))
    assert [(case.name, case.flops, case.bytes, case.dtype) for case in problem.cases] == [
        ("3 x 5", 75.0, 120.0, "fp16")
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"device": "tpu"}, "device"),
        ({"languages": ["cuda"]}, "allows cuda on device cpu"),
        ({"languages": ["cpp", "cpp"]}, "twice"),
        ({"languages": []}, "languages"),
        ({"definition": {"path": "other.py", "content": ""}}, "must be 'def.py'"),
        ({"answer": 42}, "answer"),
        ({"manifest": manifest_fields(cases=[])}, "has no cases"),
        ({"manifest": manifest_fields(cases=[softmax_case(), softmax_case()])}, "names the case `3 x 5` twice"),
        ({"manifest": manifest_fields(cases=[softmax_case(scalars={"rows": 3})])}, "every scalar's value"),
        ({"manifest": manifest_fields(parameters=SOFTMAX_PARAMETERS[:1])}, "no parameter of direction out"),
        ({"manifest": manifest_fields(parameters=[SOFTMAX_PARAMETERS[1]] * 2)}, "names the parameter `y` twice"),
        ({"manifest": manifest_fields(parameters=[SOFTMAX_PARAMETERS[1] | {"const": True}])}, "const and yet written"),
        ({"manifest": manifest_fields(parameters=[SOFTMAX_PARAMETERS[1] | {"kind": "scalar"}])}, "only arrays"),
    ],
)  # fmt: skip
def test_a_record_that_cannot_be_judged_is_refused_with_words(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        function_problem(**changes)


def test_a_manifest_that_was_only_read_needs_no_cases() -> None:
    problem = function_problem(manifest=manifest_fields(cases=[], is_run=False))
    assert problem.cases == ()
    assert "size_t n = 0" in problem.starter_of("cpp").content


def test_the_grading_digest_ignores_words_and_notices_everything_else() -> None:
    same = digest(prompt="Other words.", metadata={"tags": ["x"], "podium": {"title": "Other"}})
    assert digest() == same
    changed = [
        {"definition": {"path": "def.py", "content": "SECRET = 2\n"}},
        {"languages": ["python"]},
        {"time_limit_seconds": 5},
        {"manifest": manifest_fields(output_init="zero")},
        {"manifest": manifest_fields(cases=[softmax_case(input_sets=16), softmax_case(512, 4096)])},
        {"baseline_solution": BASELINE},
    ]
    assert len({digest(), *(digest(**one) for one in changed)}) == 1 + len(changed)


def test_a_manifest_without_input_sets_is_as_it_was_before_there_were_any() -> None:
    plain, many = function_problem().manifest, manifest_fields(cases=[softmax_case(input_sets=16)])
    assert all("input_sets" not in case for case in plain.model_dump(mode="json")["cases"])
    assert function_problem(manifest=many).manifest.model_dump(mode="json")["cases"][0]["input_sets"] == 16
    with pytest.raises(RecordError, match="less than or equal to 64"):
        function_problem(manifest=manifest_fields(cases=[softmax_case(input_sets=65)]))


def test_a_problem_is_skipped_on_the_other_device() -> None:
    problem = function_problem()
    assert problem.why_skipped(Hardware("cpu")) == ""
    assert problem.why_skipped(Hardware("gpu")) == "is a CPU problem and this is a GPU track"
    assert problem.times_rank(with_gpu=False)
    assert not problem.times_rank(with_gpu=True)


def test_the_solution_that_ends_early_is_the_baseline_with_an_exit() -> None:
    early = function_problem(baseline_solution=BASELINE).ending_early
    assert early is not None
    assert "os._exit(0)" in early.files[0].content
    assert function_problem().ending_early is None


def test_the_sizes_of_a_run_are_the_whole_numbers_within_those_of_the_cases() -> None:
    sizes = function_problem().trial_sizes
    assert [one.name for one in sizes] == ["rows", "cols"]
    assert all(one.least <= one.usual <= one.most for one in sizes)
    assert why_bad_sizes(sizes, {one.name: one.most for one in sizes}) == ""
    assert why_bad_sizes([], {"rows": 1}) == "'rows' is not a size of this problem. Its sizes are fixed."


@pytest.mark.parametrize("changes", [{"form": "tensara"}, {"is_run": False, "cases": []}])
def test_a_class_that_fixes_its_cases_offers_no_sizes(changes: dict[str, Any]) -> None:
    assert function_problem(manifest=manifest_fields(**changes)).trial_sizes == []


def test_a_case_is_bounded_by_the_peak_of_the_lowest_precision_that_its_check_admits() -> None:
    cases = [softmax_case(), softmax_case(512, 4096, admits="bf16")]
    one, other = function_problem(manifest=manifest_fields(cases=cases)).manifest.timed_cases
    assert (one.fastest_dtype, other.fastest_dtype) == ("fp32", "bf16")
