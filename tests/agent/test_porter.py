"""The porter's own life: it ends with the node, outlives its threads, and its death is the node's fault."""

import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from runners.agent.devices.porter import NATIVE as PORTER_NATIVE
from runners.agent.devices.porter import Porter, PorterFailed, program
from tests.agent.gate_players import Player, device_taken, gate_at
from tests.patience import SOON, until


def test_a_porter_that_dies_fails_who_waits_and_the_next_run_gets_another(porter: Porter, tmp_path: Path) -> None:
    gate = gate_at(tmp_path / "own", porter)
    with pytest.raises(PorterFailed, match="died"), gate.attended():
        player = Player(gate.path)
        player.ask()
        assert player.work()
        assert porter._process is not None
        os.kill(porter._process.pid, signal.SIGKILL)
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
    gate = gate_at(tmp_path / "own", Porter(find=lambda: tmp_path / "none"))
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
        *(str(path) for path in sorted(PORTER_NATIVE.glob("*.cpp"))),
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return folder / "porter"


FAKE_DRIVER = """
#include <cstdlib>
#include <fstream>
#include <unistd.h>
extern "C" int cuInit(unsigned) {
    std::ofstream(std::getenv("LD_LIBRARY_PATH") + std::string("/opened")) << getpid() << ' '
        << std::getenv("CUDA_VISIBLE_DEVICES") << std::endl;
    return 0;
}
"""


def opened_by(folder: Path) -> list[str]:
    """The process that has the fake driver open, and the devices that it sees."""
    note = folder / "opened"
    return note.read_text().split() if note.exists() and note.read_text().endswith("\n") else []


def is_alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("how", ["closed", "killed"])
def test_the_driver_is_kept_open_for_a_device_until_the_porter_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    (tmp_path / "driver.cpp").write_text(FAKE_DRIVER)
    library = tmp_path / "libcuda.so.1"
    subprocess.run(["g++", "-shared", "-fPIC", "-o", library, tmp_path / "driver.cpp"], check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    porter = Porter("GPU-1")
    try:
        with device_taken(tmp_path, porter):
            assert until(lambda: bool(opened_by(tmp_path)))
            pid, device = opened_by(tmp_path)
            assert device == "GPU-1"
            assert is_alive(int(pid))
        if how == "killed":
            os.kill(parent_of(int(pid)), signal.SIGKILL)
        else:
            porter.close()
        assert until(lambda: not is_alive(int(pid)))
    finally:
        porter.close()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_without_a_driver_the_porter_works_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    (tmp_path / "libcuda.so.1").write_text("no library")
    porter = Porter("GPU-1")
    try:
        with device_taken(tmp_path, porter):
            pass
    finally:
        porter.close()


def test_a_porter_built_elsewhere_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prebuilt = Path(shutil.copy(program(), tmp_path))
    monkeypatch.setenv("PODIUM_PORTER", str(prebuilt))
    assert program.__wrapped__().read_bytes() == prebuilt.read_bytes()
    monkeypatch.setenv("PODIUM_PORTER", str(tmp_path / "none"))
    with pytest.raises(PorterFailed, match="PODIUM_PORTER"):
        program.__wrapped__()
