"""Starts contestants' processes. Those in Python on a GPU are started before there is a solution for them."""

import json
import socket
from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from threading import Event, Lock
from time import monotonic

from runners.agent.devices.lanes import Seat
from runners.agent.ground.events import Progress
from runners.agent.job import artefact
from runners.agent.job.artefact import EMPTY
from runners.agent.job.commands import SOLUTION_FILES, limits_for
from runners.agent.job.environment import NodeEnvironment
from runners.agent.job.toolchain import cores
from runners.agent.job.workspace import lay_out
from runners.agent.judges.function.checkers import ENVIRONMENT, LIFE_SECONDS, LONGEST_WAIT_SECONDS, MOUNTS, waits
from runners.agent.judges.function.subject import Subject
from runners.agent.sandbox.policy import Command, Mount, Running

CHECKING_SECONDS = 900.0
"""Time that a contestant's process may live beyond its own limit: it waits while the checker prepares and checks."""
FIRST_WAITING_SLOT = 2000
"""Processes that wait have slots of their own."""
MOST_WAITING, CORES_EACH = 3, 4
"""So many processes wait for solutions on a GPU, one for so many cores."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A contestant that can be started: its subject and the product of its build."""

    subject: Subject
    product: bytes = EMPTY
    library: Path | None = None
    """The library that tells kernel spans, if its processes may load it."""
    tells_spans: bool = False


@dataclass(frozen=True)
class Live:
    """A contestant's process, and the checker's ends of its channel and brake."""

    running: Running
    channel: socket.socket
    brake: socket.socket


@dataclass(frozen=True)
class _Process:
    live: Live
    workspace: Path
    stack: ExitStack
    """Ends the process."""
    started: float

    @property
    def may_be_used(self) -> bool:
        return not self.live.running.has_ended and monotonic() - self.started < LONGEST_WAIT_SECONDS


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
        """By GPU: what the processes may use, and the processes, the oldest first."""
        self._slots: set[int] = set()
        self._guard = Lock()

    @contextmanager
    def live(self, entry: Entry, seat: Seat, progress: Progress) -> Iterator[Live]:
        """A process of this contestant. It ends with the `with` block."""
        process = self._taken(entry, seat) if n_waiting(entry, seat) else None
        if process is None:
            process = self._started(entry, seat, progress.cancelled)
        with process.stack:
            if entry.subject.stub == "python":
                _give(process, entry)
            yield process.live

    def prepare(self, entry: Entry, seat: Seat) -> None:
        """Have processes wait for solutions like this one. Those that may use other things end."""
        wanted = n_waiting(entry, seat)
        if not wanted:
            return
        with self._guard:
            key, processes = self._waiting.get(seat.gpu_uuid, ((), []))
            usable = [one for one in processes if key == _key(entry) and one.may_be_used]
            for one in processes:
                if one not in usable:
                    one.stack.close()
            self._waiting[seat.gpu_uuid] = _key(entry), usable
            while len(usable) < wanted:
                usable.append(self._started(entry, seat, Event(), waits=True))

    def close(self) -> None:
        """End all processes that wait."""
        with self._guard:
            while self._waiting:
                for one in self._waiting.popitem()[1][1]:
                    one.stack.close()

    def _taken(self, entry: Entry, seat: Seat) -> _Process | None:
        with self._guard:
            key, processes = self._waiting.get(seat.gpu_uuid, ((), []))
            while key == _key(entry) and processes:
                process = processes.pop(0)
                if process.may_be_used:
                    return process
                process.stack.close()
        return None

    def _started(self, entry: Entry, seat: Seat, cancelled: Event, *, waits: bool = False) -> _Process:
        subject, is_native = entry.subject, entry.subject.stub == "native"
        with ExitStack() as stack:
            slot = stack.enter_context(self._slot()) if waits else seat.slot
            workspace = stack.enter_context(self._environment.workspaces.open(subject.inputs if is_native else {}))
            artefact.restore(entry.product, workspace, frozenset())
            seconds = LIFE_SECONDS if waits else subject.problem.time_limit_seconds + CHECKING_SECONDS
            command = _command(entry, workspace, replace(seat, slot=slot), seconds, cancelled)
            (channel, own_channel), (brake, own_brake) = _pair(stack), _pair(stack)
            running = stack.enter_context(self._environment.sandbox.start(command, own_channel, own_brake))
            return _Process(Live(running, channel, brake), workspace, stack.pop_all(), monotonic())

    @contextmanager
    def _slot(self) -> Iterator[int]:
        slot = next(number for number in count(FIRST_WAITING_SLOT) if number not in self._slots)
        self._slots.add(slot)
        try:
            yield slot
        finally:
            self._slots.discard(slot)


def n_waiting(entry: Entry, seat: Seat) -> int:
    """How many processes may wait for solutions like this one while others are timed."""
    return min(MOST_WAITING, cores() // CORES_EACH) if entry.subject.stub == "python" and waits(seat) else 0


def _key(entry: Entry) -> Hashable:
    """All in which one process that waits differs from another."""
    subject = entry.subject
    return subject.problem.manifest.arrays, subject.image, subject.limits.model_dump_json(), entry.library


def _command(entry: Entry, workspace: Path, seat: Seat, seconds: float, cancelled: Event) -> Command:
    subject, spans = entry.subject, entry.library
    tells = {"PODIUM_SPANS": str(spans)} if entry.tells_spans and subject.stub == "native" else {}
    return Command(
        shell=subject.command,
        workspace=workspace,
        limits=replace(limits_for(subject.limits, seconds), file_bytes=subject.limits.memory_bytes),
        environment={
            **ENVIRONMENT,
            "PYTHONUNBUFFERED": "1",  # it is killed in the end, with what it has not written
            "PODIUM_FUNCTION_ARRAYS": f"{subject.problem.manifest.arrays} {subject.device}",
            SOLUTION_FILES: ":".join(subject.inputs),
            **tells,
        },
        mounts=(*MOUNTS, *([Mount(spans.parent, str(spans.parent))] if spans else [])),
        image=subject.image,
        gpu_uuids=seat.gpu_uuids,
        slot=seat.slot,
        cancelled=cancelled,
    )


def _give(process: _Process, entry: Entry) -> None:
    """Give the solution to a process in Python. No code of a contestant has run in its workspace yet."""
    lay_out(process.workspace, entry.subject.inputs)
    for path in entry.subject.inputs:
        (process.workspace / path).chmod(0o644)
    with suppress(OSError):  # the checker sees that it has ended
        process.live.channel.send(_order(entry))


def _order(entry: Entry) -> bytes:
    """What a process in Python is to load when the checker lets it (`Order` in inside/contestant.py)."""
    manifest = entry.subject.problem.manifest
    order = {
        "solution": entry.subject.files[0].path,
        "dtypes": [one.dtype for one in manifest.parameters],
        "setup_places": list(manifest.setup_places),
        "spans": str(entry.library) if entry.library and entry.tells_spans else "",
    }
    return json.dumps(order).encode()


def _pair(stack: ExitStack) -> tuple[socket.socket, socket.socket]:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    stack.enter_context(mine)
    return mine, theirs
