"""Starts contestants' processes. Those in Python on a GPU are started before there is a solution for them."""

import json
import socket
from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock
from time import monotonic

from runners.agent.devices.lanes import Seat
from runners.agent.ground.errors import SandboxFault
from runners.agent.ground.events import Progress
from runners.agent.job import artefact
from runners.agent.job.artefact import EMPTY
from runners.agent.job.environment import SOLUTION_FILES, NodeEnvironment, limits_for
from runners.agent.judges.function.checkers import MOUNTS, environment_for
from runners.agent.judges.function.subject import FunctionSubject
from runners.agent.judges.function.waiting import (
    LIFE_SECONDS,
    OwnSlots,
    give,
    n_waiting,
    needs_of,
    still_serves,
)
from runners.agent.sandbox.policy import Command, Running

CHECKING_SECONDS = 900.0
"""Time that a contestant's process may live beyond its own limit: it waits while the checker prepares and checks."""
FIRST_WAITING_SLOT = 2000
"""Processes that wait have slots of their own."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A contestant that can be started: its subject and the product of its build."""

    subject: FunctionSubject
    product: bytes = EMPTY


@dataclass(frozen=True)
class Live:
    """A contestant's process, and the checker's ends of its channel and brake."""

    running: Running
    channel: socket.socket
    brake: socket.socket
    roots: list[int]
    """Its first process on this machine, once it has started."""


@dataclass(frozen=True, eq=False)
class _Process:
    live: Live
    workspace: Path
    stack: ExitStack
    """Ends the process."""
    started: float

    @property
    def may_be_used(self) -> bool:
        if not still_serves(self.live.running, self.started):
            return False
        try:
            self.live.channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False  # it has ended, or told an error


class Contestants:
    """Processes of contestants on this node.

    A process in Python loads torch, which takes seconds. On a GPU some load before it is known for whom, and then wait:
    for a solution, and for the checker to let them load it. Before that no code of a solution runs and no GPU is
    touched, so any solution with the same limits may have them. Each serves one turn and ends. A native process runs a
    solution's code as soon as it starts, and on a CPU loading would disturb what is timed: both start when it is their
    turn.
    """

    def __init__(self, environment: NodeEnvironment) -> None:
        self._environment = environment
        self._waiting: dict[str, tuple[Hashable, list[_Process]]] = {}
        """The waiting processes of each GPU, the oldest first, after their settings."""
        self._slots = OwnSlots(FIRST_WAITING_SLOT)
        self._guard = Lock()

    @contextmanager
    def live(self, entry: Entry, seat: Seat, progress: Progress) -> Iterator[Live]:
        """A process of this contestant. It ends with the `with` block. Raises SandboxFault if it has ended before it
        was the contestant's."""
        waited = self._taken(entry, seat) if self._n_waiting(entry, seat) else None
        process = waited or self._started(entry, seat, progress.cancelled)
        with process.stack:
            if entry.subject.stub == "python" and not _give(process, entry) and waited:
                raise SandboxFault("a process that waited for a solution has ended")
            yield process.live

    def prepare(self, entry: Entry, seat: Seat) -> None:
        """Have processes wait for solutions like this one. Those that may use other things end."""
        wanted = self._n_waiting(entry, seat)
        if not wanted:
            return
        with ExitStack() as ending, self._guard:  # which have ended after others may go on
            key, processes = self._waiting.get(seat.gpu_uuid, ((), []))
            usable = [one for one in processes if key == _key(entry) and one.may_be_used]
            for one in processes:
                if one not in usable:
                    ending.push(one.stack)
            self._waiting[seat.gpu_uuid] = _key(entry), usable
            while len(usable) < wanted:
                usable.append(self._started(entry, seat, Event(), waits=True))

    def end_waiting(self, device: str) -> None:
        """End the processes that wait for solutions there."""
        with ExitStack() as ending, self._guard:
            for one in self._waiting.pop(device, ((), []))[1]:
                ending.push(one.stack)

    def close(self) -> None:
        """End all processes that wait."""
        with ExitStack() as ending:
            for device in list(self._waiting):
                ending.callback(self.end_waiting, device)

    def _n_waiting(self, entry: Entry, seat: Seat) -> int:
        n_gpus = len(self._environment.capabilities.gpus)
        return n_waiting(entry.subject, seat, n_gpus) if entry.subject.stub == "python" else 0

    def _taken(self, entry: Entry, seat: Seat) -> _Process | None:
        """One that waits; those that cannot be used are left to `prepare`."""
        with self._guard:
            key, processes = self._waiting.get(seat.gpu_uuid, ((), []))
            found = next((one for one in processes if key == _key(entry) and one.may_be_used), None)
            if found is not None:
                processes.remove(found)
            return found

    def _started(self, entry: Entry, seat: Seat, cancelled: Event, *, waits: bool = False) -> _Process:
        subject, is_native = entry.subject, entry.subject.stub == "native"
        with ExitStack() as stack:
            slot = stack.enter_context(self._slots.taken()) if waits else seat.slot
            workspace = stack.enter_context(self._environment.workspaces.open(subject.inputs if is_native else {}))
            artefact.restore(entry.product, workspace, frozenset())
            seconds = LIFE_SECONDS if waits else subject.problem.time_limit_seconds + CHECKING_SECONDS
            command = _command(entry, workspace, replace(seat, slot=slot), seconds, cancelled)
            (channel, own_channel), (brake, own_brake) = _pair(stack), _pair(stack)
            roots: list[int] = []
            command = replace(command, on_started=roots.append)
            running = stack.enter_context(self._environment.sandbox.start(command, own_channel, own_brake))
            return _Process(Live(running, channel, brake, roots), workspace, stack.pop_all(), monotonic())


def _key(entry: Entry) -> Hashable:
    return needs_of(entry.subject)


def _command(entry: Entry, workspace: Path, seat: Seat, seconds: float, cancelled: Event) -> Command:
    subject = entry.subject
    return Command(
        shell=subject.command,
        workspace=workspace,
        limits=replace(limits_for(subject.job.rules.limits, seconds), file_bytes=subject.job.rules.limits.memory_bytes),
        environment={
            **environment_for(subject),
            "PYTHONUNBUFFERED": "1",  # it is killed in the end, with what it has not written
            "PODIUM_FUNCTION_ARRAYS": f"{subject.problem.manifest.arrays} {subject.device}",
            SOLUTION_FILES: ":".join(subject.inputs),
        },
        mounts=MOUNTS,
        image=subject.job.image,
        gpu_uuids=seat.gpu_uuids,
        slot=seat.slot,
        cancelled=cancelled,
    )


def _give(process: _Process, entry: Entry) -> bool:
    """Give the solution to a process in Python; False if it has ended."""
    give(process.workspace, entry.subject.inputs)
    try:
        process.live.channel.send(_order(entry))
    except OSError:
        return False
    return True


def _order(entry: Entry) -> bytes:
    """The order of a process in Python, which loads when the checker lets it (`Order` in inside/contestant.py)."""
    manifest = entry.subject.problem.manifest
    order = {
        "solution": entry.subject.files[0].path,
        "dtypes": [one.dtype for one in manifest.parameters],
        "setup_places": list(manifest.setup_places),
    }
    return json.dumps(order).encode()


def _pair(stack: ExitStack) -> tuple[socket.socket, socket.socket]:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    stack.enter_context(mine)
    return mine, theirs
