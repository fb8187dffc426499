"""While a reference verifies its problem, the checker tells which wrong answers the problem's check accepts."""

import uuid

import pytest

from problems.spec.mutants import ACCEPTED, ADMITS, NONE
from runners.agent.ground.errors import SandboxFault
from runners.wire.job import JobPurpose
from runners.wire.protocol import Audience, Verdict
from tests.agent.functions.table import SCALE, SCALE_PYTHON, Table, checkers_of, problem, shown

LOOSE = SCALE.replace("rtol=1e-5, atol=1e-6", "rtol=0, atol=40")


def test_a_strict_check_accepts_no_wrong_answer(table: Table) -> None:
    report = table.judge(problem(SCALE), SCALE_PYTHON, purpose=JobPurpose.VERIFY).report
    assert report.verdict is Verdict.PASSED
    assert [shown(case)[ACCEPTED] for case in report.cases] == [NONE, NONE]
    told = [field for case in report.cases for field in case.fields if field.name in (ACCEPTED, ADMITS)]
    assert {field.audience for field in told} == {Audience.ORGANISER}
    assert len(told) == 2


def test_a_loose_check_is_told_with_the_wrong_answers_that_it_accepts(table: Table) -> None:
    few, many = (
        shown(case) for case in table.judge(problem(LOOSE), SCALE_PYTHON, purpose=JobPurpose.VERIFY).report.cases
    )
    for case in (few, many):
        assert case[ACCEPTED] == (
            "`y` filled with 0; `y` filled with another call's mean; `y` as a copy of `x`; `y` with 0 in its last part"
        )
        assert case[ADMITS] == "fp8"


def test_nobody_else_is_told(table: Table) -> None:
    for changes in ({}, {"purpose": JobPurpose.TRIAL}):
        report = table.judge(problem(LOOSE), SCALE_PYTHON, **changes).report
        assert [case for case in report.cases if {ACCEPTED, ADMITS} & shown(case).keys()] == []
    wrong = table.judge(problem(SCALE), "def solution(x, y, n):\n    y[:] = x\n", purpose=JobPurpose.VERIFY).report
    assert (wrong.verdict, ACCEPTED in shown(wrong.cases[0])) == (Verdict.WRONG_ANSWER, False)


def test_the_checker_serves_on_after_it_was_asked(table: Table) -> None:
    marked = f"# {uuid.uuid4().hex}\n{SCALE}"
    table.judge(problem(marked), SCALE_PYTHON, purpose=JobPurpose.VERIFY)
    serving = checkers_of(marked.splitlines()[0])
    assert table.judge(problem(marked), SCALE_PYTHON, purpose=JobPurpose.TRIAL).report.verdict is Verdict.PASSED
    assert checkers_of(marked.splitlines()[0]) == serving


def test_a_check_that_fails_on_a_wrong_answer_is_no_fault_of_the_contestant(table: Table) -> None:
    own = SCALE.replace(
        "    def reference",
        """    def verify(self, case, expected, actual):
        if not (actual != 0).all():
            raise ValueError("a zero")
        return bool((expected == actual).all())

    def reference""",
    )
    with pytest.raises(SandboxFault, match="a zero"):
        table.judge(problem(own), SCALE_PYTHON, purpose=JobPurpose.VERIFY)
