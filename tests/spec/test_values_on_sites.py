"""Values that cannot work on a site, field by field; and those that can."""

from typing import Any

import pytest

from problems.spec.profile import Profile
from problems.spec.records import record_from
from problems.spec.site.patterns import has_group, why_slow
from problems.spec.site.problem import problem_faults, problem_warnings
from problems.spec.site.release import why_bad_weights
from tests import packs
from tests.question_records import choice, short


def command(podium: dict[str, Any] | None = None, **changes: Any) -> Any:
    return record_from(packs.problem("t/a", podium=podium or {}, **changes), Profile.PODIUM)


def fields(record: Any) -> list[str]:
    return [".".join(map(str, fault.path)) for fault in problem_faults(record)]


def files(*paths: str) -> list[dict[str, str]]:
    return [{"path": path, "content": ""} for path in paths]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("timeout_seconds", value) for value in (-5, 1e9, 1e308, 0.001, float("nan"), float("inf"), 86_401)],
        *[("min_cuda_toolkit", value) for value in ("thirteen", "", "12.", "-1", "12.0 ", "1000.0", "١٢.٠")],
        *[("compute_capability", value) for value in ("nine", "", "sm_90", "-8.0", "9.0.0")],
        *[("date", value) for value in ("31/12/2026", "2026-13-01", "2026-02-30", "20260131", "0001-01-01", "soon")],
        *[(f"{name}_command", value) for name in ("build", "test", "benchmark") for value in ("", " \n", "a\0b")],
        *[("task_id", value) for value in ("", " ", "t/a ", "t/\u200ba", "t/\na")],
        ("schema_version", -1),
        ("schema_version", 3),
    ],
)
def test_a_value_that_cannot_work_is_a_fault_of_its_field(field: str, value: Any) -> None:
    named = {"baseline_solution": None} if field == "task_id" else {}
    record = record_from(packs.problem("t/a") | named | {field: value}, Profile.PODIUM)
    assert fields(record) == [field]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(f"limits.{name}", 10**15) for name in ("memory_bytes", "processes", "file_bytes", "workspace_bytes")],
        ("limits.output_bytes", 10**15),
        ("limits.build_seconds", 1e9),
        *[(name, 1e15) for name in ("bytes", "working_set_bytes")],
        ("source_bytes", 10**15),
        ("flops", 1e23),
        ("build_only", ["test/none.h"]),
        ("visible_tests", ["context.h"]),
        ("known_bad", [{"name": "", "expect": "test_failed", "files": files("a")}]),
        ("known_bad", [{"name": "a", "expect": "test_failed", "files": []}]),
        ("starter", files("../x")),
    ],
)
def test_the_same_of_what_podium_adds(name: str, value: Any) -> None:
    outer, _, inner = name.partition(".")
    record = command({outer: {inner: value} if inner else value}, context_files=files("context.h"))
    assert [one.startswith(f"metadata.podium.{name}") for one in fields(record)] == [True]


@pytest.mark.parametrize(
    ("context", "tests"),
    [(["a.h"], ["a.h"]), (["a.h"], ["./A.h"]), ([], ["a", "a"]), (["a"], ["a/b"]), ([], ["../t"]), ([], [""])],
)
def test_paths_that_are_there_twice_or_nowhere(context: list[str], tests: list[str]) -> None:
    found = fields(command(context_files=files(*context), test_files=files(*tests)))
    assert found
    assert all(one.startswith("test_files") for one in found)


@pytest.mark.parametrize("field", ["timeout_seconds", "min_cuda_toolkit", "compute_capability", "benchmark_command"])
def test_what_is_left_out_has_its_default(field: str) -> None:
    assert fields(command(**{field: None})) == []


def test_values_of_published_packs_are_right() -> None:
    good = {"build_only": ["context.h"], "visible_tests": ["test/t.sh"], "limits": {"memory_bytes": 2**41}}
    for seconds in (0, "20", 0.5, 86_400):
        record = command(
            good, timeout_seconds=seconds, min_cuda_toolkit="12.0", compute_capability="10.0", date="2025-10-31",
            context_files=files("context.h"),
        )  # fmt: skip
        assert fields(record) == []


def test_several_faults_are_all_told() -> None:
    assert fields(command(timeout_seconds=-5, date="x", test_command=" ")) == [
        "date",
        "timeout_seconds",
        "test_command",
    ]


SLOW = [
    "(a+)+", "(a*)*", "(a|a)+", "(a|aa)+$", "(.*)*x", r"(\d+)\s*GB", r"\s*final", r"final:\s*(.+)$", "(a?b?)*c",
    "(x+x+)+y", r"(\w+\s?)*$", ".*.*=.*", "(a{1,10}){1,10}b", "(a{1,20})*c", r"(\w+)\1", "(?:a|b|ab)*c", "(?=.*a)b",
    r"answer:\s*(.*?)\s*$", "(a{0,50}){3}b", "(?>a+)+b", "[ab]*[bc]*d", r"\p{L}+x",
]  # fmt: skip
LINEAR = [
    r"Final:\s*([A-D])", r"result\s*=\s*(\d+)", r"choose (\w)", r"Final: (\d*)", r"(\d{1,20})\s{0,5}GB",
    r"\\boxed\{([^}]{1,200})\}", r"(?:final|answer):\s*(-?\d+(?:\.\d+)?)", "answer:(.+)", r"^\s*([A-D])\b", "x(ab)*y",
    r"\b(\d{1,3}(?:,\d{3}){0,5})\b", "(yes|no)", "(?<!not )true",
]  # fmt: skip


@pytest.mark.parametrize("pattern", SLOW)
def test_patterns_that_can_take_more_than_linear_time_are_refused(pattern: str) -> None:
    assert why_slow(pattern)


@pytest.mark.parametrize("pattern", LINEAR)
def test_patterns_that_take_linear_time_are_not(pattern: str) -> None:
    assert why_slow(pattern) == ""


def test_patterns_are_judged_at_their_field_and_one_without_a_group_is_warned_of() -> None:
    question = short(answer="1", final_answer_patterns=["result (1)", "(z+)+"])
    assert fields(record_from(question, Profile.PODIUM)) == ["final_answer_patterns.1"]
    bare = record_from(short(answer="1", final_answer_patterns=["1"]), Profile.PODIUM)
    assert fields(bare) == []
    assert not has_group("1")
    assert any("has no group" in words for words in problem_warnings(bare))


def test_a_choice_and_a_bounded_tolerance_are_right() -> None:
    assert fields(record_from(choice(), Profile.PODIUM)) == []
    assert fields(record_from(short(answer="1", numeric_tolerance=1e300), Profile.PODIUM)) == ["numeric_tolerance"]


def test_a_problem_without_tests_or_a_reference_is_warned_of() -> None:
    bare = command(test_files=[], baseline_solution=None, test_command="true", prompt=" ")
    assert fields(bare) == []
    said = problem_warnings(bare)
    assert said[:2] == ["no statement", "no test files"]
    assert said[2].startswith("no reference solution")


def test_weights_are_of_groups_that_are_there() -> None:
    assert why_bad_weights({"a": 1.0}, {"a", "b"}) == ""
    assert "'c'" in why_bad_weights({"a": 1.0, "c": 2.0}, {"a", "b"})
