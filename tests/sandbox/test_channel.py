"""Two live sandboxes, a checker's and a contestant's, pass descriptors over a channel. The test is the judge."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from runners.agent.sandbox import Command, Running, Sandbox, SandboxFault
from runners.agent.sandbox.policy import User
from tests.patience import until
from tests.requirements import requires
from tests.sandbox.boxes import CONFINING, EVERY, LIMITS, processes_named

AT_THE_CHANNEL = """\
import errno, fcntl, mmap, os, signal, socket, time
channel = socket.socket(fileno=int(os.environ["PODIUM_CHANNEL_FD"]))
SIZE = 1 << 16
"""
CHECKER = f"""\
{AT_THE_CHANNEL}
F_SEAL_FUTURE_WRITE = 0x10
_, received, *_ = socket.recv_fds(channel, 1, 1)
contestant = socket.socket(fileno=received[0])
inputs, outputs = (os.memfd_create(name, os.MFD_ALLOW_SEALING) for name in ("inputs", "outputs"))
for file in (inputs, outputs):
    os.ftruncate(file, SIZE)
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
given, answered = mmap.mmap(inputs, SIZE), mmap.mmap(outputs, SIZE)
fcntl.fcntl(inputs, fcntl.F_ADD_SEALS, F_SEAL_FUTURE_WRITE | fcntl.F_SEAL_SEAL)
socket.send_fds(contestant, [b"buffers"], [inputs, outputs])
def is_answered():
    try:
        return contestant.send(b"go") and contestant.recv(4) == b"done"
    except BrokenPipeError:
        return False
while channel.recv(1):
    data = os.urandom(SIZE)
    given[:], answered[:] = data, bytes(SIZE)
    if not is_answered():
        channel.send(b"gone")
    else:
        channel.send(b"right" if answered[:] == data[::-1] and given[:] == data else b"wrong")
"""
CONTESTANT = f"""\
{AT_THE_CHANNEL}
_, (inputs, outputs), *_ = socket.recv_fds(channel, 7, 2)
given, answered = mmap.mmap(inputs, SIZE, prot=mmap.PROT_READ), mmap.mmap(outputs, SIZE)
def attempt(name, action):
    try:
        action()
        print(name, "works", flush=True)
    except OSError as error:
        print(name, errno.errorcode[error.errno], flush=True)
{{attack}}
while channel.recv(2):
    {{hindrance}}
    answered[:] = given[:][::-1]
    channel.send(b"done")
"""


@dataclass
class Match:
    """A checker and a contestant at work, as their judge holds them."""

    checker: Running
    contestant: Running
    judge: socket.socket
    """The judge's end of the checker's channel."""

    def call(self) -> bytes:
        """The checker's words on one call of the contestant."""
        self.judge.send(b"c")
        return self.judge.recv(8)


Begin = Callable[..., Match]


@pytest.fixture(params=CONFINING)
def box(request: pytest.FixtureRequest, opened: Callable[[str], Sandbox]) -> Sandbox:
    return opened(request.param)


@pytest.fixture
def begin(box: Sandbox, workspace: Path) -> Iterator[Begin]:
    """Starts a checker and a contestant of the given habits; both have ended after the test."""
    with ExitStack() as stack:

        def start(user: User, code: str, end: socket.socket, **options: Any) -> Running:
            folder = workspace / user
            folder.mkdir()
            (folder / script_of(user)).write_text(code)
            command = Command(f"exec python3 {script_of(user)}", folder, **{"limits": LIMITS, "user": user, **options})
            return stack.enter_context(box.start(command, end))

        def begin_match(attack: str = "", hindrance: str = "", wall_seconds: float = 20) -> Match:
            judge, checkers_end = stack.enter_context(pair())
            to_contestant, contestants_end = stack.enter_context(pair())
            checker = start("checker", CHECKER, checkers_end)
            socket.send_fds(judge, [b"u"], [to_contestant.fileno()])
            to_contestant.close()
            contestant = start(
                "contestant",
                CONTESTANT.format(attack=attack, hindrance=hindrance),
                contestants_end,
                limits=replace(LIMITS, wall_seconds=wall_seconds),
                environment={"CHECKER": str(process_of("checker"))},
            )
            return Match(checker, contestant, judge)

        yield begin_match


@contextmanager
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with mine, theirs:
        yield mine, theirs


def script_of(user: User) -> str:
    """No process of another run of these tests runs a script of this name."""
    return f"{user}-{os.getpid()}.py"


def process_of(user: User) -> int:
    """The machine's number of the process, for which a container or namespace has another."""
    assert until(lambda: is_alive(user))
    (found,) = processes_named(f"\0{script_of(user)}")
    return found


def user_of(user: User) -> str:
    status = Path(f"/proc/{process_of(user)}/status").read_text()
    return next(line for line in status.splitlines() if line.startswith("Uid:"))


def is_alive(user: User) -> bool:
    return processes_named(f"\0{script_of(user)}") != []


def test_two_live_sandboxes_share_buffers_over_a_channel(begin: Begin) -> None:
    match = begin()
    assert [match.call() for _ in range(20)] == [b"right"] * 20
    match.judge.close()
    assert match.checker.wait().succeeded
    assert match.contestant.wait().succeeded, "it ends when its channel does"
    assert not is_alive("checker")
    assert not is_alive("contestant")


def test_the_contestant_cannot_write_what_the_checker_has_sealed(begin: Begin) -> None:
    match = begin(
        attack="""\
attempt("map", lambda: mmap.mmap(inputs, SIZE))
attempt("write", lambda: os.pwrite(inputs, b"x", 0))
attempt("reopen", lambda: os.pwrite(os.open(f"/proc/self/fd/{inputs}", os.O_RDWR), b"x", 0))
attempt("truncate", lambda: os.ftruncate(inputs, 0))
attempt("unseal", lambda: fcntl.fcntl(inputs, fcntl.F_ADD_SEALS, 0x8))
attempt("shrink the output", lambda: os.ftruncate(outputs, 0))
"""
    )
    assert match.call() == b"right"
    match.contestant.stop()
    lines = match.contestant.wait().stdout.splitlines()
    refused = ["map", "write", "reopen", "truncate", "unseal", "shrink the output"]
    assert lines == [f"{name} EPERM" for name in refused]


def test_the_contestant_cannot_reach_the_checker(begin: Begin) -> None:
    match = begin(
        attack="""\
checker = int(os.environ["CHECKER"])
attempt("signal", lambda: os.kill(checker, signal.SIGKILL))
attempt("files", lambda: os.listdir(f"/proc/{checker}/fd"))
attempt("memory", lambda: open(f"/proc/{checker}/mem"))
attempt("kill all", lambda: os.kill(-1, signal.SIGKILL))
"""
    )
    assert match.call() == b"right"
    if os.geteuid() == 0:  # else both are the agent's user, each in namespaces of its own
        assert user_of("checker") != user_of("contestant")
    match.contestant.stop()
    lines = match.contestant.wait().stdout.splitlines()
    assert lines == ["signal ESRCH", "files ENOENT", "memory ENOENT", "kill all ESRCH"]
    assert is_alive("checker")


def test_killing_one_leaves_the_other_alive(begin: Begin) -> None:
    match = begin()
    assert match.call() == b"right"
    match.contestant.stop()
    assert match.contestant.wait().cancelled
    assert [match.call(), match.call()] == [b"gone", b"gone"]
    match.judge.close()
    assert match.checker.wait().succeeded


@pytest.mark.rest
def test_a_contestant_that_hangs_meets_its_limit_and_the_checker_sees_it_go(begin: Begin) -> None:
    match = begin(hindrance="time.sleep(600)", wall_seconds=4)
    assert match.call() == b"gone"
    assert match.contestant.wait().timed_out
    assert not is_alive("contestant")
    assert is_alive("checker")


ANSWERS = "import os, socket; socket.socket(fileno=int(os.environ['PODIUM_CHANNEL_FD'])).send(b'well')"


@pytest.mark.parametrize("name", EVERY)
def test_a_command_finds_its_channel_in_the_environment(
    name: str, opened: Callable[[str], Sandbox], workspace: Path
) -> None:
    with (
        pair() as (mine, theirs),
        opened(name).start(Command(f'python3 -c "{ANSWERS}"', workspace, LIMITS), theirs) as it,
    ):
        assert mine.recv(4) == b"well"
        assert mine.recv(4) == b"", "nobody else holds the command's end"
        assert it.wait().succeeded


@pytest.mark.parametrize("name", EVERY)
def test_a_command_inherits_its_channel_and_nothing_else(
    name: str, opened: Callable[[str], Sandbox], workspace: Path
) -> None:
    command = Command("ls /proc/self/fd", workspace, LIMITS)
    with pair() as (_, theirs), opened(name).start(command, theirs) as running:
        with_channel = running.wait().stdout.split()
    assert set(with_channel) - set(opened(name).run(command).stdout.split()) == {"5"}


def test_a_sandbox_that_does_not_come_up_closes_its_channel(box: Sandbox, workspace: Path) -> None:
    command = Command("true", workspace / "missing", LIMITS)
    with pair() as (mine, theirs), box.start(command, theirs) as running:
        assert mine.recv(1) == b""
        with pytest.raises(SandboxFault):
            running.wait()


KNOCKS = "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect('/podium-door')"


@requires("docker")
def test_a_container_finds_the_door_of_its_channel_shut(opened: Callable[[str], Sandbox], workspace: Path) -> None:
    command = Command(f'python3 -c "{KNOCKS}"', workspace, LIMITS)
    with pair() as (_, theirs), opened("docker").start(command, theirs) as running:
        assert "ConnectionRefusedError" in running.wait().stderr


@requires("docker")
def test_an_engine_elsewhere_is_asked_for_no_channel(
    opened: Callable[[str], Sandbox], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = opened("docker")
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    with (
        pair() as (_, theirs),
        box.start(Command("true", workspace, LIMITS), theirs) as running,
        pytest.raises(SandboxFault, match="PODIUM_SANDBOX=bubblewrap"),
    ):
        running.wait()
