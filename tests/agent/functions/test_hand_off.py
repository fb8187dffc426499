"""A hand-off on a GPU, as far as it needs none: what both sides do in which order, and what becomes of the calls."""

import math
import socket
import statistics
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from problems.spec.record import ProblemRecord
from problems.spec.shortest import LEAST_MS
from runners.agent.judges.function import judge as function_judge
from runners.agent.judges.function import plans
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.inside import messages
from runners.agent.judges.function.inside.clock import Status, Times
from runners.agent.judges.function.inside.contestant import Contestant
from runners.agent.judges.function.inside.device_case import LEAST_CALLS, DeviceCase
from runners.agent.judges.function.inside.orders import CaseReply, DeviceFacts, HowEnded
from runners.agent.judges.function.inside.plan import DeviceCost, Plan
from runners.agent.judges.function.judge import on_host_in
from runners.agent.judges.function.results import HOST_ERROR_MS, findings, measurement
from runners.agent.judges.function.subject import INSIDE
from runners.wire.protocol import MeasurementReport, Role
from tests.agent.functions.table import ENDED, SCALE, problem
from tests.patience import SOON

PLAN = Plan(**plans.on_device(plans.RANKED))
COST = DeviceCost((280_000.0, 282_000.0), (500_000.0, 504_000.0), 40_000.0, 200_000.0, 1_000_000.0)
N_CALLS = int(PLAN.most_calls)


# ---- the contestant's process ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a contestant's program that tells when it is called, and of a device that tells what is queued."""
    folder = tmp_path_factory.mktemp("native")
    (folder / "call.cpp").write_text(
        '#include <cstdio>\nextern "C" void podium_call(void* const*) { fputs("call\\n", stderr); }\n'
        'extern "C" void podium_setup(void* const*) {}\n'
    )
    sources = [str(INSIDE / "contestant.cpp"), "call.cpp"]
    subprocess.run(["g++", "-std=c++17", *sources, "-o", "contestant", "-ldl"], cwd=folder, check=True)
    fake = str(Path(__file__).parent / "fake_device.c")
    subprocess.run(["gcc", "-shared", "-fPIC", fake, "-o", "libcuda.so.1"], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(
    ("word_last", "queued"),
    [(0, ["wait 1000 5", "write 1040 5", "call"]), (1, ["wait 1000 5", "call", "write 1040 5"])],
    ids=["word first", "word last"],
)
def test_a_native_process_queues_its_work_behind_the_word(native: Path, word_last: int, queued: list[str]) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = {
        "LD_LIBRARY_PATH": str(native),
        "PODIUM_FUNCTION_ARRAYS": "torch cuda",
        "PODIUM_CHANNEL_FD": str(theirs.fileno()),
    }
    program = [native / "contestant"]
    with (
        ours,
        theirs,
        (native / "call.cpp").open() as file,
        subprocess.Popen(
            program, env=environment, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True
        ) as ran,
    ):
        ours.settimeout(SOON)
        assert ours.recv(messages.MOST_BYTES)[4] == messages.LOADED
        socket.send_fds(ours, [messages.head(messages.WORDS, 64)], [file.fileno(), file.fileno()])
        assert ours.recv(messages.MOST_BYTES)[4] == messages.MAPPED
        ours.send(messages.head(messages.HAND_OFF, index=5, count=1, device=word_last))
        answers = [ours.recv(messages.MOST_BYTES) for _ in range(2)]
        ours.shutdown(socket.SHUT_RDWR)
        _, told = ran.communicate(timeout=SOON)
    assert answers == [messages.head(messages.QUEUED, 5), messages.head(messages.DONE, 5)]
    assert told.splitlines() == ["map 1000 64 to read", "map 1040 64 to write", *queued, "finish"]


@pytest.mark.parametrize("word_last", [0, 1])
def test_a_python_process_queues_its_work_behind_the_word(word_last: int) -> None:
    told: list[str] = []
    arrays = SimpleNamespace(
        wait_for_go=lambda index: told.append(f"wait {index}"),
        tell_done=lambda index: told.append(f"write {index}"),
        synchronize=lambda: told.append("finish"),
    )
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        contestant = Contestant(theirs, (lambda: told.append("call"), lambda: None), [], [], arrays)
        contestant._sets = [[]]
        ours.send(messages.head(messages.HAND_OFF, index=9, count=1, device=word_last))
        ours.shutdown(socket.SHUT_WR)
        contestant.serve()
        ours.settimeout(SOON)
        answers = [ours.recv(messages.MOST_BYTES) for _ in range(3)]
    assert [one[4] for one in answers] == [messages.LOADED, messages.QUEUED, messages.DONE]
    words = ["call", "write 9"] if word_last else ["write 9", "call"]
    assert told == ["wait 9", *words, "finish"]


# ---- the calls of a case --------------------------------------------------------------------------------------------

WRONG = SimpleNamespace(right=False, message="wrong", largest=1.0, mean=1.0, n_wrong=1, n_total=1, first_wrong=[])
RIGHT = SimpleNamespace(right=True, largest=0.0, mean=0.0)


class FakeMatch:
    """A contestant whose calls are as `of` says: from the number of a hand-off (from 1 on), and whether its word comes
    last, to its times and whether it is right; calls by the host are right unless `right_on_host` is False."""

    def __init__(self, of: Callable[[int, bool], tuple[Times, bool]], *, right_on_host: bool = True) -> None:
        self._of = of
        self._right_on_host = right_on_host
        self.spent_seconds = 0.0
        self.n_handed = 0
        self.words_last: list[bool] = []
        self._is_right = True

    def draw(self, number: int) -> int:
        return number

    def call(self, sets: Any, draws: Any, copies_all: bool, timeout_s: float) -> tuple[Times, int, str]:
        self._is_right = self._right_on_host
        return times(600_000), 0xC0, ""

    def hand_off(self, buffers: Any, drawn: Any, timeout_s: float, *, word_last: bool) -> tuple[Times, int, str]:
        self.n_handed += 1
        self.words_last.append(word_last)
        found, self._is_right = self._of(self.n_handed, word_last)
        return found, 0xC0, ""

    def compare(self, *_: Any, **__: Any) -> Any:
        return RIGHT if self._is_right else WRONG


def times(clock_ns: int, *, known_ns: int = 200_000, is_queued: bool = True, wall_ns: int = 1_000_000) -> Times:
    return Times(
        Status.DONE, clock_ns, 0, wall_ns, 0, 0, "",
        known_ns=known_ns, wide_ns=clock_ns + 40_000, queue_ns=70_000, is_queued=is_queued,
    )  # fmt: skip


def run(match: FakeMatch, *, plan: Plan = PLAN, cost: DeviceCost = COST, on_host: bool = False) -> CaseReply:
    sets: Sequence[Any] = [object()]
    return DeviceCase(match, sets, 0, plan, cost, on_host=on_host).run(object())  # type: ignore[arg-type]


def device_of(reply: CaseReply) -> DeviceFacts:
    assert reply.device is not None
    return reply.device


def test_work_that_is_queued_is_timed_by_the_device() -> None:
    match = FakeMatch(lambda *_: (times(380_000), True))
    reply = run(match)
    assert (reply.complaint, device_of(reply).clock, reply.clock_ns) == (None, "device", [380_000] * N_CALLS)
    assert (reply.overhead_ns, device_of(reply).overheads_ns) == (281_000, [280_000, 282_000])
    assert (device_of(reply).n_disturbed, device_of(reply).late_copies_ns, device_of(reply).n_handed) == (
        0,
        0,
        N_CALLS + 1,
    )
    assert reply.n_calls == N_CALLS + 2, "the first is by the host, and one more is not timed"
    assert match.words_last == [False] * (N_CALLS + 1)


def test_work_that_outlasts_its_turn_on_the_device_tells_its_end() -> None:
    match = FakeMatch(lambda _, word_last: (times(5_000_000), word_last))
    reply = run(match)
    assert (reply.complaint, device_of(reply).clock, len(reply.clock_ns)) == (None, "device", N_CALLS)
    assert match.words_last == [False] + [True] * N_CALLS + [True] * (match.n_handed - N_CALLS - 1)


def test_work_that_does_not_wait_for_the_word_takes_the_host_s_clock() -> None:
    reply = run(FakeMatch(lambda *_: (times(380_000), False)))
    assert (reply.complaint, device_of(reply).clock, reply.clock_ns) == (None, "host", [600_000] * N_CALLS)
    assert (reply.overhead_ns, device_of(reply).why_host) == (502_000, "its work does not wait for the checker's word")


def test_work_that_is_wrong_by_the_host_too_is_a_wrong_answer() -> None:
    reply = run(FakeMatch(lambda *_: (times(380_000), False), right_on_host=False))
    assert reply.complaint is not None
    assert reply.complaint.message == "wrong"


def test_an_answer_that_is_wrong_behind_words_counts_no_time_of_before() -> None:
    """A wrong answer behind an early word discards the times taken with early words."""
    match = FakeMatch(lambda number, _: (times(100_000 + number), number not in (5, 6)))
    reply = run(match)
    assert (device_of(reply).clock, set(reply.clock_ns)) == ("host", {600_000})


@pytest.mark.parametrize(("n_late", "clock"), [(0, "device"), (1, "device"), (2, "host"), (3, "host")])
def test_one_call_may_be_queued_too_late(n_late: int, clock: str) -> None:
    reply = run(FakeMatch(lambda number, _: (times(380_000, is_queued=number > 1 + n_late or number == 1), True)))
    assert (reply.complaint, device_of(reply).clock, len(reply.clock_ns)) == (None, clock, N_CALLS)


def test_a_call_before_which_the_device_did_other_work_is_thrown_away() -> None:
    def watched(number: int, _: bool) -> tuple[Times, bool]:
        return times(100_000 if number % 2 else 380_000, known_ns=400_000 if number % 2 else 200_000), True

    reply = run(FakeMatch(watched))
    assert set(reply.clock_ns) == {380_000}
    assert device_of(reply).n_disturbed > device_of(reply).n_handed / 3


def test_a_device_that_is_always_disturbed_gives_no_time_and_an_end() -> None:
    reply = run(FakeMatch(lambda *_: (times(100_000, known_ns=500_000), True)))
    assert (reply.complaint, reply.clock_ns) == (None, [])
    assert device_of(reply).n_handed <= 2 * N_CALLS + 4


def test_a_case_that_moves_to_the_host_late_is_timed_there_all_the_same() -> None:
    """Most of its calls were thrown away, and the last that are allowed were queued too late."""
    most = 2 * N_CALLS + 2

    def seen(number: int, _: bool) -> tuple[Times, bool]:
        return times(380_000, known_ns=500_000, is_queued=number < most - 1), True

    reply = run(FakeMatch(seen))
    assert (device_of(reply).clock, len(reply.clock_ns)) == ("host", N_CALLS)


@pytest.mark.parametrize("clock_ns", [10_000, 400_000_000])
def test_the_number_of_calls_is_the_reference_s_and_not_the_solution_s(clock_ns: int) -> None:
    slow = COST._replace(reference_ns=60e6)
    wanted = int(PLAN.enough_seconds / 0.06)
    assert LEAST_CALLS < wanted < N_CALLS
    assert len(run(FakeMatch(lambda *_: (times(clock_ns), True)), cost=slow).clock_ns) == wanted


def test_a_case_of_a_baseline_on_the_host_is_never_handed_off() -> None:
    match = FakeMatch(lambda *_: (times(380_000), True))
    assert (device_of(run(match, on_host=True)).clock, match.n_handed) == ("host", 0)


# ---- what is published ----------------------------------------------------------------------------------------------


def reply_of(*clock_us: float, clock: str = "device", **device: Any) -> CaseReply:
    costs = list(COST.clocks_ns if clock == "device" else COST.hosts_ns) * 3
    cost_ns = statistics.fmean(costs)
    facts = DeviceFacts(clock, costs, 20, 0, "", 0.0, 40_000.0)._replace(**device)
    clock_ns, go_ns = [round(us * 1e3 + cost_ns) for us in clock_us], [70_000] * len(clock_us)
    return CaseReply(1, len(clock_us), clock_ns, go_ns, cost_ns, False, 1.0, 1.0, device=facts)


@pytest.fixture(scope="module")
def large() -> ProblemRecord:
    return problem(SCALE)


def published(
    large: ProblemRecord, replies: Sequence[CaseReply], role: Role = Role.CANDIDATE
) -> MeasurementReport | None:
    return measurement(large.manifest.cases[1], replies, role)


PROCESSES = [reply_of(*[us] * 20) for us in (99.5, 99.8, 100.0, 100.2, 100.4, 101.0)]


def test_a_time_by_the_device_is_the_median_of_processes_within_its_interval(large: ProblemRecord) -> None:
    one = published(large, PROCESSES)
    assert one is not None
    assert one.ci_low_ms is not None
    assert one.ci_high_ms is not None
    assert one.median_ms == pytest.approx(0.1001)
    assert (one.device["clock_by"], one.device["launch_us"]) == ("device", 70.0)
    assert min(one.runs_ms) <= one.median_ms <= max(one.runs_ms)
    costs_us = [280.0, 282.0] * 3
    se_us = math.sqrt(
        1.29 * statistics.variance([99.5, 99.8, 100.0, 100.2, 100.4, 101.0]) / 6 + statistics.variance(costs_us) / 6
    )
    assert 2.2 * se_us < (one.ci_high_ms - one.median_ms) * 1e3 < 2.4 * se_us


def test_processes_that_agree_wholly_have_an_interval_of_some_width(large: ProblemRecord) -> None:
    one = published(large, [reply_of(100.0, 100.0, overheads_ns=[280_000.0] * 6)] * 6)
    assert one is not None
    assert one.ci_low_ms is not None
    assert one.ci_low_ms < one.median_ms


def test_a_solution_on_the_host_s_clock_has_the_upper_end_and_a_baseline_the_middle(large: ProblemRecord) -> None:
    on_host = [reply_of(*[us] * 20, clock="host", why_host="why") for us in (90, 95, 100, 105, 110, 130)]
    solution, baseline = published(large, on_host), published(large, on_host, Role.BASELINE)
    assert solution is not None
    assert baseline is not None
    assert solution.ci_high_ms is not None
    assert solution.median_ms >= max(solution.ci_high_ms, 0.130)
    assert baseline.median_ms == pytest.approx(0.1025)
    assert (solution.device["clock_by"], solution.device["why_host"]) == ("host", "why")


def test_a_single_process_on_the_host_s_clock_gains_nothing_by_its_error(large: ProblemRecord) -> None:
    on_host = [reply_of(*[100.0] * 7, clock="host")]
    solution, baseline = published(large, on_host), published(large, on_host, Role.BASELINE)
    assert solution is not None
    assert baseline is not None
    assert (solution.median_ms, baseline.median_ms) == (pytest.approx(0.1 + HOST_ERROR_MS), pytest.approx(0.1))


def test_processes_on_different_clocks_have_no_time(large: ProblemRecord) -> None:
    assert published(large, [*PROCESSES[:5], reply_of(100.0, clock="host")]) is None


def test_a_time_below_the_least_is_the_least(large: ProblemRecord) -> None:
    one = published(large, [reply_of(3.0, 3.0)] * 6)
    assert one is not None
    assert one.median_ms == LEAST_MS


def contest_of(*replies: CaseReply) -> Contest:
    return Contest(replies, (1,), HowEnded.NOT, "", ENDED, 1.0)


@pytest.mark.parametrize(("n_disturbed", "codes"), [(0, []), (2, []), (3, ["busy_device"])])
def test_more_than_one_disturbed_call_in_ten_is_flagged(
    large: ProblemRecord, n_disturbed: int, codes: list[str]
) -> None:
    found = findings(large, [contest_of(reply_of(100.0, n_disturbed=n_disturbed))])
    assert [one.code for one in found] == codes


@pytest.mark.parametrize(("late_us", "n_late", "codes"), [(13, 6, []), (30, 1, []), (30, 2, ["late_copies"])])
def test_copies_that_wait_for_the_solution_are_flagged(
    large: ProblemRecord, late_us: float, n_late: int, codes: list[str]
) -> None:
    late = [contest_of(reply_of(100.0, late_copies_ns=late_us * 1e3))] * n_late
    found = findings(large, [*late, *[contest_of(reply_of(100.0))] * (6 - n_late)])
    assert [one.code for one in found] == codes


class Processes:
    """A match whose processes answer by the clock that they are told to use."""

    def __init__(self, *, needs_host_from: int) -> None:
        self._needs_host_from = needs_host_from
        self.told: list[frozenset[int]] = []

    def contest(
        self, entry: Any, plan: Any, progress: Any, *, on_host: frozenset[int] = frozenset(), **_: Any
    ) -> Contest:
        self.told.append(on_host)
        is_on_host = 1 in on_host or len(self.told) >= self._needs_host_from
        return contest_of(reply_of(100.0, clock="host" if is_on_host else "device"))


@pytest.mark.parametrize(("from_process", "n_contests"), [(99, 5), (1, 5 + 1), (3, 5 + 3)])
def test_a_case_that_needs_the_host_in_one_process_takes_its_clock_in_all(
    large: ProblemRecord, from_process: int, n_contests: int
) -> None:
    processes = Processes(needs_host_from=from_process)
    match = function_judge._Match(None, None, None, None)  # type: ignore[arg-type]
    object.__setattr__(match, "contest", processes.contest)
    entry: Any = SimpleNamespace(subject=SimpleNamespace(problem=large))
    runs = match.more(entry, contest_of(reply_of(100.0)), None)  # type: ignore[arg-type]
    assert len(runs) == 6
    assert {on_host_in([one]) for one in runs} == {frozenset({1}) if from_process < 99 else frozenset()}
    assert len(processes.told) == n_contests
