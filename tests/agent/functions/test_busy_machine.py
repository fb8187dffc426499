"""The effect of a busy machine on a sample: one more process, or a fault that says why, never a verdict."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from problems.spec.record import ProblemRecord
from runners.agent.ground.errors import SandboxFault
from runners.agent.judges.function import judge as function_judge
from runners.agent.judges.function.checkers import environment_for
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.inside.orders import CallSample, HowEnded
from runners.wire.protocol import Verdict
from tests.agent.functions.table import SCALE, SCALE_PYTHON, Table, problem, source


@pytest.fixture(scope="module")
def record() -> ProblemRecord:
    return problem(SCALE)


@pytest.fixture
def unstopped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ends of the next samples' processes, which the machine let run on between two calls."""
    ends: list[str] = []
    plain = function_judge.contest

    def contest(*given: Any, **named: Any) -> Contest:
        seen = plain(*given, **named)
        is_sample = isinstance(given[4], CallSample)
        return replace(seen, cases=seen.cases[:1], how=HowEnded(ends.pop())) if is_sample and ends else seen

    monkeypatch.setattr(function_judge, "contest", contest)
    return ends


def test_a_process_that_ran_on_once_is_followed_by_another(
    table: Table, record: ProblemRecord, unstopped: list[str]
) -> None:
    unstopped.append("not_stopped")
    done = table.judge(record, SCALE_PYTHON)
    assert (done.report.verdict, len(done.report.cases), unstopped) == (Verdict.PASSED, 2, [])


def test_a_solution_whose_processes_run_on_again_fails(
    table: Table, record: ProblemRecord, unstopped: list[str]
) -> None:
    unstopped += ["not_stopped"] * 2
    done = table.judge(record, SCALE_PYTHON)
    assert done.report.verdict is Verdict.TEST_FAILED
    assert "while it was stopped between two calls" in done.report.reason


@pytest.mark.parametrize("how", ["gone", "late", "bad_answer"])
def test_any_other_end_is_the_solutions_own(
    table: Table, record: ProblemRecord, unstopped: list[str], how: str
) -> None:
    unstopped.append(how)
    assert table.judge(record, SCALE_PYTHON).report.verdict not in (Verdict.PASSED, Verdict.WRONG_ANSWER)


def test_a_reference_that_fails_beside_a_sample_is_a_fault_that_says_why(table: Table) -> None:
    wrong = source(SCALE_PYTHON.replace("3 * x", "4 * x")).model_dump(mode="json")
    record = problem(SCALE, baseline_solution={"type": "file", "task_id": "functions/1", "files": [wrong]})
    with pytest.raises(SandboxFault, match=r"reference does not pass here \(wrong_answer\): Case few: "):
        table.judge(record, SCALE_PYTHON)


@pytest.mark.parametrize(("device", "value"), [("cuda", "16"), ("cpu", None)])
def test_numpys_threads_sleep_at_once_where_others_are_timed_beside_them(device: str, value: str | None) -> None:
    subject: Any = SimpleNamespace(device=device)
    assert environment_for(subject).get("OPENBLAS_THREAD_TIMEOUT") == value
