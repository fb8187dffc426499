"""How long checkers live: those of a few problems stay for the next samples, and the least recently used goes first."""

from collections.abc import Iterator

import pytest

from problems.spec.record import ProblemRecord
from runners.agent.judges.function import checkers
from runners.wire.job import JobPurpose
from runners.wire.protocol import MeasurementReport, Role, Verdict
from tests.agent.functions.table import SCALE, SCALE_PYTHON, Table, checkers_of, problem
from tests.sandbox.boxes import BUBBLEWRAP, CONFINING

pytestmark = pytest.mark.rest

WRONG = "def solution(x, y, n):\n    y[:] = 2 * x\n"


@pytest.fixture(params=[BUBBLEWRAP])
def fresh(request: pytest.FixtureRequest) -> Iterator[Table]:
    """A table without checkers."""
    opened = Table(request.param)
    yield opened
    opened.close()


def marked(marker: str, **changes: object) -> ProblemRecord:
    """A problem of its own, whose checker can be found."""
    return problem(f"{SCALE}\nMARKER = {marker!r}\n", **changes)


def try_each(table: Table, markers: str) -> dict[str, list[int]]:
    """Judge a sample of each problem in turn; the checkers that are left, by problem."""
    for marker in markers:
        done = table.judge(marked(f"lives-{marker}"), SCALE_PYTHON, purpose=JobPurpose.TRIAL)
        assert done.report.verdict is Verdict.PASSED
    return {marker: checkers_of(f"lives-{marker}") for marker in sorted(set(markers))}


def test_samples_of_alternating_problems_meet_the_same_checkers(fresh: Table) -> None:
    first = try_each(fresh, "ab")
    assert try_each(fresh, "abab") == first
    assert [len(processes) for processes in first.values()] == [1, 1]


def test_the_checker_used_longest_ago_ends_when_there_are_too_many(
    fresh: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkers, "MOST_ON_CPU", 2)
    before = try_each(fresh, "aba")
    after = try_each(fresh, "c")
    assert [len(checkers_of(f"lives-{marker}")) for marker in "abc"] == [1, 0, 1]
    assert checkers_of("lives-a") == before["a"]
    assert after["c"] not in before.values()


def test_a_checker_that_has_served_many_samples_is_renewed(fresh: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkers, "LONGEST_SERVICE", 2)
    first = try_each(fresh, "aa")
    second = try_each(fresh, "a")
    assert [len(second["a"]), second != first] == [1, True]


@pytest.mark.parametrize("fresh", CONFINING, indirect=True)
def test_no_checker_outlives_its_judge(fresh: Table) -> None:
    try_each(fresh, "ab")
    fresh.environment.closing.close()
    assert [checkers_of("lives-a"), checkers_of("lives-b")] == [[], []]


def roles(measurements: list[MeasurementReport]) -> set[Role]:
    return {one.role for one in measurements}


def test_only_a_right_answer_has_a_baseline_timed_beside_it(fresh: Table) -> None:
    reference = {"task_id": "functions/1", "files": [{"path": "solution.py", "content": SCALE_PYTHON}]}
    large = problem(SCALE.replace("n=5000", "n=1_000_000"), baseline_solution=reference)
    right, wrong = fresh.judge(large, SCALE_PYTHON).report, fresh.judge(large, WRONG).report
    assert (right.verdict, Role.BASELINE in roles(right.measurements)) == (Verdict.PASSED, True)
    assert (wrong.verdict, Role.BASELINE in roles(wrong.measurements)) == (Verdict.WRONG_ANSWER, False)
