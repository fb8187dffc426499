"""Starts contestants' processes, one after another; the next one ahead of its turn where that disturbs nobody."""

import socket
from collections.abc import Iterator
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
FIRST_AHEAD_SLOT = 2000
"""Every second process has a slot of its own, because it may be started while the one before it lives."""
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


class Contestants:
    """The processes of one sample's contestants at a seat.

    A process in Python loads torch, which takes seconds, and then waits for the checker: before that no code of a
    solution runs and no GPU is touched. So on a GPU it may load while the process before it is called. A native
    process runs a solution's code as soon as it starts, so it is never started ahead.
    """

    def __init__(self, environment: NodeEnvironment, seat: Seat) -> None:
        self._environment = environment
        self._seat = seat
        self._ahead: tuple[Entry, ExitStack, Live] | None = None
        self._slots = (seat.slot, FIRST_AHEAD_SLOT + seat.slot)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_ahead()

    @contextmanager
    def live(self, entry: Entry, progress: Progress) -> Iterator[Live]:
        """A process of this contestant: the one that was started ahead if there is one, else a new one."""
        if self._ahead is not None and self._ahead[0] is not entry:
            self._end_ahead()
        _, stack, live = self._ahead or self._started(entry, progress)
        self._ahead = None
        with stack:
            yield live

    def prepare(self, entry: Entry, progress: Progress) -> None:
        """Start this contestant's next process now, if it may be started ahead."""
        if self._ahead is None and may_start_ahead(entry, self._seat):
            self._ahead = self._started(entry, progress)

    def _end_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead[1].close()
            self._ahead = None

    def _started(self, entry: Entry, progress: Progress) -> tuple[Entry, ExitStack, Live]:
        self._slots = self._slots[::-1]
        with ExitStack() as stack:
            live = _live(self._environment, replace(self._seat, slot=self._slots[1]), entry, progress, stack)
            return entry, stack.pop_all(), live


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
