"""Which cases of a function are timed: those that are fixed, else those that the first baseline shows."""

import pytest

from problems.spec.no_time import NO_TIME
from problems.spec.record import ProblemRecord
from runners.agent.ground.errors import SandboxFault
from runners.agent.judges.function import judge as function_judge
from runners.agent.judges.function import plans, results
from runners.agent.judges.function.inside.calibration import WARM_UPS
from runners.agent.judges.function.timed_cases import with_missing_times
from runners.agent.judges.report import Finished
from runners.wire.job import JobPurpose
from runners.wire.protocol import CaseReport, Clock, MeasurementReport, Role, TimingPolicy, Verdict
from tests.agent.functions.table import SCALE, SCALE_CPP, Table, problem, shown

BOTH = {"few", "many"}


def scale(prompt: str = "Write it.") -> ProblemRecord:
    """`few` is too short for a time, `many` is not."""
    files = [{"path": "solution.cpp", "content": SCALE_CPP}]
    return problem(
        SCALE.replace("n=5000", "n=2_000_000"),
        prompt=prompt,
        baseline_solution={"type": "file", "task_id": "functions/1", "files": files},
    )


@pytest.fixture(scope="module")
def record() -> ProblemRecord:
    return scale()


def timed_in(done: Finished, role: Role = Role.CANDIDATE) -> set[str]:
    assert done.report.verdict is Verdict.PASSED
    return {one.case for one in done.report.measurements if one.role is role}


def fall_below_the_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on no case of any baseline takes long enough for a time."""
    monkeypatch.setattr(results, "LEAST_GO_MS", 1e6)


def test_a_fixed_case_is_timed_though_its_reference_is_too_short_for_a_time(
    table: Table, record: ProblemRecord
) -> None:
    assert timed_in(table.judge(record, SCALE_CPP)) == {"many"}  # the same checker has calibrated it as too short
    done = table.judge(record, SCALE_CPP, timed_cases=("few", "many"))
    assert timed_in(done) == timed_in(done, Role.BASELINE) == BOTH


def test_a_case_that_is_not_fixed_is_checked_a_few_times_and_has_no_time(
    table: Table, record: ProblemRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function_judge, "RANKED_PROCESSES", 2)
    done = table.judge(record, SCALE_CPP, timed_cases=("few",), timing_policy=TimingPolicy.RANKED)
    assert timed_in(done) == timed_in(done, Role.BASELINE) == {"few"}
    n_calls = {case.name: shown(case)["n_calls"] for case in done.report.cases}
    assert n_calls["many"] == WARM_UPS + plans.SHORT["least_calls"]


def test_a_baseline_that_later_falls_below_the_floor_does_not_unfix_the_cases(
    table: Table, record: ProblemRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    fall_below_the_floor(monkeypatch)
    assert timed_in(table.judge(record, SCALE_CPP, timed_cases=("many",))) == {"many"}


def test_without_a_site_the_first_baseline_of_a_problem_fixes_its_cases(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = scale("A problem of this test's own.")
    assert timed_in(table.judge(own, SCALE_CPP)) == {"many"}
    fall_below_the_floor(monkeypatch)
    assert timed_in(table.judge(own, SCALE_CPP)) == {"many"}
    assert timed_in(table.judge(own, SCALE_CPP, purpose=JobPurpose.VERIFY)) == set()


def measured(role: Role, *cases: str) -> list[MeasurementReport]:
    return [MeasurementReport(role=role, case=one, median_ms=1.0, runs_ms=[1.0], clock=Clock.OUTSIDE) for one in cases]


REPORTS = [CaseReport(name=name, verdict=Verdict.PASSED) for name in ("few", "many")]


def test_a_fixed_case_without_a_time_of_the_solution_says_why() -> None:
    few, many = with_missing_times(
        REPORTS, measured(Role.CANDIDATE, "few"), measured(Role.BASELINE, "few", "many"), ("few", "many")
    )
    assert shown(few) == {}
    assert shown(many) == {
        NO_TIME: "A call takes more than 1e+09 ms, or its processes did other work beside every call."
    }


def test_a_fixed_case_without_a_time_of_the_reference_is_a_fault_of_the_node() -> None:
    with pytest.raises(SandboxFault, match="no time in case many, which is timed on this track"):
        with_missing_times(REPORTS, measured(Role.CANDIDATE, "few"), measured(Role.BASELINE, "few"), ("few", "many"))
    assert with_missing_times(REPORTS, [], [], None) == REPORTS
