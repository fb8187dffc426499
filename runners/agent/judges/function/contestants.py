"""Starts contestants' processes, one after another; the next ones ahead of their turns where that disturbs nobody."""

import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from runners.agent.devices.lanes import Seat
from runners.agent.ground.events import Progress
from runners.agent.job import artefact
from runners.agent.job.artefact import EMPTY
from runners.agent.job.commands import SOLUTION_FILES, limits_for
from runners.agent.job.environment import NodeEnvironment
from runners.agent.job.toolchain import cores
from runners.agent.judges.function.checkers import ENVIRONMENT, MOUNTS
from runners.agent.judges.function.subject import Subject
from runners.agent.sandbox.policy import Command, Mount, Running

CHECKING_SECONDS = 900.0
"""Time that a contestant's process may live beyond its own limit: it waits while the checker prepares and checks."""
MOST_AHEAD = 2
"""Number of processes that may load while one is timed: loading takes up to twice as long as a turn."""
FIRST_AHEAD_SLOT, BETWEEN_SLOTS = 2000, 1000
"""Processes take turns with slots, because each may be started while those before it live."""
LEAST_CORES = 8
"""With fewer, loading a library beside a call that is timed could disturb it."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A contestant that can be started: its subject and the product of its build."""

    subject: Subject
    product: bytes = EMPTY
    spans: Path | None = None
    """The library with which its processes tell kernel spans; None if they tell none."""


@dataclass(frozen=True)
class Live:
    """A contestant's process, and the checker's ends of its channel and brake."""

    running: Running
    channel: socket.socket
    brake: socket.socket


@dataclass(frozen=True)
class _Ahead:
    """A process that was started before its turn; it ends with the stack."""

    entry: Entry
    live: Live
    stack: ExitStack


class Contestants:
    """The processes of one sample's contestants at a seat.

    A process in Python loads torch, which takes seconds, and then waits for the checker: before that no code of a
    solution runs and no GPU is touched. So on a GPU it may load while the processes before it are called. A native
    process runs a solution's code as soon as it starts, so it is never started ahead.
    """

    def __init__(self, environment: NodeEnvironment, seat: Seat) -> None:
        self._environment = environment
        self._seat = seat
        self._expected: list[Entry] = []
        self._ahead: list[_Ahead] = []
        """In the order of their turns."""
        own = seat.slot
        self._slots = [own, *(FIRST_AHEAD_SLOT + n * BETWEEN_SLOTS + own for n in range(MOST_AHEAD))]
        self._n_started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_ahead(0)

    def expect(self, entries: Iterable[Entry], progress: Progress) -> None:
        """Say whose turns come next, in this order, and start the first ones ahead. Another turn than that drops the
        rest."""
        self._expected = list(entries)
        self.start_ahead(progress)

    @contextmanager
    def live(self, entry: Entry, progress: Progress) -> Iterator[Live]:
        """A process of this contestant: the one that was started ahead if there is one, else a new one."""
        if self._expected and self._expected[0] is entry:
            self._expected.pop(0)
        else:
            self._expected.clear()
        if self._ahead and self._ahead[0].entry is entry:
            process = self._ahead.pop(0)
        else:
            if not self._expected:
                self._end_ahead(0)
            process = self._started(entry, progress)
        with process.stack:
            yield process.live

    def start_ahead(self, progress: Progress) -> None:
        """Start the processes of the next turns that may be started ahead, and end those that are no longer next."""
        following = [one for one in self._expected[:MOST_AHEAD] if may_start_ahead(one, self._seat)]
        started = [one.entry for one in self._ahead]
        n_kept = next((n for n in range(len(started), 0, -1) if started[:n] == following[:n]), 0)
        self._end_ahead(n_kept)
        for entry in following[n_kept:]:
            self._ahead.append(self._started(entry, progress))

    def _end_ahead(self, n_kept: int) -> None:
        while len(self._ahead) > n_kept:
            self._ahead.pop().stack.close()

    def _started(self, entry: Entry, progress: Progress) -> _Ahead:
        seat = replace(self._seat, slot=self._slots[self._n_started % len(self._slots)])
        self._n_started += 1
        with ExitStack() as stack:
            live = _live(self._environment, seat, entry, progress, stack)
            return _Ahead(entry, live, stack.pop_all())


def may_start_ahead(entry: Entry, seat: Seat) -> bool:
    """Whether its process may load while another one is timed."""
    return entry.subject.stub == "python" and bool(seat.gpu_uuid) and cores() >= LEAST_CORES


def _live(environment: NodeEnvironment, seat: Seat, entry: Entry, progress: Progress, stack: ExitStack) -> Live:
    """Start the process; it ends with the stack."""
    subject = entry.subject
    workspace = stack.enter_context(environment.workspaces.open(subject.inputs))
    artefact.restore(entry.product, workspace, frozenset())
    (channel, own_channel), (brake, own_brake) = _pair(stack), _pair(stack)
    limits = limits_for(subject.limits, subject.problem.time_limit_seconds + CHECKING_SECONDS)
    command = Command(
        shell=subject.command,
        workspace=workspace,
        limits=replace(limits, file_bytes=subject.limits.memory_bytes),
        environment={
            **ENVIRONMENT,
            "PYTHONUNBUFFERED": "1",  # it is killed in the end, with what it has not written
            "PODIUM_FUNCTION_ARRAYS": f"{subject.problem.manifest.arrays} {subject.device}",
            "PODIUM_SETUP_ARGUMENTS": " ".join(map(str, subject.problem.manifest.setup_places)),
            SOLUTION_FILES: ":".join(subject.inputs),
            **({"PODIUM_SPANS": str(entry.spans)} if entry.spans else {}),
        },
        mounts=(*MOUNTS, *([Mount(entry.spans.parent, str(entry.spans.parent))] if entry.spans else [])),
        image=subject.image,
        gpu_uuids=seat.gpu_uuids,
        slot=seat.slot,
        cancelled=progress.cancelled,
    )
    return Live(stack.enter_context(environment.sandbox.start(command, own_channel, own_brake)), channel, brake)


def _pair(stack: ExitStack) -> tuple[socket.socket, socket.socket]:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    stack.enter_context(mine)
    return mine, theirs
