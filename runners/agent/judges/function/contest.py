"""Puts a contestant before a checker: starts its process, gives the checker its order and collects the replies."""

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from runners.agent.devices.lanes import Seat
from runners.agent.ground.errors import Cancelled, SandboxFault
from runners.agent.ground.events import Progress
from runners.agent.job import artefact
from runners.agent.job.artefact import EMPTY
from runners.agent.job.commands import SOLUTION_FILES, limits_for
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.function.checkers import ENVIRONMENT, MOUNTS, SILENCE_SECONDS, Checker
from runners.agent.judges.function.subject import Subject
from runners.agent.sandbox.policy import Command, Outcome, Running

CHECKING_SECONDS = 900.0
"""Time that a contestant's process may live beyond its own limit: it waits while the checker prepares and checks."""
ENDING_SECONDS = 3.0
"""Time for a process that ended its channel to end itself."""

Reply = Mapping[str, Any]


@dataclass(frozen=True)
class Contest:
    """What the checker saw of one contestant, and how its process ended."""

    cases: tuple[Reply, ...]
    ordered: tuple[int, ...]
    """Numbers of the cases that it had to answer."""
    how: str
    """How the contestant ended before its time: late, gone, error, bad_answer, not_stopped, or refused if the problem
    does not take its own sizes; empty if it did not."""
    words: str
    """The contestant's own words about its error."""
    outcome: Outcome
    load_ms: float
    """Time until its solution was loaded."""
    is_on_gpu: bool = False


@dataclass(frozen=True)
class Entry:
    """A contestant that can be started: its subject and the product of its build."""

    subject: Subject
    product: bytes = EMPTY


def contest(
    environment: NodeEnvironment,
    checker: Checker,
    seat: Seat,
    entry: Entry,
    order: Reply,
    progress: Progress,
    on_case: Callable[[Reply], None] = lambda _: None,
) -> Contest:
    """Run one contestant to its end. Raises Cancelled, and SandboxFault if checker or sandbox fails."""
    limit_seconds = entry.subject.problem.time_limit_seconds
    cases: list[Reply] = []
    with _live(environment, seat, entry, progress) as (running, channel, brake):
        checker.order(order, channel, brake)
        channel.close()
        brake.close()
        for reply in checker.replies(progress, limit_seconds + SILENCE_SECONDS):
            if reply["op"] == "fault":
                raise SandboxFault(f"the device failed under the checker: {reply['words']}")
            if reply["op"] == "case":
                cases.append(reply)
                on_case(reply)
        if progress.cancelled.is_set():  # it was ended for that, which is no end of its own
            raise Cancelled
        outcome = _outcome(running, str(reply["how"]))
    load_ms, on_gpu = float(reply["load_ms"]), bool(seat.gpu_uuid)
    return Contest(
        tuple(cases), tuple(order["cases"]), str(reply["how"]), str(reply["words"]), outcome, load_ms, on_gpu
    )


@contextmanager
def _live(
    environment: NodeEnvironment, seat: Seat, entry: Entry, progress: Progress
) -> Iterator[tuple[Running, socket.socket, socket.socket]]:
    """A contestant's process, and the checker's ends of its channel and brake."""
    subject = entry.subject
    with ExitStack() as stack:
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
            },
            mounts=MOUNTS,
            image=subject.image,
            gpu_uuids=seat.gpu_uuids,
            slot=seat.slot,
            cancelled=progress.cancelled,
        )
        running = stack.enter_context(environment.sandbox.start(command, own_channel, own_brake))
        yield running, channel, brake


def _pair(stack: ExitStack) -> tuple[socket.socket, socket.socket]:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    stack.enter_context(mine)
    return mine, theirs


def _outcome(running: Running, how: str) -> Outcome:
    """The process's end: its own if it ended its channel, else by our hand, for it may be stopped."""
    deadline = time.monotonic() + (ENDING_SECONDS if how in ("gone", "error") else 0.0)
    while not running.has_ended and time.monotonic() < deadline:
        time.sleep(0.01)
    running.stop()
    return running.wait()
