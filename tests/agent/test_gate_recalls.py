"""A long turn at the gate is called back in its midst for those who want the device for a moment."""

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from runners.agent.gpu.porter import Porter
from tests.agent.gate_players import SOON, Player, compiled, device_taken, gate_at, playing, until

SLICE_MS, UNSETTLED_MS = 20.0, 0.5
"""As in porter.cpp."""


@pytest.fixture
def porter() -> Iterator[Porter]:
    porter = Porter()
    yield porter
    porter.close()


@pytest.mark.parametrize("own_ms", [0.0, 3 * SLICE_MS])
def test_a_long_turn_is_called_back_where_another_wants_a_brief_one(
    porter: Porter, tmp_path: Path, own_ms: float
) -> None:
    with playing(tmp_path / "lengthy", porter) as lengthy, playing(tmp_path / "other", porter) as other:
        other.ask()
        assert other.work()
        time.sleep(own_ms / 1e3)
        other.rest()
        lengthy.ask()
        assert lengthy.work()
        since = time.monotonic()
        other.ask()
        called_back = until(lambda: not lengthy.is_open, 10 * SLICE_MS / 1e3)
        assert called_back == (own_ms == 0.0), "nobody's long turn is worth the end of another's"
        if called_back:
            assert time.monotonic() - since > 0.9 * SLICE_MS / 1e3
            time.sleep(0.02)
            assert not other.is_open, "its call goes on"
            lengthy.rest(unsettled=False)
            lengthy.ask()
        else:
            lengthy.rest()
        assert other.work()
        assert not lengthy.is_open
        other.rest()
        if called_back:
            assert lengthy.work()


def test_tests_that_use_the_device_on_and_on_are_called_back_for_a_benchmark(porter: Porter, tmp_path: Path) -> None:
    with playing(tmp_path / "test", porter, alone=False) as test, playing(tmp_path / "own", porter) as benchmark:
        test.ask()
        assert test.work()
        benchmark.ask()
        assert until(lambda: not test.is_open)
        test.ask()
        assert benchmark.work()
        benchmark.rest()
        assert test.work()


RECALLED = """
#include <cstdio>
#include <unistd.h>
#include "gate.h"
// Works in two turns, the first of which is left unsettled; says where its work was waited for.
int main(int, char** argv) {
    podium::Gate gate(argv[1]);
    for (int turn = 1; turn <= 2; ++turn) {
        gate.enter([&] { std::printf("settled before turn %d\\n", turn); return true; });
        std::printf("turn %d, unsettled %d\\n", turn, gate.is_unsettled());
        std::fflush(stdout);
        ::usleep(60'000);
        gate.leave(false);
    }
}
"""


def test_who_is_called_back_waits_for_its_work_before_its_next_turn(porter: Porter, tmp_path: Path) -> None:
    gate = gate_at(tmp_path / "own", porter)
    with gate.attended(), playing(tmp_path / "other", porter) as other:
        process = subprocess.Popen([compiled(tmp_path, RECALLED), gate.path], stdout=subprocess.PIPE, text=True)
        assert process.stdout
        assert process.stdout.readline() == "turn 1, unsettled 0\n"
        other.ask()
        assert other.work()
        other.rest()
        assert process.communicate(timeout=SOON)[0] == "settled before turn 2\nturn 2, unsettled 0\n"
    assert gate.n_windows == 2


WAITS_FOR_ITSELF = """
#include <thread>
#include <unistd.h>
#include "gate.h"
// One thread waits on the device for what another launches once it is let in again.
int main(int, char** argv) {
    podium::Gate gate(argv[1]);
    gate.enter();
    ::usleep(10'000);
    std::atomic<bool> launched{false};
    std::thread waiter([&] {
        gate.attend();
        while (!launched) ::usleep(1'000);
        gate.leave(true);
    });
    for (int i = 0; i < 300; ++i) gate.leave(false), ::usleep(1'000), gate.enter();
    launched = true;
    gate.leave(false);
    waiter.join();
}
"""


def test_who_waits_for_its_own_next_launch_is_let_go_on_and_not_called_back_again(
    porter: Porter, tmp_path: Path
) -> None:
    (tmp_path / "program").mkdir()
    program = compiled(tmp_path / "program", WAITS_FOR_ITSELF, "-pthread")
    gate = gate_at(tmp_path / "own", porter)
    with gate.attended(), playing(tmp_path / "other", porter) as other:
        process = subprocess.Popen([program, gate.path])
        time.sleep(0.05)
        other.ask()
        assert process.wait(SOON) == 0
        assert other.work()
        other.rest()
    assert gate.n_windows == 1


def test_who_was_seen_not_to_stop_is_not_called_back(porter: Porter, tmp_path: Path) -> None:
    with playing(tmp_path / "lengthy", porter) as lengthy, playing(tmp_path / "other", porter) as other:
        lengthy.ask()
        assert lengthy.work()
        lengthy.never_stops()
        other.ask()
        assert not until(lambda: not lengthy.is_open, 10 * SLICE_MS / 1e3)
        lengthy.rest()
        assert other.work()
        other.rest()


@pytest.mark.parametrize("unsettled", [False, True])
def test_who_stops_has_its_turn_until_its_work_may_be_done(porter: Porter, tmp_path: Path, unsettled: bool) -> None:
    with playing(tmp_path / "lengthy", porter) as lengthy, playing(tmp_path / "other", porter) as other:
        lengthy.ask()
        assert lengthy.work()
        other.ask()
        assert until(lambda: not lengthy.is_open)
        lengthy.rest(unsettled=unsettled)
        stopped_ns = lengthy.last_use_ns
        lengthy.ask()
        assert other.work()
        assert until(lambda: lengthy.gate.windows), "what the porter tells of is read by another thread"
        closed_ms = (lengthy.gate.windows[-1][1] - stopped_ns) / 1e6
        assert closed_ms >= (UNSETTLED_MS if unsettled else 0.0)
        other.rest()


def test_what_is_to_run_for_longer_comes_first_and_keeps_nobody_out(porter: Porter, tmp_path: Path) -> None:
    with (
        playing(tmp_path / "long", porter, expected_seconds=300.0) as long,
        playing(tmp_path / "brief", porter, expected_seconds=1.0) as brief,
    ):
        with device_taken(tmp_path, porter):
            brief.ask()
            time.sleep(0.01)
            long.ask()
            time.sleep(0.05)
        assert until(lambda: long.is_open or brief.is_open)
        assert long.is_open
        long.work()
        long.rest()
        assert brief.work()
        brief.rest()


def test_brief_turns_do_not_starve_beside_many_that_run_for_longer(porter: Porter, tmp_path: Path) -> None:
    with ExitStack() as stack:
        long = [
            stack.enter_context(playing(tmp_path / str(number), porter, expected_seconds=300.0)) for number in range(4)
        ]
        brief = stack.enter_context(playing(tmp_path / "brief", porter, expected_seconds=2.0))
        ended = threading.Event()
        players = [threading.Thread(target=work_on_and_on, args=(player, ended)) for player in long]
        for player in players:
            player.start()
        waits_ms = []
        for _ in range(10):
            since = time.monotonic()
            brief.ask()
            assert brief.work()
            waits_ms.append(1e3 * (time.monotonic() - since))
            brief.rest()
            time.sleep(0.02)
        ended.set()
        for player in players:
            player.join(SOON)
    assert sorted(waits_ms)[5] < 15 * SLICE_MS


def work_on_and_on(player: Player, ended: threading.Event) -> None:
    """Use the device until called back, and ask again at once."""
    while not ended.is_set():
        player.ask()
        if not until(lambda: player.is_open or ended.is_set()) or ended.is_set():
            break
        player.work()
        until(lambda: not player.is_open or ended.is_set())
        player.rest()
    player.rest()
