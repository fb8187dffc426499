"""A command whose sandbox or agent was killed or stopped from outside gets a fault or its own end, never a verdict."""

import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from runners.agent.ground.clock import STALL_SECONDS, TickClock
from runners.agent.sandbox import Command, Outcome, Running, Sandbox, SandboxFault
from runners.agent.sandbox.cages import TreeCage, UsageReading
from runners.agent.sandbox.docker import OWNER_LABEL, owner
from runners.agent.sandbox.processes import parent_of
from runners.agent.sandbox.supervisor import Orders
from runners.agent.sandbox.watch import GRACE_SECONDS, CommandWatch, Received
from runners.wire.protocol import Witness
from tests.patience import until
from tests.requirements import requires
from tests.sandbox.boxes import CONFINING, LIMITS, MIB, NAP_SECONDS, Run, processes_named

NAP, NAPPING = f"sleep {NAP_SECONDS}", f"sleep\0{NAP_SECONDS}"
STALL = STALL_SECONDS + 1.0


def supervisor_of(word: str) -> int:
    """The supervisor of the command of which a process has `word` in its command line."""
    assert until(lambda: processes_named(word))
    process = processes_named(word)[0]
    while b"supervise" not in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0"):
        process = parent_of(process)
    return process


@pytest.fixture(params=CONFINING)
def box(request: pytest.FixtureRequest, opened: Callable[[str], Sandbox]) -> Sandbox:
    return opened(request.param)


def test_a_supervisor_that_is_killed_from_outside_is_a_fault(box: Sandbox, workspace: Path) -> None:
    with box.start(Command(NAP, workspace, LIMITS)) as running:
        os.kill(supervisor_of(NAPPING), signal.SIGKILL)
        with pytest.raises(SandboxFault, match="killed from outside"):
            running.wait()
    assert processes_named(NAPPING) == []


def stop_for(seconds: float, process: int) -> None:
    os.kill(process, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(process, signal.SIGCONT)


def test_a_limit_counts_no_time_for_which_the_supervisor_was_stopped(box: Sandbox, workspace: Path) -> None:
    shell = f"until test -e go; do sleep 0.1; done # {NAP_SECONDS}"
    with box.start(Command(shell, workspace, replace(LIMITS, wall_seconds=2.5))) as running:
        process = supervisor_of(f"done # {NAP_SECONDS}")
        stop_for(STALL, process)
        (workspace / "go").touch()
        outcome = running.wait()
    assert outcome.succeeded
    assert outcome.stalled_ms >= 1e3 * STALL_SECONDS


@pytest.mark.rest
def test_a_failure_while_the_supervisor_was_stopped_is_a_fault(box: Sandbox, workspace: Path) -> None:
    shell = f"until test -e go; do sleep 0.1; done; exit 3 # {NAP_SECONDS}"
    with box.start(Command(shell, workspace, LIMITS)) as running:
        stop_for(STALL, supervisor_of(f"exit 3 # {NAP_SECONDS}"))
        (workspace / "go").touch()
        with pytest.raises(SandboxFault, match="stood still"):
            running.wait()


@pytest.fixture
def in_a_container(opened: Callable[[str], Sandbox], workspace: Path) -> Running:
    """A command in a container, with a limit of three seconds."""
    return opened("docker").start(Command(NAP, workspace, replace(LIMITS, wall_seconds=3.0)))


def engine(verb: str) -> None:
    """Do this to the container of this process's command."""
    label = f"label={OWNER_LABEL}={owner()}"
    found: list[str] = []

    def is_there() -> bool:
        found[:] = subprocess.check_output(["docker", "ps", "-q", "--filter", label], text=True).split()
        return bool(found)

    assert until(is_there)
    subprocess.run(["docker", verb, *found], check=True, capture_output=True)


@requires("docker")
@pytest.mark.parametrize(("verb", "reason"), [("kill", "killed from outside"), ("pause", "stood still")])
def test_a_container_that_others_kill_or_pause_is_a_fault(in_a_container: Running, verb: str, reason: str) -> None:
    assert until(lambda: processes_named(NAPPING))
    with in_a_container as running:
        engine(verb)
        with pytest.raises(SandboxFault, match=reason):
            running.wait()


REACHING = """\
import os, resource
from ctypes import CDLL
def refused(call):
    try:
        return call() == -1
    except PermissionError:
        return True
pid = os.getppid()
while b"supervise" not in open(f"/proc/{pid}/cmdline", "rb").read().split(b"\\0"):
    pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
print(*(refused(call) for call in (
    lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0)),
    lambda: resource.prlimit(pid, resource.RLIMIT_DATA, (0, 0)),
    lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
    lambda: os.sched_setparam(pid, os.sched_param(0)),
    lambda: os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))}),
    lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
    lambda: os.setpriority(os.PRIO_USER, 0, 19),
    lambda: CDLL(None).syscall(SETATTR, pid, None, 0),
    lambda: CDLL(None).syscall(IOPRIO_SET, 1, pid, 3 << 13),
    lambda: CDLL(None).syscall(IOPRIO_SET, 3, 0, 3 << 13),
)))
os.sched_setaffinity(0, os.sched_getaffinity(0))
os.nice(1)
resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
print("its own are free")
"""
"""A command would have its supervisor killed by a limit, or starved, to make a failure look like a fault."""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="two calls are named by their numbers on x86_64")
def test_a_command_can_neither_limit_nor_slow_its_supervisor(confined: Run, workspace: Path) -> None:
    """Only in a sandbox of its own: one of the calls would slow all processes of a user that can be seen."""
    (workspace / "reach.py").write_text(REACHING.replace("SETATTR", "314").replace("IOPRIO_SET", "251"))
    assert confined("python3 reach.py").stdout.splitlines() == [" ".join(["True"] * 10), "its own are free"]


def test_a_program_with_endless_symbol_tables_does_not_hold_its_supervisor(confined: Run, workspace: Path) -> None:
    """The witness reads the program's symbols; a program may list the same large table many thousand times."""
    (workspace / "one.c").write_text("int main(void) { return 7; }")
    subprocess.run(["gcc", "one.c", "-o", "one"], cwd=workspace, check=True)
    add_symbol_tables(workspace / "one", count=60_000, each_bytes=8 * MIB)
    outcome = confined("./one", trace=True)
    assert outcome.exit_code == 7


def add_symbol_tables(program: Path, count: int, each_bytes: int) -> None:
    table_at = program.stat().st_size
    section = struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, table_at, each_bytes, 1, 0, 8, 24)
    with program.open("r+b") as file:
        file.seek(table_at + each_bytes)
        file.write(section * count)
        for offset, layout, values in ((40, "<Q", (table_at + each_bytes,)), (58, "<HH", (64, count))):
            file.seek(offset)
            file.write(struct.pack(layout, *values))


REPORT = (
    '{"exit_code": %s, "signal": null, "timed_out": false, "cancelled": false, "wall_ms": 249.0, "cpu_ms": 1.0, '
    '"stalled_ms": 0.0, "lost_ms": 0.0, "timed_ms": 0.0, "others_ms": 0.0, "steal_ms": 0.0, "max_rss_bytes": 1, '
    '"witness": "unavailable", "witness_detail": ""}'
)


class Script:
    """A stand-in for a sandbox, with a clock that each of its pieces of output moves on.

    Only so can an agent be shown that wakes up long after the end of its command, in no time.
    """

    pid = 0

    def __init__(self, *pieces: tuple[float, str], status: int = 0) -> None:
        """Each piece comes so many seconds after the one before; after the last one the output ends."""
        self._pieces, self._status = list(pieces), status
        self._read, self._write = socket.socketpair()
        self._write.send(b"x")
        self.seconds = 0.0
        self.nonce = self.over = ""

    def clock(self) -> float:
        return self.seconds

    def files(self) -> Sequence[int]:
        return (self._read.fileno(),)

    def send(self, data: bytes) -> None: ...

    def receive(self, _file: int) -> Received:
        if not self._pieces:
            return Received(ended=True)
        later, piece = self._pieces.pop(0)
        self.seconds += later
        return Received(stdout=piece.replace("NONCE", self.nonce).replace("OVER", self.over).encode())

    def hang_up(self) -> None: ...

    def has_ended(self) -> bool:
        return not self._pieces

    def kill(self) -> None: ...

    def close(self) -> int:
        self._read.close()
        self._write.close()
        return self._status


def attended(script: Script, workspace: Path, cage: TreeCage | None = None) -> Outcome:
    limits = replace(LIMITS, wall_seconds=5.0)
    orders = Orders(Command("true", workspace, limits), "/workspace", "/podium", {})
    script.nonce, script.over = orders.nonce, orders.over
    watch = CommandWatch(script, orders, cage or TreeCage(limits.memory_bytes), Event(), TickClock(script.clock))
    watch.attend()
    watch.end()
    return watch.outcome()


HELLO = (0.1, "NONCE\n")


@pytest.mark.parametrize("status", [0, 3])
def test_a_report_wins_over_the_clock_of_an_agent_that_stood_still(workspace: Path, status: int) -> None:
    report = f"out\n\nNONCE {REPORT % status}\n"
    outcome = attended(Script(HELLO, (9.0 + GRACE_SECONDS, report)), workspace)
    assert (outcome.exit_code, outcome.timed_out, outcome.stdout) == (status, False, "out\n")


def test_a_report_wins_that_comes_after_the_agent_has_lost_its_patience(workspace: Path) -> None:
    waits = [(1.0, ".") for _ in range(30)]
    outcome = attended(Script(HELLO, *waits, (1.0, f"\nNONCE {REPORT % 0}\n")), workspace)
    assert outcome.succeeded
    assert outcome.stderr == ""


def test_an_agent_that_stood_still_gives_the_supervisor_its_full_time(workspace: Path) -> None:
    late = [(1.0, ".") for _ in range(4)]
    outcome = attended(Script(HELLO, (60.0, "."), *late, (1.0, f"\nNONCE {REPORT % 0}\n")), workspace)
    assert outcome.succeeded


def test_a_supervisor_that_reports_nothing_in_its_time_is_a_fault(workspace: Path) -> None:
    with pytest.raises(SandboxFault, match="stood still"):
        attended(Script(HELLO, *[(1.0, ".") for _ in range(30)], status=137), workspace)


def test_a_command_whose_time_is_over_is_no_fault_of_a_machine_too_busy_to_end_it(workspace: Path) -> None:
    """As a fork bomb may be, on a machine with many times more to do than cores."""
    over = (6.0, "out\n\nOVER\n")
    outcome = attended(Script(HELLO, over, *[(1.0, ".") for _ in range(30)], status=137), workspace)
    assert outcome.timed_out
    assert outcome.stdout.strip(".") == "out\n"


def test_the_line_that_time_is_over_is_none_of_the_commands_output(workspace: Path) -> None:
    report = f"\nNONCE {(REPORT % 'null').replace('false', 'true', 1)}\n"
    outcome = attended(Script(HELLO, (5.0, "out\n\n"), (0.1, "OVER\nmore"), (0.1, report)), workspace)
    assert (outcome.timed_out, outcome.stdout) == (True, "out\nmore")


def test_a_line_without_the_secret_is_not_the_supervisors(workspace: Path) -> None:
    with pytest.raises(SandboxFault, match="stood still"):
        attended(Script(HELLO, *[(1.0, "\nabc\n") for _ in range(30)], status=137), workspace)


def test_a_supervisor_that_the_memory_limit_took_along_is_no_fault(workspace: Path) -> None:
    class Full(TreeCage):
        def close(self, *, was_killed: bool = False) -> UsageReading:
            return UsageReading(exceeded=True, peak_bytes=self.limit_bytes)

    outcome = attended(Script(HELLO, (0.1, "."), status=137), workspace, Full(LIMITS.memory_bytes))
    assert outcome.memory_exceeded
    assert outcome.witness is Witness.CONTRADICTED


def test_a_cage_that_vanished_full_was_killed_for_memory(workspace: Path) -> None:
    class Vanished(TreeCage):
        def close(self, *, was_killed: bool = False) -> UsageReading:
            return UsageReading(exceeded=False, peak_bytes=self.limit_bytes - MIB)

    script = Script(HELLO, (0.1, "."), status=137)
    assert attended(script, workspace, Vanished(LIMITS.memory_bytes, vanishes=True)).memory_exceeded
