"""A judge stops and continues a sandboxed command over the brake, whose other end only the supervisor holds."""

import os
import select
import signal
import socket
import struct
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pytest

from runners.agent.sandbox import Command, Running, Sandbox, SandboxFault
from runners.agent.sandbox.unconfined import UnconfinedSandbox
from tests.patience import until
from tests.requirements import requires
from tests.sandbox.boxes import BUBBLEWRAP, CONFINING, LIMITS, open_sandbox, processes_named

ANSWER = struct.Struct("<IIQ")
COUNTING = """
    import ctypes, mmap, os, signal, socket, sys, threading, time
    channel = socket.socket(fileno=int(os.environ["PODIUM_CHANNEL_FD"]))
"""


class Seen(NamedTuple):
    """The supervisor's answer."""

    is_stopped: int
    tasks: int
    ran_ns: int


@dataclass
class Braked:
    """A running command, its channel and its brake."""

    running: Running
    channel: socket.socket
    brake: socket.socket

    def ask(self, order: bytes) -> Seen:
        """Order `s` or `v`, and its answer."""
        self.brake.send(order)
        return Seen(*ANSWER.unpack(self.brake.recv(ANSWER.size)))

    def go(self) -> None:
        self.brake.send(b"g")

    def hears(self) -> bytes:
        return self.channel.recv(200)


Start = Callable[[str], Braked]


@pytest.fixture
def start(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Callable[[Sandbox, str], Braked]]:
    """Starts Python code at a channel and a brake; it has said its first word."""
    with ExitStack() as stack:

        def started(box: Sandbox, code: str) -> Braked:
            (workspace / "code.py").write_text(textwrap.dedent(COUNTING) + textwrap.dedent(code))
            pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
            for mine, _ in pairs:
                stack.enter_context(mine)
                mine.settimeout(20)
            command = Command("exec python3 code.py", workspace, replace(LIMITS, wall_seconds=50))
            running = stack.enter_context(box.start(command, pairs[0][1], pairs[1][1]))
            braked = Braked(running, pairs[0][0], pairs[1][0])
            if braked.hears() != b"here":
                raise AssertionError(running.wait())
            return braked

        yield started


@pytest.fixture(params=CONFINING)
def braked(
    request: pytest.FixtureRequest, opened: Callable[[str], Sandbox], start: Callable[[Sandbox, str], Braked]
) -> Start:
    return lambda code: start(opened(request.param), code)


@pytest.mark.rest
def test_a_stop_holds_every_thread_and_child_and_a_start_lets_all_go_on(braked: Start) -> None:
    match = braked(
        """
        shared = mmap.mmap(-1, 4096)
        def count(place):
            while True:
                shared[place] = (shared[place] + 1) % 256
        threading.Thread(target=count, args=(0,), daemon=True).start()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                count(1)
            count(2)
        while 0 in shared[:3]:
            pass
        channel.send(b"here")
        while channel.recv(1):
            channel.send(shared[:3])
        """
    )
    stopped = match.ask(b"s")
    assert stopped.is_stopped
    assert stopped.tasks >= 4
    assert stopped.ran_ns > 0
    match.channel.send(b"?")
    assert not select.select([match.channel], [], [], 0.1)[0]
    assert match.ask(b"v") == stopped, "nothing of it has run"
    match.go()
    before = match.hears()

    def all_have_counted() -> bool:
        match.channel.send(b"?")
        return all(now != then for now, then in zip(match.hears(), before, strict=True))

    assert until(all_have_counted, 10)
    later = match.ask(b"s")
    assert later.is_stopped
    assert later.ran_ns > stopped.ran_ns


def test_a_timer_that_continues_its_own_process_is_seen(braked: Start) -> None:
    """Python has no POSIX timer that sends SIGCONT, so this one is the C library's."""
    match = braked(
        """
        libc = ctypes.CDLL(None)
        signal.signal(signal.SIGCONT, lambda *_: None)
        event = (ctypes.c_uint64 * 8)(0, signal.SIGCONT)
        timer = ctypes.c_void_p()
        assert libc.timer_create(1, event, ctypes.byref(timer)) == 0
        often = (ctypes.c_long * 4)(0, 3_000_000, 0, 3_000_000)
        channel.send(b"here")
        channel.recv(1)
        assert libc.timer_settime(timer, 0, often, None) == 0
        channel.send(b"set")
        channel.recv(1)
        """
    )
    stopped = match.ask(b"s")
    assert stopped == match.ask(b"v"), "the timer is not set yet"
    match.go()
    match.channel.send(b"?")
    assert match.hears() == b"set"
    first = match.ask(b"s")

    def has_run() -> bool:
        now = match.ask(b"v")
        return now.ran_ns != first.ran_ns or not now.is_stopped

    assert until(has_run)


@requires("bubblewrap")
def test_a_process_that_stops_itself_again_is_seen_to_have_run(
    opened: Callable[[str], Sandbox], start: Callable[[Sandbox, str], Braked]
) -> None:
    """It is found stopped at each look, and only the time for which it ran tells. This test is its timer."""
    name = f"stops-itself-{os.getpid()}"
    match = start(
        opened("bubblewrap"),
        f"""
        signal.signal(signal.SIGCONT, lambda *_: os.kill(os.getpid(), signal.SIGSTOP))
        if sys.argv[-1] != "{name}":
            os.execv(sys.executable, ["python3", sys.argv[0], "{name}"])
        channel.send(b"here")
        while True:
            pass
        """,
    )
    (process,) = processes_named(f"\0{name}")
    first = match.ask(b"s")
    assert first.is_stopped

    def has_run() -> bool:
        os.kill(process, signal.SIGCONT)
        time.sleep(0.05)  # in which it runs and stops itself, on a busy machine too
        seen = match.ask(b"v")
        return bool(seen.is_stopped) and seen.ran_ns > first.ran_ns

    assert until(has_run, 10)


@pytest.mark.rest
@pytest.mark.parametrize("braked", [BUBBLEWRAP], indirect=True)
def test_it_stops_and_goes_on_a_thousand_times(braked: Start) -> None:
    match = braked(
        """
        threading.Thread(target=lambda: all(iter(lambda: True, False)), daemon=True).start()
        channel.send(b"here")
        while word := channel.recv(8):
            channel.send(word)
        """
    )
    ran_ns = 0
    for number in range(1000):
        seen = match.ask(b"s")
        assert seen.is_stopped
        assert seen.ran_ns > ran_ns
        assert match.ask(b"v") == seen
        ran_ns = seen.ran_ns
        match.channel.send(b"%d" % number)
        match.go()
        assert match.hears() == b"%d" % number


def test_a_process_that_hides_whether_it_runs_is_stopped_too(braked: Start) -> None:
    """One that is not dumpable: its time standing still is then what tells."""
    match = braked(
        """
        not_dumpable = (4, 0)
        assert ctypes.CDLL(None).prctl(*not_dumpable) == 0
        threading.Thread(target=lambda: all(iter(lambda: True, False)), daemon=True).start()
        channel.send(b"here")
        channel.recv(1)
        """
    )
    stopped = match.ask(b"s")
    assert stopped.is_stopped
    assert stopped.tasks >= 2
    assert match.ask(b"v") == stopped


def test_the_command_never_holds_the_brake(braked: Start) -> None:
    """All its sockets are its channel."""
    match = braked(
        """
        import stat
        def sockets_of(process):
            found = []
            for name in os.listdir(f"/proc/{process}/fd"):
                try:
                    facts = os.stat(f"/proc/{process}/fd/{name}")
                except OSError:
                    continue
                if stat.S_ISSOCK(facts.st_mode):
                    found.append(facts.st_ino)
            return found
        channel.send(b"here")
        channel.recv(1)
        own = os.fstat(channel.fileno()).st_ino
        try:
            others = sockets_of(1)
        except OSError as error:
            others = type(error).__name__
        channel.send(repr((set(sockets_of("self")) == {own}, others)).encode())
        """
    )
    match.channel.send(b"?")
    only_its_own, supervisors = eval(match.hears().decode())
    assert only_its_own
    assert supervisors in ("PermissionError", []), "what it could open there would be the brake"


def test_a_command_that_ends_hangs_up_the_brake(braked: Start) -> None:
    match = braked('channel.send(b"here"); channel.recv(1)')
    match.channel.send(b"?")
    assert match.running.wait().succeeded
    assert match.brake.recv(1) == b""


def test_a_stopped_command_can_be_ended(braked: Start) -> None:
    match = braked('channel.send(b"here"); channel.recv(1)')
    assert match.ask(b"s").is_stopped
    match.running.stop()
    assert match.running.wait().cancelled


def test_an_unconfined_command_cannot_be_braked(
    tmp_path: Path, cache: Path, start: Callable[[Sandbox, str], Braked]
) -> None:
    """Its supervisor cannot tell its processes from all others, and would stop this machine's."""
    box = open_sandbox("unconfined", cache)
    assert isinstance(box, UnconfinedSandbox)
    with pytest.raises(SandboxFault, match="use bubblewrap or docker"):
        start(box, "pass")
