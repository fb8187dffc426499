"""A long turn at the gate is called back in its midst for those who want the device for a moment."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from runners.agent.devices.porter import Porter
from tests.agent.gate_players import Player, compiled, gate_at, playing
from tests.agent.stepped_porter import Stage
from tests.patience import SOON, until

SLICE_MS, UNSETTLED_MS = 20.0, 0.5
"""As in rules.h."""
LOOK_MS = 0.5
"""The porter's largest delay, as it looks at most pages every fourth time only."""


def test_a_long_turn_is_called_back_where_another_wants_a_brief_one(stage: Stage) -> None:
    lengthy, other = stage.player(), stage.player()
    lengthy.ask()
    assert lengthy.work()
    other.ask()
    stage.pass_ms(0.9 * SLICE_MS)
    assert lengthy.is_open
    stage.pass_ms(0.1 * SLICE_MS + LOOK_MS)
    assert not lengthy.is_open
    stage.pass_ms(20)
    assert not other.is_open, "the call of the first goes on"
    lengthy.rest(unsettled=False)
    lengthy.ask()
    assert other.work()
    assert not lengthy.is_open
    other.rest()
    assert lengthy.work()


def test_a_long_turn_is_not_called_back_for_another_long_one(stage: Stage) -> None:
    lengthy, other = stage.player(), stage.player()
    other.ask()
    assert other.work()
    stage.pass_ms(3 * SLICE_MS)
    other.rest()
    lengthy.ask()
    assert lengthy.work()
    other.ask()
    stage.pass_ms(10 * SLICE_MS)
    assert lengthy.is_open
    lengthy.rest()
    assert other.work()


def test_tests_that_use_the_device_on_and_on_are_called_back_for_a_benchmark(stage: Stage) -> None:
    test, benchmark = stage.player(alone=False), stage.player()
    test.ask()
    assert test.work()
    benchmark.ask()
    assert stage.until(lambda: not test.is_open)
    test.ask()
    assert benchmark.work()
    benchmark.rest()
    assert test.work()


def test_who_was_seen_not_to_stop_is_not_called_back(stage: Stage) -> None:
    lengthy, other = stage.player(), stage.player()
    lengthy.ask()
    assert lengthy.work()
    lengthy.never_stops()
    other.ask()
    stage.pass_ms(10 * SLICE_MS)
    assert lengthy.is_open
    lengthy.rest()
    assert other.work()


@pytest.mark.parametrize(("unsettled", "kept_ms"), [(False, 0.0), (True, UNSETTLED_MS)])
def test_who_stops_has_its_turn_until_its_work_may_be_done(stage: Stage, unsettled: bool, kept_ms: float) -> None:
    lengthy, other = stage.player(), stage.player()
    lengthy.ask()
    assert lengthy.work()
    other.ask()
    assert stage.until(lambda: not lengthy.is_open)
    lengthy.rest(unsettled=unsettled)
    stopped_ms = lengthy.last_use_ns / 1e6
    lengthy.ask()
    assert other.work()
    ((_, closed_ms),) = stage.turns_ms(lengthy)
    assert kept_ms <= closed_ms - stopped_ms <= kept_ms + LOOK_MS


def works_on_and_on(player: Player) -> Callable[[], None]:
    """Uses the device until called back, and asks again at once; to be called after every step of time."""
    player.ask()
    works = False

    def step() -> None:
        nonlocal works
        if player.is_open and not works:
            works = player.work()
        elif works and not player.is_open:
            player.rest()
            player.ask()
            works = False

    return step


def test_brief_turns_do_not_starve_beside_many_long_ones(stage: Stage) -> None:
    others = [works_on_and_on(stage.player()) for _ in range(4)]
    brief = stage.player()

    def has_turn() -> bool:
        for step in others:
            step()
        return brief.is_open

    waits_ms = []
    for _ in range(10):
        since_ms = stage.now_ms
        brief.ask()
        assert stage.until(has_turn)
        waits_ms.append(stage.now_ms - since_ms)
        brief.work()
        brief.rest()
        end_ms = stage.now_ms + SLICE_MS
        assert stage.until(lambda end_ms=end_ms: has_turn() or stage.now_ms >= end_ms)
    assert sorted(waits_ms)[5] <= 2 * SLICE_MS


RECALLED = """
#include <cstdio>
#include "gate.h"
// Works in two turns, each until a line comes, and leaves the first unsettled; says where its work was waited for.
int main(int, char** argv) {
    podium::Gate gate(argv[1]);
    for (int turn = 1; turn <= 2; ++turn) {
        gate.enter([&] { std::printf("settled before turn %d\\n", turn); return true; });
        std::printf("turn %d, unsettled %d\\n", turn, gate.is_unsettled());
        std::fflush(stdout);
        std::getchar();
        gate.leave(false);
    }
}
"""


def test_who_is_called_back_waits_for_its_work_before_its_next_turn(porter: Porter, tmp_path: Path) -> None:
    gate = gate_at(tmp_path / "own", porter)
    with gate.attended(), playing(tmp_path / "other", porter) as other:
        command = [compiled(tmp_path, RECALLED), gate.path]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "turn 1, unsettled 0\n"
        other.ask()
        assert until(lambda: not Player(gate.path).is_open)
        process.stdin.write("x")
        process.stdin.flush()
        assert other.work()
        other.rest()
        assert process.communicate("x", timeout=SOON)[0] == "settled before turn 2\nturn 2, unsettled 0\n"
    assert len(gate.windows) == 2


WAITS_FOR_ITSELF = """
#include <thread>
#include <unistd.h>
#include "gate.h"
// One thread waits on the device for what another launches once it is let in again.
int main(int, char** argv) {
    podium::Gate gate(argv[1]);
    gate.enter();
    std::atomic<bool> attends{false}, launched{false};
    std::thread waiter([&] {
        gate.attend();
        attends = true;
        while (!launched) ::usleep(1'000);
        gate.leave(true);
    });
    while (!attends) ::usleep(1'000);
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
        assert until(lambda: Player(gate.path).is_open)
        other.ask()
        assert process.wait(SOON) == 0
        assert other.work()
        other.rest()
    assert len(gate.windows) == 1
