"""The porter's own life: it ends with the node, outlives its threads, and its death is the node's fault."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.agent.gpu.porter import NATIVE as PORTER_NATIVE
from runners.agent.gpu.porter import Porter, PorterFailed, program
from tests.agent.gate_players import SOON, Player, device_taken, gate_at


@pytest.fixture
def porter() -> Iterator[Porter]:
    porter = Porter()
    yield porter
    porter.close()


def test_a_porter_that_dies_fails_who_waits_and_the_next_run_gets_another(porter: Porter, tmp_path: Path) -> None:
    gate = gate_at(tmp_path / "own", porter)
    with pytest.raises(PorterFailed, match="died"), gate.attended():
        player = Player(gate)
        player.ask()
        assert player.work()
        killed = subprocess.run(["pgrep", "-P", str(os.getpid()), "podium-porter"], capture_output=True, check=True)
        os.kill(int(killed.stdout), signal.SIGKILL)
        assert gate.cancelled.wait(SOON), "nobody waits for ever"
    assert not gate.timed_out
    with device_taken(tmp_path, porter):
        pass


def test_the_porter_outlives_the_thread_that_started_it(porter: Porter, tmp_path: Path) -> None:
    def once() -> None:
        with device_taken(tmp_path / "first", porter):
            pass

    (tmp_path / "first").mkdir()
    thread = threading.Thread(target=once)
    thread.start()
    thread.join()
    before = subprocess.run(["pgrep", "-P", str(os.getpid()), "podium-porter"], capture_output=True, check=True).stdout
    time.sleep(0.2)
    with device_taken(tmp_path, porter):
        after = subprocess.run(["pgrep", "-P", str(os.getpid()), "podium-porter"], capture_output=True, check=True)
    assert after.stdout == before


def test_a_porter_that_cannot_be_had_is_the_nodes_fault(tmp_path: Path) -> None:
    gate = gate_at(tmp_path / "own", Porter(lambda: tmp_path / "none"))
    with pytest.raises(PorterFailed, match="cannot be started"), gate.attended():
        pass


def test_the_porter_ends_when_nobody_listens(tmp_path: Path) -> None:
    program = compiled_porter(tmp_path)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(b"drop 7\nnonsense\nadd 8 /nowhere alone\n")
        process.stdin.flush()
        assert process.stdout
        assert [process.stdout.readline().split()[:2] for _ in range(2)] == [[b"gone", b"7"], [b"gone", b"8"]]
        process.stdin.close()
        assert process.wait(SOON) == 0


def compiled_porter(folder: Path) -> Path:
    command = [
        "g++",
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        str(folder / "porter"),
        str(PORTER_NATIVE / "porter.cpp"),
    ]
    subprocess.run(command, check=True)
    return folder / "porter"


def test_a_porter_built_elsewhere_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prebuilt = compiled_porter(tmp_path)
    monkeypatch.setenv("PODIUM_PORTER", str(prebuilt))
    assert program.__wrapped__().read_bytes() == prebuilt.read_bytes()
    monkeypatch.setenv("PODIUM_PORTER", str(tmp_path / "none"))
    with pytest.raises(PorterFailed, match="PODIUM_PORTER"):
        program.__wrapped__()
