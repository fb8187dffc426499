"""Real programs wait at the gate for their turns and starts; test_gate_rules.py has the rules of turns."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from runners.agent.devices.gate import PAGE, Gate
from runners.agent.devices.porter import Porter
from tests.agent.gate_players import Player, Seen, compiled, device_taken, gate_at, playing
from tests.patience import SOON, until

PROGRAM = """
#include <cstdio>
#include "gate.h"
// Plays a benchmark: twice it uses the device, until a line comes, and rests, until another comes.
int main(int, char** argv) {
    podium::Gate gate(argv[1]);
    for (int turn = 0; turn < 2; ++turn) {
        gate.enter();
        std::puts("in");
        std::fflush(stdout);
        std::getchar();
        gate.leave(true);
        std::puts("out");
        std::fflush(stdout);
        std::getchar();
    }
    std::printf("%llu\\n", (unsigned long long)gate.waited_ns());
    return gate.in_use() ? 0 : 9;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("gate"), PROGRAM)


class Running:
    """A program that goes on when it is told to."""

    def __init__(self, *command: str | Path) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def says(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().rstrip("\n")

    def go_on(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("x")
        self.process.stdin.flush()

    def ends(self) -> int:
        self.process.communicate(timeout=SOON)
        return self.process.returncode


def run_to_its_end(running: Running) -> None:
    """Both turns of PROGRAM; its last words are still to be read."""
    for word in ("in", "out", "in", "out"):
        assert running.says() == word
        running.go_on()


def waits(gate: Gate) -> bool:
    return until(lambda: gate.waited_seconds > 0.0)


def test_a_program_waits_until_the_device_is_free_and_the_wait_is_no_turn(
    program: Path, porter: Porter, tmp_path: Path
) -> None:
    gate, other = gate_at(tmp_path / "own", porter), gate_at(tmp_path / "other", porter)
    with gate.attended():
        with other.attended():
            player = Player(other.path)
            player.ask()
            assert player.work()
            running = Running(program, gate.path)
            assert waits(gate), "told while it waits"
            assert len(gate.windows) == 0
        run_to_its_end(running)
        assert running.ends() == 0
    assert gate.windows[0][0] >= other.windows[0][1]
    assert gate.record == Seen.record
    assert isinstance(gate.watch, Seen)
    assert gate.watch.windows == gate.windows


def test_an_idle_program_gives_the_device_back_to_whom_it_keeps_waiting(
    program: Path, porter: Porter, tmp_path: Path
) -> None:
    gate = gate_at(tmp_path / "own", porter)
    with gate.attended():
        running = Running(program, gate.path)
        assert running.says() == "in"
        running.go_on()
        assert running.says() == "out"
        with device_taken(tmp_path, porter):
            running.go_on()
            assert waits(gate), "for its second turn"
        assert running.says() == "in"
        running.go_on()
        assert running.ends() == 0
    assert len(gate.windows) == 2


def test_an_idle_program_that_nobody_waits_for_keeps_the_device(program: Path, porter: Porter, tmp_path: Path) -> None:
    gate = gate_at(tmp_path, porter)
    with gate.attended():
        running = Running(program, gate.path)
        run_to_its_end(running)
        assert running.ends() == 0
    assert len(gate.windows) == 1


def test_a_program_knows_how_long_it_waited(program: Path, porter: Porter, tmp_path: Path) -> None:
    gate = gate_at(tmp_path / "own", porter)
    began_ns = time.monotonic_ns()
    with gate.attended():
        with device_taken(tmp_path, porter):
            running = Running(program, gate.path)
            assert until(lambda: gate.waited_seconds > 0.1)
        run_to_its_end(running)
        most_ns = time.monotonic_ns() - began_ns
        assert 0.1e9 < int(running.says()) < most_ns
        assert running.ends() == 0


STARTS = """
#include <cstdio>
#include "gate.h"
// Plays a process that starts CUDA, and asks and tells more often than it need.
int main(int, char** argv) {
    podium::Gate gate(argv[1]);
    gate.begin_start();
    gate.begin_start();
    std::puts("started");
    std::fflush(stdout);
    std::getchar();
    gate.end_start();
    gate.end_start();
}
"""


def test_a_process_that_starts_waits_for_its_leave(tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.write_bytes(bytes(PAGE.size))

    def starts() -> tuple[int, ...]:
        """How many were wanted, granted and done."""
        return PAGE.unpack(page.read_bytes())[5:8]

    running = Running(compiled(tmp_path, STARTS), page)
    assert until(lambda: starts() == (1, 0, 0))
    with page.open("r+b") as file:
        file.write(PAGE.pack(0, 0, 0, 0, 0, 1, 1, 0, 0))
    assert running.says() == "started"
    assert starts() == (1, 1, 0)
    running.go_on()
    assert running.ends() == 0
    assert starts() == (1, 1, 1)


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now_ns = 1_000_000_000

    def __call__(self) -> int:
        return self.now_ns

    def pass_seconds(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)


def test_waits_of_two_processes_at_once_are_counted_once(porter: Porter, tmp_path: Path) -> None:
    clock = Clock()
    gate = gate_at(tmp_path, porter, clock_ns=clock)
    for event, seconds_until_next in (("ask", 0.1), ("hold", 0.2), ("open", 0.05)):
        gate.told(event, clock.now_ns)
        clock.pass_seconds(seconds_until_next)
    assert gate.waited_seconds == pytest.approx(0.35)
    gate.told("begin", clock.now_ns)
    clock.pass_seconds(10.0)
    assert gate.waited_seconds == pytest.approx(0.35)


def test_a_program_over_its_limit_is_cancelled_and_one_that_only_waits_is_not(porter: Porter, tmp_path: Path) -> None:
    clock = Clock()
    gate = gate_at(tmp_path, porter, limit_seconds=0.3, clock_ns=clock)
    with gate.attended():
        gate.told("ask", clock.now_ns)
        clock.pass_seconds(5.0)
        assert not gate.cancelled.wait(0.3)
        gate.told("open", clock.now_ns)
        clock.pass_seconds(0.31)
        assert gate.cancelled.wait(SOON)
    assert gate.timed_out


def test_time_for_which_the_agent_stood_still_is_not_the_program_s(porter: Porter, tmp_path: Path) -> None:
    clock = Clock()
    gate = gate_at(tmp_path, porter, limit_seconds=5.0, clock_ns=clock)
    with gate.attended():
        clock.pass_seconds(9.0)
        assert not gate.cancelled.wait(0.3)

        def has_timed_out() -> bool:
            clock.pass_seconds(0.5)
            return gate.cancelled.wait(0.1)

        assert until(has_timed_out)
    assert gate.timed_out


def test_a_program_that_cuts_the_page_short_harms_nobody(porter: Porter, tmp_path: Path) -> None:
    with playing(tmp_path / "own", porter) as player:
        player.ask()
        assert until(lambda: player.is_open)
        os.truncate(player.page, 0)
        time.sleep(0.05)
    with device_taken(tmp_path, porter):
        pass


def test_without_a_page_nothing_waits(program: Path, tmp_path: Path) -> None:
    running = Running(program, tmp_path / "none")
    run_to_its_end(running)
    assert running.ends() == 9


def test_a_page_that_somebody_has_laid_already_is_refused(porter: Porter, tmp_path: Path) -> None:
    gate = gate_at(tmp_path, porter)
    gate.path.symlink_to("/etc/passwd")
    with pytest.raises(FileExistsError), gate.attended():
        pass
