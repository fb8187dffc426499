"""A benchmark waits at the gate, has the device alone in its turns, and gives it back when idle."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from runners.agent.gpu.porter import Porter
from tests.agent.gate_players import (
    SOON,
    Player,
    Seen,
    compiled,
    device_taken,
    gate_at,
    playing,
    run,
    until,
)

QUIET_SECONDS = 0.1
GAP_MS, GAPS_MS = 5.0, 40.0
STARTS = 2
"""As in porter.cpp."""

PROGRAM = """
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include "gate.h"
// Plays a benchmark: uses the device for argv[2] ms, rests for argv[3] ms, uses it again; prints when it was let in.
int main(int, char** argv) {
    podium::Gate gate(argv[1]);
    for (int turn = 0; turn < 2; ++turn) {
        gate.enter();
        std::puts("in");
        std::fflush(stdout);
        ::usleep(std::atoi(argv[2]) * 1000);
        gate.leave(true);
        ::usleep(std::atoi(argv[3]) * 1000);
    }
    return gate.in_use() ? 0 : 9;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("gate"), PROGRAM)


@pytest.fixture
def porter() -> Iterator[Porter]:
    porter = Porter()
    yield porter
    porter.close()


def test_a_program_waits_until_the_device_is_free_and_the_wait_is_not_its_time(
    program: Path, porter: Porter, tmp_path: Path
) -> None:
    gate = gate_at(tmp_path / "own", porter)
    with gate.attended():
        with device_taken(tmp_path, porter):
            process = run(program, gate, 50, 0)
            time.sleep(0.3)
            assert process.poll() is None
            assert gate.n_windows == 0
            assert gate.waited_seconds > 0.1, "told while it waits"
        assert process.wait(SOON) == 0
    assert gate.n_windows == 1
    assert gate.waited_seconds > 0.2
    assert 0.1 <= gate.windows_seconds < 1.0
    assert gate.record == Seen.record
    assert isinstance(gate.watch, Seen)
    assert gate.watch.windows == gate.windows


def test_an_idle_program_gives_the_device_back_to_whom_it_keeps_waiting(
    program: Path, porter: Porter, tmp_path: Path
) -> None:
    gate = gate_at(tmp_path / "own", porter)
    with gate.attended():
        process = run(program, gate, 50, 300)
        assert process.stdout
        assert process.stdout.readline() == "in\n"
        with device_taken(tmp_path, porter):
            assert process.poll() is None, "the rest between its two turns frees the device"
            time.sleep(0.4)
        assert process.wait(SOON) == 0
    assert gate.n_windows == 2


def test_programs_start_two_at_a_time_and_the_wait_is_not_their_time(porter: Porter, tmp_path: Path) -> None:
    with ExitStack() as stack:
        players = [stack.enter_context(playing(tmp_path / str(number), porter)) for number in range(STARTS + 1)]
        for player in players:
            player.want_start()
            time.sleep(0.01)
        assert all(until(lambda player=player: player.may_start) for player in players[:STARTS])
        time.sleep(0.2)
        assert not players[STARTS].may_start
        players[1].have_started()
        assert until(lambda: players[STARTS].may_start)
    assert players[STARTS].gate.waited_seconds > 0.15
    assert players[0].gate.waited_seconds < 0.05


def test_who_makes_no_context_after_its_start_keeps_others_for_a_while_only(porter: Porter, tmp_path: Path) -> None:
    with ExitStack() as stack:
        players = [stack.enter_context(playing(tmp_path / str(number), porter)) for number in range(STARTS + 1)]
        for player in players:
            player.want_start()
            time.sleep(0.01)
        began = time.monotonic()
        assert until(lambda: players[STARTS].may_start)
        assert 0.4 < time.monotonic() - began < 3


def test_waits_of_two_processes_at_once_are_counted_once(porter: Porter, tmp_path: Path) -> None:
    with device_taken(tmp_path, porter), playing(tmp_path / "own", porter) as player:
        player.ask()
        time.sleep(0.1)
        player.want_start()
        time.sleep(0.2)
        assert 0.25 < player.gate.waited_seconds < 0.45
        waited_seconds = player.gate.waited_seconds
    assert waited_seconds <= player.gate.waited_seconds < waited_seconds + 0.2


def test_nothing_starts_in_the_first_turns_of_a_benchmark_and_then_beside_it(porter: Porter, tmp_path: Path) -> None:
    with playing(tmp_path / "one", porter) as one, playing(tmp_path / "two", porter) as two:
        one.ask()
        assert one.work()
        since = time.monotonic()
        two.want_start()
        assert until(lambda: two.may_start)
        assert time.monotonic() - since > QUIET_SECONDS - 0.01
        assert one.is_open


def test_a_benchmark_waits_for_those_that_start_before_its_first_turns_only(porter: Porter, tmp_path: Path) -> None:
    with playing(tmp_path / "one", porter) as one, playing(tmp_path / "two", porter) as two:
        two.want_start()
        assert until(lambda: two.may_start)
        one.ask()
        time.sleep(0.1)
        assert not one.is_open
        two.have_started()
        assert one.work()
        time.sleep(QUIET_SECONDS)
        one.rest()
        with device_taken(tmp_path, porter):
            pass
        two.want_start()
        assert until(lambda: two.may_start)
        one.ask()
        assert until(lambda: one.is_open, 0.4), "while the other starts"


def test_what_starts_all_the_time_leaves_benchmarks_their_quiet(porter: Porter, tmp_path: Path) -> None:
    with ExitStack() as stack:
        starters = [stack.enter_context(playing(tmp_path / str(number), porter)) for number in range(6)]
        benchmark = stack.enter_context(playing(tmp_path / "benchmark", porter))
        for starter in starters:
            starter.want_start()
        assert until(lambda: starters[0].may_start)
        benchmark.ask()
        deadline = time.monotonic() + SOON
        n_started = 0
        while not benchmark.is_open and time.monotonic() < deadline:
            for starter in starters:
                if starter.may_start:
                    n_started += 1
                    starter.have_started()
                    starter.want_start()
            time.sleep(0.002)
        assert benchmark.is_open
        assert n_started > 0


def test_who_has_waited_long_for_quiet_does_without(porter: Porter, tmp_path: Path) -> None:
    with ExitStack() as stack:
        starters = [stack.enter_context(playing(tmp_path / str(number), porter)) for number in range(STARTS)]
        benchmark = stack.enter_context(playing(tmp_path / "benchmark", porter))
        for turn in range(4):
            for starter in starters:
                starter.want_start()
            assert all(until(lambda starter=starter: starter.may_start) for starter in starters)
            asked = time.monotonic()
            benchmark.ask()
            assert benchmark.work()
            waited_seconds = time.monotonic() - asked
            assert turn > 0 or waited_seconds > 0.3, "the first time it waits for those that start"
            benchmark.rest()
            for starter in starters:
                starter.have_started()
            (tmp_path / f"turn-{turn}").mkdir()
            with device_taken(tmp_path / f"turn-{turn}", porter):
                assert not benchmark.is_open
        assert waited_seconds < 0.3, "after a second of that it waits no more"


@pytest.mark.parametrize("is_long", [True, False])
def test_a_benchmark_that_is_known_to_be_long_needs_no_quiet(porter: Porter, tmp_path: Path, is_long: bool) -> None:
    with ExitStack() as stack:
        starter = stack.enter_context(playing(tmp_path / "starter", porter))
        benchmark = stack.enter_context(playing(tmp_path / "benchmark", porter, is_long=is_long))
        starter.want_start()
        assert until(lambda: starter.may_start)
        benchmark.ask()
        assert until(lambda: benchmark.is_open, 0.1) == is_long


def test_a_benchmark_starts_before_tests_that_asked_earlier(porter: Porter, tmp_path: Path) -> None:
    with ExitStack() as stack:
        tests = [
            stack.enter_context(playing(tmp_path / str(number), porter, alone=False)) for number in range(STARTS + 1)
        ]
        for test in tests:
            test.want_start()
            time.sleep(0.01)
        benchmark = stack.enter_context(playing(tmp_path / "benchmark", porter))
        benchmark.want_start()
        time.sleep(0.05)
        tests[0].have_started()
        assert until(lambda: benchmark.may_start)
        assert not tests[STARTS].may_start
        tests[1].have_started()
        assert until(lambda: tests[STARTS].may_start)


def test_what_is_to_run_for_longest_starts_first(porter: Porter, tmp_path: Path) -> None:
    with ExitStack() as stack:
        first = [stack.enter_context(playing(tmp_path / str(number), porter)) for number in range(STARTS)]
        for player in first:
            player.want_start()
        assert all(until(lambda player=player: player.may_start) for player in first)
        benchmark = stack.enter_context(playing(tmp_path / "benchmark", porter, expected_seconds=1.0))
        test = stack.enter_context(playing(tmp_path / "test", porter, alone=False, expected_seconds=20.0))
        benchmark.want_start()
        time.sleep(0.02)
        test.want_start()
        time.sleep(0.02)
        first[0].have_started()
        assert until(lambda: test.may_start)
        assert not benchmark.may_start
        first[1].have_started()
        assert until(lambda: benchmark.may_start)


def test_a_process_that_starts_waits_for_its_leave(porter: Porter, tmp_path: Path) -> None:
    program = compiled(
        tmp_path,
        '#include <cstdio>\n#include "gate.h"\n'
        "int main(int, char** argv) { podium::Gate gate(argv[1]); gate.begin_start(); gate.begin_start();"
        ' std::puts("started"); std::fflush(stdout); std::getchar(); gate.end_start(); gate.end_start();'
        ' std::puts("made"); std::fflush(stdout); std::getchar(); }',
    )
    with ExitStack() as stack:
        others = [stack.enter_context(playing(tmp_path / str(number), porter)) for number in range(STARTS)]
        for other in others:
            other.want_start()
        assert all(until(lambda other=other: other.may_start) for other in others)
        gate = gate_at(tmp_path / "own", porter)
        with gate.attended():
            process = subprocess.Popen([program, gate.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert process.stdin
            assert process.stdout
            time.sleep(0.3)
            others[0].have_started()
            assert process.stdout.readline() == "started\n"
            following = stack.enter_context(playing(tmp_path / "following", porter))
            following.want_start()
            time.sleep(0.1)
            assert not following.may_start
            process.stdin.write("x")
            process.stdin.flush()
            assert process.stdout.readline() == "made\n"
            assert until(lambda: following.may_start, 1.0)
            process.kill()
            process.communicate()
    assert gate.waited_seconds > 0.2


def test_an_idle_program_that_nobody_waits_for_keeps_the_device(program: Path, porter: Porter, tmp_path: Path) -> None:
    gate = gate_at(tmp_path, porter)
    with gate.attended():
        assert run(program, gate, 10, 150).wait(SOON) == 0
    assert gate.n_windows == 1


def test_a_program_over_its_limit_is_cancelled_and_one_that_only_waits_is_not(
    program: Path, porter: Porter, tmp_path: Path
) -> None:
    gate = gate_at(tmp_path / "own", porter, limit_seconds=0.3)
    with gate.attended():
        with device_taken(tmp_path, porter):
            process = run(program, gate, 2000, 0)
            time.sleep(0.2)
            assert not gate.cancelled.wait(0.3)
        assert gate.cancelled.wait(SOON)
        process.kill()
        process.wait()
    assert gate.timed_out


def test_work_that_nobody_has_waited_for_keeps_the_device_a_little_longer(porter: Porter, tmp_path: Path) -> None:
    kept_ms: dict[bool, list[float]] = {False: [], True: []}
    for number, unsettled in enumerate([False, True] * 10):
        with (
            playing(tmp_path / f"one-{number}", porter, alone=False) as one,
            playing(tmp_path / f"other-{number}", porter) as other,
        ):
            one.ask()
            assert one.work()
            other.ask()
            one.rest(unsettled=unsettled)
            assert other.work()
            assert until(lambda one=one: one.gate.windows)
            kept_ms[unsettled].append((one.gate.windows[-1][1] - one.last_use_ns) / 1e6)
    assert 0.2 <= min(kept_ms[False]) < min(kept_ms[True]) < 1000.0
    assert min(kept_ms[True]) >= 0.5


def kept_through_gaps(one: Player, other: Player, gap_seconds: float, times: int) -> list[float]:
    """For how many milliseconds each time the first kept the device through a gap; 0 where it did not."""
    kept_ms: list[float] = []
    for _ in range(times):
        one.ask()
        assert one.work()
        other.ask()
        one.rest()
        time.sleep(gap_seconds)
        kept_ms.append((time.monotonic_ns() - one.last_use_ns) / 1e6 if one.is_open else 0.0)
        if one.is_open:
            one.work()
            one.rest()
        assert other.work()
        other.rest()
    return kept_ms


def test_a_benchmark_keeps_its_turn_through_brief_gaps_until_they_add_up(porter: Porter, tmp_path: Path) -> None:
    with playing(tmp_path / "one", porter) as one, playing(tmp_path / "other", porter) as other:
        kept_ms = kept_through_gaps(one, other, 0.3 * GAP_MS / 1e3, 100)
    assert GAPS_MS / 8 < sum(kept_ms) < 2 * GAPS_MS
    assert sum(kept > 0.0 for kept in kept_ms[-20:]) <= 5, "a late porter keeps some by chance"


def test_a_benchmark_that_leaves_the_device_alone_for_long_keeps_it_no_more(porter: Porter, tmp_path: Path) -> None:
    with playing(tmp_path / "one", porter) as one, playing(tmp_path / "other", porter) as other:
        for _ in range(3):
            one.ask()
            assert one.work()
            other.ask()
            one.rest()
            assert other.work()
            other.rest()
            time.sleep(5 * GAP_MS / 1e3)
        until(lambda: len(one.gate.windows) == 3)
        kept_ms = [(until_ns - since_ns) / 1e6 for since_ns, until_ns in one.gate.windows]
    assert kept_ms[0] > GAP_MS - 1.0
    assert min(kept_ms[1:]) < GAP_MS / 2


@pytest.mark.parametrize(("ahead_seconds", "first"), [(0.05, "brief"), (1.5, "lengthy")])
def test_who_takes_brief_turns_waits_less_and_nobody_for_ever(
    porter: Porter, tmp_path: Path, ahead_seconds: float, first: str
) -> None:
    with playing(tmp_path / "lengthy", porter) as lengthy, playing(tmp_path / "brief", porter) as brief:
        players = {"lengthy": lengthy, "brief": brief}
        for player, seconds in ((lengthy, 0.3), (brief, 0.01)):
            player.ask()
            assert player.work()
            time.sleep(seconds)
            player.rest()
        with device_taken(tmp_path, porter):
            assert until(lambda: not lengthy.is_open)
            assert until(lambda: not brief.is_open)
            lengthy.ask()
            time.sleep(ahead_seconds)
            brief.ask()
            time.sleep(0.05)
        assert until(lambda: lengthy.is_open or brief.is_open)
        assert [name for name, player in players.items() if player.is_open] == [first]
        players.pop(first).work()
        lengthy.rest()
        brief.rest()


def test_tests_share_a_turn_and_none_enters_while_a_benchmark_has_it(porter: Porter, tmp_path: Path) -> None:
    with (
        playing(tmp_path / "a", porter, alone=False) as one,
        playing(tmp_path / "b", porter, alone=False) as other,
        playing(tmp_path / "c", porter) as benchmark,
    ):
        benchmark.ask()
        assert benchmark.work()
        one.ask()
        other.ask()
        time.sleep(0.05)
        assert not (one.is_open or other.is_open)
        benchmark.rest()
        assert one.work()
        assert other.work()
        benchmark.ask()
        one.rest()
        time.sleep(0.05)
        assert not benchmark.is_open
        other.rest()
        assert benchmark.work()


def test_a_program_that_cuts_the_page_short_harms_nobody(porter: Porter, tmp_path: Path) -> None:
    with playing(tmp_path / "own", porter) as player:
        player.ask()
        assert until(lambda: player.is_open)
        os.truncate(player.gate.path, 0)
        time.sleep(0.05)
    with device_taken(tmp_path, porter):
        pass


def test_a_program_knows_how_long_it_waited(porter: Porter, tmp_path: Path) -> None:
    program = compiled(
        tmp_path,
        '#include <cstdio>\n#include <unistd.h>\n#include "gate.h"\n'
        "int main(int, char** argv) { podium::Gate gate(argv[1]); gate.enter(); gate.leave(true); ::usleep(100000);"
        ' std::printf("%f", gate.waited_ns() / 1e9); }',
    )
    gate = gate_at(tmp_path / "own", porter)
    with gate.attended():
        with device_taken(tmp_path, porter):
            process = subprocess.Popen([program, gate.path], stdout=subprocess.PIPE, text=True)
            time.sleep(0.5)
        waited_seconds = float(process.communicate(timeout=SOON)[0])
    assert waited_seconds == pytest.approx(gate.waited_seconds, abs=0.1)
    assert waited_seconds > 0.2


def test_without_a_page_nothing_waits(program: Path, tmp_path: Path) -> None:
    assert subprocess.run([program, tmp_path / "none", "0", "0"], check=False, capture_output=True).returncode == 9


def test_a_page_that_somebody_has_laid_already_is_refused(porter: Porter, tmp_path: Path) -> None:
    gate = gate_at(tmp_path, porter)
    gate.path.symlink_to("/etc/passwd")
    with pytest.raises(FileExistsError), gate.attended():
        pass
