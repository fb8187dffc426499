"""Times of functions on a CPU that other programs lengthened are measured again, and else flagged."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from problems.spec.record import ProblemRecord
from runners.agent.judges.function import contest as contests
from runners.agent.judges.function import judge as function_judge
from runners.agent.judges.function.inside.orders import CallSample
from runners.agent.judges.host import SPARE_RUNS, HostRecord, MachineWatch, MachineWork, host_in_goes
from runners.agent.judges.report import Finished
from runners.agent.sandbox.policy import Outcome
from runners.wire.job import JobPurpose
from runners.wire.protocol import FlagScope, Role, TimingPolicy, Verdict
from tests.agent.functions.table import ENDED, SCALE, SCALE_CPP, SCALE_PYTHON, Table, problem
from tests.agent.test_busy_hosts import every_core_busy

IDLE = HostRecord(lost_ms=0.4, lost_share=0.004, others_cores=0.02, steal_share=0.0, load_1m=0.1)
BUSY = HostRecord(lost_ms=61.0, lost_share=0.43, others_cores=1.9, steal_share=0.0, load_1m=3.7)
"""One contestant's process on two cores, beside nothing and beside a busy loop for each core."""


pytestmark = pytest.mark.rest


@pytest.fixture(scope="module")
def record() -> ProblemRecord:
    slow = {"path": "solution.cpp", "content": SCALE_CPP}
    baseline = {"type": "file", "task_id": "functions/1", "files": [slow]}
    return problem(SCALE.replace("n=5000", "n=1_000_000"), baseline_solution=baseline)


class Host:
    """Gives the records of the next processes, in the order candidate, reference; IDLE if it has no more."""

    def __init__(self) -> None:
        self.next: list[HostRecord] = []
        self.n_seen = 0

    def __call__(self, *_: Any) -> HostRecord:
        self.n_seen += 1
        return self.next.pop(0) if self.next else IDLE


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """Number of the processes that are timed."""
    given, plain = Host(), function_judge.contest

    def contest(*facts: Any, **named: Any) -> contests.Contest:
        seen = plain(*facts, **named)
        return replace(seen, host=given()) if isinstance(facts[4], CallSample) else seen

    monkeypatch.setattr(function_judge, "contest", contest)
    return given


def judged(table: Table, record: ProblemRecord, **changes: Any) -> Finished:
    """Judged by a judge that keeps no baseline of earlier tests."""
    fresh = record.model_copy(update={"prompt": f"{record.prompt} {os.urandom(4).hex()}"})
    return table.judge(fresh, SCALE_CPP, **changes)


def codes(done: Finished) -> list[tuple[str, FlagScope]]:
    assert done.report.verdict is Verdict.PASSED
    return [(flag.code, flag.scope) for flag in done.report.flags]


def test_a_time_on_an_idle_machine_has_no_flag(table: Table, record: ProblemRecord, host: Host) -> None:
    done = judged(table, record)
    assert (codes(done), host.n_seen) == ([], 2)
    for one in done.report.measurements:
        assert one.device["host_lost_share"] == IDLE.lost_share
        assert one.device["host_others_cores"] == IDLE.others_cores


@pytest.mark.parametrize("before", [0, 1], ids=["solution", "reference"])
def test_a_disturbed_quick_time_is_flagged_and_not_repeated(
    table: Table, record: ProblemRecord, host: Host, before: int
) -> None:
    host.next = [IDLE] * before + [BUSY]
    done = judged(table, record)
    assert (codes(done), host.n_seen) == ([("busy_host", FlagScope.TIME)], 2)
    side = ("solution", "reference")[before]
    assert done.report.flags[0].detail == (
        f"The {side} lost 43% of its wall time to other programs on the machine, which kept 1.9 cores busy."
    )


def test_a_disturbed_baseline_is_not_shared(table: Table, record: ProblemRecord, host: Host) -> None:
    host.next = [IDLE, BUSY]
    disturbed = table.judge(record, SCALE_CPP)
    again = table.judge(record, SCALE_CPP)
    assert (codes(disturbed), codes(again)) == ([("busy_host", FlagScope.TIME)], [])
    keys = [{one.key for one in done.report.measurements if one.role is Role.BASELINE} for done in (disturbed, again)]
    assert keys[0].isdisjoint(keys[1])


def test_ranked_processes_are_repeated_and_one_disturbed_of_six_decides_nothing(
    table: Table, record: ProblemRecord, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("least_calls", 3), ("most_calls", 3), ("enough_seconds", 0.0)):
        monkeypatch.setitem(function_judge.RANKED, name, value)
    host.next = [BUSY] * (1 + SPARE_RUNS)
    assert codes(judged(table, record, timing_policy=TimingPolicy.RANKED)) == []
    assert host.n_seen == 12 + SPARE_RUNS
    host.n_seen, host.next = 0, [BUSY] * 99
    assert codes(judged(table, record, timing_policy=TimingPolicy.RANKED)) == [("busy_host", FlagScope.TIME)]
    assert host.n_seen == 12 + 2 * SPARE_RUNS


def test_a_trial_is_not_repeated(table: Table, record: ProblemRecord, host: Host) -> None:
    host.next = [BUSY] * 9
    assert codes(table.judge(record, SCALE_CPP, purpose=JobPurpose.TRIAL)) == []
    assert host.n_seen == 1


def ended(timed_ms: float, lost_ms: float, stalled_ms: float = 0.0) -> Outcome:
    return replace(ENDED, timed_ms=timed_ms, lost_ms=lost_ms, stalled_ms=stalled_ms)


@pytest.mark.parametrize(
    ("outcome", "work", "is_busy"),
    [
        (ended(300.0, 120.0), MachineWork(1000.0, 900.0, 700.0, 0.0), True),
        (ended(300.0, 120.0), MachineWork(1000.0, 900.0, 20.0, 0.0), False),  # its own threads wait for each other
        (ended(300.0, 120.0), MachineWork(1000.0, 7000.0, 300.0, 0.0), False),  # so do many more threads
        (ended(300.0, 120.0), MachineWork(1000.0, 900.0, 50.0, 0.0), False),  # others worked for 15 ms of the 300
        (ended(300.0, 3.0), MachineWork(1000.0, 900.0, 900.0, 0.0), False),  # others have cores of their own
        (ended(300.0, 0.0), MachineWork(1000.0, 900.0, 0.0, 90.0), True),  # the hypervisor's other guests
        (ended(300.0, 0.0, 2500.0), MachineWork(3500.0, 900.0, 0.0, 0.0), True),
        (ended(20.0, 1.5), MachineWork(1000.0, 100.0, 700.0, 0.0), False),  # too little to tell
    ],
)
def test_only_other_programs_make_a_host_busy(outcome: Outcome, work: MachineWork, is_busy: bool) -> None:
    record = host_in_goes(outcome, work)
    assert record is not None
    assert record.is_busy == is_busy


def test_a_run_whose_supervisor_tells_of_no_go_has_no_record() -> None:
    assert host_in_goes(ended(0.0, 0.0), MachineWork(1.0, 1.0, 1.0, 0.0)) is None


def test_the_agents_own_work_is_not_that_of_others() -> None:
    watch = MachineWatch()
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    assert watch.seen([]).own_ms >= 300


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[HostRecord]:
    """The real records of this machine's goes."""
    found: list[HostRecord] = []

    def noted(outcome: Outcome, work: MachineWork) -> HostRecord | None:
        record = host_in_goes(outcome, work)
        found.extend([record] if record else [])
        return record

    monkeypatch.setattr(contests, "host_in_goes", noted)
    return found


def test_goes_beside_busy_loops_lose_time_to_them(table: Table, record: ProblemRecord, seen: list[HostRecord]) -> None:
    """Against what the same code loses without the loops, since this machine may have other work, too."""
    slow = SCALE_PYTHON.replace("y[:] = 3 * x", "[y.__setitem__(slice(None), 3 * x) for _ in range(40)]")
    assert table.judge(record, slow).report.verdict is Verdict.PASSED
    alone = list(seen)
    seen.clear()
    with every_core_busy():
        assert table.judge(record, slow).report.verdict is Verdict.PASSED
    beside = list(seen)
    assert alone, "the supervisor told of the goes"
    assert min(one.others_cores for one in beside) > 0.3
    assert max(one.lost_share for one in beside) > 0.15
