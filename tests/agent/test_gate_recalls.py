"""A long turn at the gate is called back in its midst for those who want the device for a moment."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.agent.gpu.porter import Porter
from tests.agent.gate_players import SOON, compiled, gate_at, playing, until

SLICE_MS = 20.0
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
