"""A pass may need a line with counts: all of at least one case, in every such line."""

import pytest

from problems.spec.command.counts import why_bad_counts, why_not_counted
from problems.spec.command.problem import problem_from
from problems.spec.errors import RecordError
from problems.spec.profile import Profile
from tests.packs import problem

COUNTS = "Summary: {passed} / {total} passed"


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("Summary: 3 / 3 passed\n", ""),
        ("case 1\nSummary:  12 /  12 passed", ""),
        ("Summary: 1 / 1 passed\nSummary: 2 / 2 passed\n", ""),
        ("Summary: 2 / 3 passed\n", "counted 2 of 3 cases"),
        ("Summary: 0 / 0 passed\n", "counted no cases"),
        ("Summary: 4 / 3 passed\n", "counted 4 of 3 cases"),
        ("Summary: 3 / 3 passed\nSummary: 0 / 0 passed\n", "counted no cases"),
        ("Summary: 0 / 3 passed\nSummary: 3 / 3 passed\n", "counted 0 of 3 cases"),
        ("All tests passed.\n", "printed no line"),
        ("", "printed no line"),
        ("Summary: 3 / -3 passed\n", "printed no line"),
    ],
)
def test_only_all_of_some_cases_are_a_pass(output: str, words: str) -> None:
    reason = why_not_counted(COUNTS, output)
    assert words in reason
    assert bool(reason) is bool(words)


def test_the_numbers_may_come_in_any_order_and_words_are_no_pattern() -> None:
    assert why_not_counted("of {total} cases (all), {passed} fine.*", "of 3 cases (all), 3 fine.*") == ""
    assert why_not_counted("of {total} cases, {passed} fine", "of 3 cases, 2 fine").startswith(
        "The test counted 2 of 3"
    )
    assert "no line" in why_not_counted("a.c {passed}/{total}", "abc 1/1")


@pytest.mark.parametrize(
    "counts", ["", "{passed}", "{total}", "{passed} {passed} {total}", "{passed}/{total}", "a\n{passed}{total}"]
)
def test_a_line_that_tells_nothing_is_refused(counts: str) -> None:
    assert why_bad_counts(counts)
    with pytest.raises(RecordError, match="counts"):
        problem_from(problem("t", metadata={"podium": {"counts": counts}}), Profile.PODIUM)
