"""Checkers outlive the samples that they serve: reuse, replacement, and faults that are not a contestant's."""

import os
import signal
import threading
import time
import uuid
from pathlib import Path

import pytest

from runners.agent.ground.errors import Cancelled, SandboxFault, UnusableProblem
from runners.agent.ground.events import CaseEnded, Event, Progress
from runners.agent.judges.function import checkers as checkers_module
from runners.wire.job import JobPurpose
from runners.wire.protocol import Verdict
from tests.agent.functions.table import (
    LIMITS,
    MIB,
    SCALE,
    SCALE_PYTHON,
    Table,
    checkers_of,
    on_each_sandbox,
    problem,
)
from tests.patience import until

pytestmark = pytest.mark.rest


@pytest.fixture
def marked() -> str:
    """A class that no other test has: its checker can be told from all others."""
    return f"# {uuid.uuid4().hex}\n{SCALE}"


def marker_of(definition: str) -> str:
    return definition.splitlines()[0]


@on_each_sandbox
def test_one_checker_serves_many_samples_which_agree(table: Table, marked: str) -> None:
    record = problem(marked)
    first = table.judge(record, SCALE_PYTHON, purpose=JobPurpose.TRIAL).report
    serving = checkers_of(marker_of(marked))
    assert serving
    for _ in range(5):
        last = table.judge(record, SCALE_PYTHON, purpose=JobPurpose.TRIAL).report
    assert checkers_of(marker_of(marked)) == serving
    assert (first.verdict, first.reason) == (last.verdict, last.reason) == (Verdict.PASSED, "")
    wrong = table.judge(record, "def solution(x, y, n):\n    y[:] = x\n", purpose=JobPurpose.TRIAL).report
    assert wrong.verdict is Verdict.WRONG_ANSWER
    assert table.judge(record, SCALE_PYTHON, purpose=JobPurpose.TRIAL).report.verdict is Verdict.PASSED
    assert checkers_of(marker_of(marked)) == serving, "a contestant's fault is not the checker's"


def test_the_hundredth_sample_agrees_with_the_first(table: Table, marked: str) -> None:
    record = problem(marked.replace("n=5000", "n=400_000"))  # long enough to be timed
    serving: list[list[int]] = []
    times_ms: list[float] = []
    for number in range(100):
        is_timed = number < 5 or number >= 95
        report = table.judge(record, SCALE_PYTHON, purpose=JobPurpose.GRADE if is_timed else JobPurpose.TRIAL).report
        assert report.verdict is Verdict.PASSED
        serving.append(checkers_of(marker_of(marked)))
        times_ms += [one.median_ms for one in report.measurements if one.case == "many"]
    assert serving == [serving[0]] * 100
    assert len(times_ms) == 10
    if os.environ.get("PODIUM_QUIET_MACHINE"):  # other work slows a memory-bound call to twice its time and more
        assert min(times_ms[-5:]) == pytest.approx(min(times_ms[:5]), rel=0.5)


@on_each_sandbox
def test_a_sample_is_judged_again_if_its_checker_is_killed(table: Table, marked: str) -> None:
    if os.geteuid() != 0 and table.environment.sandbox.name == "docker":
        pytest.skip("only root may kill a container's process")
    record = problem(marked)
    killed: list[int] = []

    def kill_once(event: Event) -> None:
        if isinstance(event, CaseEnded) and not killed:
            killed.extend(checkers_of(marker_of(marked)))
            for process in killed:
                os.kill(process, signal.SIGKILL)

    report = table.judge(record, SCALE_PYTHON, progress=Progress(kill_once), purpose=JobPurpose.TRIAL).report
    assert killed
    assert (report.verdict, [case.verdict for case in report.cases]) == (Verdict.PASSED, [Verdict.PASSED] * 2)
    assert not set(checkers_of(marker_of(marked))) & set(killed)


def test_a_class_that_fails_in_a_call_is_no_fault_of_the_contestant(table: Table) -> None:
    broken = SCALE.replace(
        "        return {",
        """        self.n_drawn = getattr(self, "n_drawn", 0) + 1
        if self.n_drawn > 8:
            raise KeyError("gone")
        return {""",
    )
    with pytest.raises((SandboxFault, UnusableProblem), match="KeyError"):
        table.judge(problem(broken), SCALE_PYTHON)


def test_a_class_that_differs_from_its_manifest_is_no_fault_of_the_contestant(table: Table) -> None:
    record = problem(SCALE)
    other = record.definition.model_copy(update={"content": record.definition.content.replace("n=7", "n=8")})
    with pytest.raises(UnusableProblem, match="pack the problem again"):
        table.judge(record.model_copy(update={"definition": other}), SCALE_PYTHON)


@on_each_sandbox
def test_a_cancelled_sample_ends_at_once_and_its_checker_with_it(table: Table, marked: str) -> None:
    progress = Progress()
    threading.Timer(2, progress.cancelled.set).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        table.judge(problem(marked), "def solution(x, y, n):\n    while True: pass\n", progress=progress)
    assert time.monotonic() - began < 20
    assert until(lambda: not checkers_of(marker_of(marked)))


@on_each_sandbox
def test_a_solution_that_takes_too_much_memory_is_told_so(table: Table, marked: str) -> None:
    limits = LIMITS.model_copy(update={"memory_bytes": 256 * MIB})
    solution = "def solution(x, y, n):\n    held = []\n    while True: held.append(bytearray(b'x') * (16 << 20))\n"
    report = table.judge(problem(marked), solution, limits=limits, purpose=JobPurpose.TRIAL).report
    assert report.verdict is Verdict.MEMORY_EXCEEDED
    assert report.reason == "The solution used more memory than it may in case few."


SUPERVISOR = {
    "kill": "os.kill(1, signal.SIGKILL)",
    "stop": "os.kill(1, signal.SIGSTOP)",
    "kill the parent": "os.kill(os.getppid(), signal.SIGKILL)",
    "kill all": "os.kill(-1, signal.SIGSTOP)",
}


@on_each_sandbox
@pytest.mark.parametrize("name", SUPERVISOR)
def test_a_solution_cannot_end_or_stop_its_supervisor(table: Table, name: str) -> None:
    """It passes, or its own end is its verdict; the next sample passes."""
    record = problem(SCALE, time_limit_seconds=2)
    solution = f"""
import os, signal
def solution(x, y, n):
    try:
        {SUPERVISOR[name]}
    except OSError:
        pass
    y[:] = 3 * x
"""
    report = table.judge(record, solution, purpose=JobPurpose.TRIAL).report
    assert report.verdict in (Verdict.PASSED, Verdict.TEST_FAILED, Verdict.TIMED_OUT)
    assert table.judge(record, SCALE_PYTHON, purpose=JobPurpose.TRIAL).report.verdict is Verdict.PASSED


@pytest.fixture
def spares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here as on a GPU's node with many cores."""
    monkeypatch.setattr(checkers_module, "n_waiting", lambda *_: 1)


def waiting(table: Table) -> list[int]:
    """Processes of this table that wait for a problem to check."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            is_checker = b"\0judge.checker\0" in (entry / "cmdline").read_bytes()
            if is_checker and not (entry / "cwd" / "def.py").exists() and _is_of(table, int(entry.name)):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _is_of(table: Table, process: int) -> bool:
    return Path(f"/proc/{process}/cwd").stat().st_ino in {one.stat().st_ino for one in table.workspaces}


def test_a_process_that_waits_becomes_the_next_problems_checker(table: Table, marked: str, spares: None) -> None:
    first, second = marked, marked.replace("# ", "# next ")
    assert table.judge(problem(first), SCALE_PYTHON, purpose=JobPurpose.TRIAL).report.verdict is Verdict.PASSED
    spare = waiting(table)
    assert table.judge(problem(second), SCALE_PYTHON, purpose=JobPurpose.TRIAL).report.verdict is Verdict.PASSED
    assert checkers_of(marker_of(second)) == spare
    assert waiting(table) not in ([], spare), "another one waits"


def test_other_limits_and_death_end_the_process_that_waits(table: Table, marked: str, spares: None) -> None:
    record = problem(marked)
    table.judge(record, SCALE_PYTHON, purpose=JobPurpose.TRIAL)
    (killed,) = waiting(table)
    os.kill(killed, signal.SIGKILL)
    assert until(lambda: not waiting(table))
    other = LIMITS.model_copy(update={"memory_bytes": LIMITS.memory_bytes + MIB})
    assert table.judge(record, SCALE_PYTHON, purpose=JobPurpose.TRIAL, limits=other).report.verdict is Verdict.PASSED
    (spare,) = waiting(table)
    assert table.judge(record, SCALE_PYTHON, purpose=JobPurpose.TRIAL).report.verdict is Verdict.PASSED
    assert waiting(table) != [spare]
    assert len(waiting(table)) == 1
