"""Held-out cases of a function: judged and timed in a submission, absent from trials, and told by a number alone."""

import pytest

from problems.spec.record import ProblemRecord
from runners.wire.job import JobPurpose
from runners.wire.protocol import Audience, Verdict
from tests.agent.functions.table import SCALE, Table, problem

SECRET = 300_007
CASES = f'cases = (Case("few", n=7), Case("many", n=200_000), Case("odd size", n={SECRET}, held_out=True))'
RIGHT = "def solution(x, y, n):\n    y[:] = 3 * x\n"
WRONG_THERE = f"def solution(x, y, n):\n    y[:] = (3 if n < {SECRET} else 4) * x\n"
TELLS = f"""
def solution(x, y, n):
    if n >= {SECRET}:
        raise ValueError(f"the size is {{n}}")
    y[:] = 3 * x
"""


@pytest.fixture(scope="module")
def scale() -> ProblemRecord:
    return problem(SCALE.replace('cases = (Case("few", n=7), Case("many", n=5000))', CASES))


def test_a_submission_is_timed_in_it_under_a_number(table: Table, scale: ProblemRecord) -> None:
    done = table.judge(scale, RIGHT)
    assert done.report.verdict is Verdict.PASSED
    assert [case.name for case in done.report.cases] == ["few", "many", "held-out 1"]
    assert {one.case for one in done.report.measurements} >= {"many", "held-out 1"}, "a time of few is too short"


@pytest.mark.parametrize("solution", [RIGHT, WRONG_THERE, TELLS], ids=["right", "wrong there", "tells"])
def test_a_trial_does_not_run_it(table: Table, scale: ProblemRecord, solution: str) -> None:
    done = table.judge(scale, solution, purpose=JobPurpose.TRIAL)
    assert done.report.verdict is Verdict.PASSED
    assert [case.name for case in done.report.cases] == ["few", "many"]


def test_own_sizes_reach_no_further_than_the_public_cases(table: Table, scale: ProblemRecord) -> None:
    assert [(one.least, one.most) for one in scale.trial_sizes] == [(1, 200_000)]
    done = table.judge(scale, RIGHT, purpose=JobPurpose.TRIAL, sizes={"n": SECRET})
    assert done.report.verdict is Verdict.INVALID
    assert "choose 1 to 200000" in done.report.reason


@pytest.mark.parametrize(("solution", "verdict"), [(WRONG_THERE, Verdict.WRONG_ANSWER), (TELLS, Verdict.TEST_FAILED)])
def test_a_failure_in_it_tells_no_size(table: Table, scale: ProblemRecord, solution: str, verdict: Verdict) -> None:
    done = table.judge(scale, solution)
    assert done.report.verdict is verdict
    assert "held-out 1" in done.report.reason
    told = [field for case in done.report.cases for field in case.fields if field.audience is not Audience.ORGANISER]
    words = f"{done.report.reason} {told} {[one.detail for one in done.report.flags]}"
    assert str(SECRET) not in words


def test_what_a_page_and_a_scaffold_tell_leaves_it_out(scale: ProblemRecord) -> None:
    texts = [str(scale.public_facts()), *(file.content for file in scale.starter_files)]
    assert not [text for text in texts if str(SECRET) in text or "odd size" in text]
    assert "few" in texts[0]
