"""A benchmark waits at the gate, has the device alone in its window, and gives it back when idle."""

import ctypes
import mmap
import os
import subprocess
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from runners.agent.gpu.gate import PAGE, Gate, GateFailed
from runners.agent.gpu.record import DeviceRecord, merged
from runners.agent.locks import FairLock

NATIVE = Path(__file__).parents[2] / "runners" / "agent" / "profilers" / "native"
SOON = 5.0
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
        gate.leave();
        ::usleep(std::atoi(argv[3]) * 1000);
    }
    return gate.in_use() ? 0 : 9;
}
"""


class Seen(nullcontext[None]):
    record = DeviceRecord(1, 2.0, busy_ms=1.0)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate")
    (folder / "main.cpp").write_text(PROGRAM)
    command = ["g++", "-std=c++17", f"-I{NATIVE}", "-o", str(folder / "main"), str(folder / "main.cpp")]
    subprocess.run(command, check=True)
    return folder / "main"


def gate_at(folder: Path, lock: FairLock, limit_seconds: float = 60.0, **more: Any) -> Gate:
    return Gate(folder, lock.exclusive, lambda: lock.is_wanted, Seen(), limit_seconds, **more)


def run(program: Path, gate: Gate, busy_ms: int, rest_ms: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [program, gate.path, str(busy_ms), str(rest_ms)], stdout=subprocess.PIPE, text=True, bufsize=1
    )


def test_a_program_waits_until_the_device_is_free_and_the_wait_is_not_its_time(program: Path, tmp_path: Path) -> None:
    lock = FairLock()
    gate = gate_at(tmp_path, lock)
    with gate.attended():
        with lock.exclusive():
            process = run(program, gate, 50, 0)
            time.sleep(0.3)
            assert process.poll() is None
            assert gate.n_windows == 0
        assert process.wait(SOON) == 0
    assert gate.n_windows == 1
    assert gate.waited_seconds > 0.2
    assert 0.1 <= gate.windows_seconds < 1.0
    assert gate.record == Seen.record


def test_an_idle_program_gives_the_device_back_to_whom_it_keeps_waiting(program: Path, tmp_path: Path) -> None:
    lock = FairLock()
    gate = gate_at(tmp_path, lock)
    got = threading.Event()

    def other() -> None:
        with lock.exclusive():
            got.set()
            time.sleep(0.3)

    with gate.attended():
        process = run(program, gate, 50, 300)
        assert process.stdout and process.stdout.readline() == "in\n"
        thread = threading.Thread(target=other)
        thread.start()
        assert got.wait(0.3), "the rest between its two turns frees the device"
        assert process.wait(SOON) == 0
        thread.join(SOON)
    assert gate.n_windows == 2


def test_the_first_question_tells_that_the_program_has_started(program: Path, tmp_path: Path) -> None:
    lock, started = FairLock(), threading.Event()
    gate = gate_at(tmp_path, lock, has_started=started.set)
    with gate.attended(), lock.exclusive():
        process = run(program, gate, 0, 0)
        assert started.wait(SOON)
        assert gate.n_windows == 0
    process.kill()
    process.wait()


def test_an_idle_program_that_nobody_waits_for_keeps_the_device(program: Path, tmp_path: Path) -> None:
    gate = gate_at(tmp_path, FairLock())
    with gate.attended():
        assert run(program, gate, 10, 150).wait(SOON) == 0
    assert gate.n_windows == 1


def test_a_program_over_its_limit_is_cancelled_and_one_that_only_waits_is_not(program: Path, tmp_path: Path) -> None:
    lock = FairLock()
    gate = gate_at(tmp_path, lock, limit_seconds=0.3)
    with gate.attended():
        with lock.exclusive():
            process = run(program, gate, 2000, 0)
            time.sleep(0.2)
            assert not gate.cancelled.wait(0.3)
        assert gate.cancelled.wait(SOON)
        process.kill()
        process.wait()
    assert gate.timed_out


def test_a_program_that_cuts_the_page_short_harms_nobody(tmp_path: Path) -> None:
    lock = FairLock()
    gate = gate_at(tmp_path, lock)
    with gate.attended():
        with gate.path.open("r+b") as file, mmap.mmap(file.fileno(), PAGE.size) as page:
            ctypes.c_uint32.from_buffer(page, 4).value = 1
            deadline = time.monotonic() + SOON
            while not ctypes.c_uint32.from_buffer(page, 0).value and time.monotonic() < deadline:
                time.sleep(0.001)
        assert gate.n_windows == 1
        os.truncate(gate.path, 0)
        time.sleep(0.05)
    with lock.exclusive():
        pass


def test_a_program_knows_how_long_it_waited(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(
        '#include <cstdio>\n#include <unistd.h>\n#include "gate.h"\n'
        "int main(int, char** argv) { podium::Gate gate(argv[1]); gate.enter(); gate.leave(); ::usleep(100000);"
        ' std::printf("%f", gate.waited_ns() / 1e9); }'
    )
    subprocess.run(["g++", "-std=c++17", f"-I{NATIVE}", "-o", tmp_path / "main", tmp_path / "main.cpp"], check=True)
    lock = FairLock()
    gate = gate_at(tmp_path, lock)
    with gate.attended():
        with lock.exclusive():
            process = subprocess.Popen([tmp_path / "main", gate.path], stdout=subprocess.PIPE, text=True)
            time.sleep(0.5)
        waited_seconds = float(process.communicate(timeout=SOON)[0])
    assert waited_seconds == pytest.approx(gate.waited_seconds, abs=0.1)
    assert waited_seconds > 0.2


def test_without_a_page_nothing_waits(program: Path, tmp_path: Path) -> None:
    assert subprocess.run([program, tmp_path / "none", "0", "0"], check=False, capture_output=True).returncode == 9


def test_stretches_of_watching_add_up() -> None:
    first = DeviceRecord(1, 10.0, sm_clock_mhz=1980, temperature_c=40, busy_ms=5.0, energy_mj=1.0)
    other = DeviceRecord(3, 30.0, sm_clock_mhz=1900, temperature_c=50, energy_mj=2.0, throttled_share=1.0)
    both = merged([first, other])
    assert both is not None
    assert (both.n_samples, both.wall_ms, both.temperature_c, both.energy_mj) == (4, 40.0, 50, 3.0)
    assert both.sm_clock_mhz == 1940
    assert both.busy_ms is None, "unknown for a part is unknown for the whole"
    assert both.throttled_share == 0.75
    assert merged([]) is None


def test_a_gate_that_fails_ends_the_run_and_says_why(program: Path, tmp_path: Path) -> None:
    class Broken(Seen):
        def __enter__(self) -> None:
            raise OSError("the driver is gone")

    gate = Gate(tmp_path, FairLock().exclusive, lambda: False, Broken(), 60.0)
    with pytest.raises(GateFailed, match="the driver is gone"), gate.attended():
        process = run(program, gate, 0, 0)
        assert gate.cancelled.wait(SOON), "nobody waits for ever"
        process.kill()
        process.wait()
    assert not gate.timed_out


def test_a_page_that_somebody_has_laid_already_is_refused(tmp_path: Path) -> None:
    gate = gate_at(tmp_path, FairLock())
    gate.path.symlink_to("/etc/passwd")
    with pytest.raises(FileExistsError), gate.attended():
        pass
