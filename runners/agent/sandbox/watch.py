"""Attends a supervised command: sends its orders, reads its output, enforces its bounds and ensures its end."""

import os
import selectors
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Protocol

from runners.agent.ground.clock import TickClock
from runners.agent.ground.errors import SandboxFault
from runners.agent.sandbox.cages import Cage, UsageReading
from runners.agent.sandbox.output import Output
from runners.agent.sandbox.policy import Command, Outcome
from runners.agent.sandbox.processes import unlinked_bytes
from runners.agent.sandbox.supervisor import Orders, SupervisorReport
from runners.wire.protocol import Witness

START_SECONDS = 30.0
GRACE_SECONDS = 10.0
"""Maximum time for the supervisor to end a command and report. Its own patience with dying processes is 5 s."""
TICK_SECONDS = 0.05
DRAIN_SECONDS = 0.3
WORKSPACE_SECONDS = 0.25
LONGEST_LOOK_SECONDS = 2.0
"""Maximum time between two looks at a workspace. In that time a program may pass the limit unseen."""
MANY_FILES = 200_000
NEARLY = 0.9
"""Share of the memory limit above which a supervisor that vanished together with its cage was killed for memory."""
SETUP_FAILED = 125
"""Exit status of a supervisor that could not start the command."""
KILLED_STATUS = 128 + signal.SIGKILL
"""A shell's exit status if the program that it ran last was killed."""


class Handle(Protocol):
    """A started sandbox as the agent holds it: a process with pipes, or a container with an attached socket."""

    pid: int

    def first_process(self) -> int:
        """Id on this machine of the process from which the command's descend."""
        ...

    def files(self) -> Sequence[int]:
        """Non-blocking descriptors that carry output."""
        ...

    def send(self, data: bytes) -> None: ...

    def receive(self, file: int) -> "Received":
        """Read from a descriptor that is ready."""
        ...

    def hang_up(self) -> None:
        """Close the sandbox's input. The supervisor then stops the command."""
        ...

    def has_ended(self) -> bool: ...

    def kill(self) -> None: ...

    def close(self) -> int:
        """Release all resources. Returns the exit status of the started program."""
        ...


@dataclass(frozen=True)
class Received:
    stdout: bytes = b""
    stderr: bytes = b""
    ended: bool = False


def attend(handle: Handle, orders: Orders, cage: Cage, stopped: Event) -> Outcome:
    """Run to the end, or until `stopped` is set.

    Raises SandboxFault if the sandbox never came up, or if it or this machine stopped before the command's own end.
    """
    watch = CommandWatch(handle, orders, cage, stopped)
    try:
        watch.attend()
    finally:
        watch.end()
    return watch.outcome()


class CommandWatch:
    """The agent's side of one command: its clock, its bounds and its output."""

    def __init__(
        self, handle: Handle, orders: Orders, cage: Cage, stopped: Event, clock: TickClock | None = None
    ) -> None:
        self._handle = handle
        self._clock = clock or TickClock()
        self._stopped = stopped
        self._orders = orders
        self._command: Command = orders.command
        self._cage = cage
        self._output = Output(orders)
        self._reason = ""
        self._status = 0
        self._cancelled = self._memory_exceeded = self._overdue = False
        self._workspace_excess = ""
        self._began = self._clock.now()
        self._deadline = self._began + START_SECONDS
        self._next_look = self._began + WORKSPACE_SECONDS

    def attend(self) -> None:
        """Attend until every stream has ended or a limit was reached."""
        with suppress(BrokenPipeError):  # a sandbox that failed early has said why on stderr
            self._handle.send(self._orders.encode())
        with selectors.DefaultSelector() as selector:
            for file in self._handle.files():
                selector.register(file, selectors.EVENT_READ)
            self._pump(selector)

    def _pump(self, selector: selectors.BaseSelector) -> None:
        ended_at: float | None = None
        while selector.get_map():
            for key, _ in selector.select(self._cage.tick_seconds or TICK_SECONDS):
                self._take(self._handle.receive(key.fd), selector, key.fd)
            self._check()
            if ended_at is None and self._handle.has_ended():
                ended_at = self._clock.now()
            # Some descendant may hold the pipes open although its supervisor is gone.
            if ended_at is not None and self._clock.now() > ended_at + DRAIN_SECONDS:
                return

    def _take(self, received: Received, selector: selectors.BaseSelector, file: int) -> None:
        if received.ended:
            selector.unregister(file)
        if received.stdout:
            self._add_stdout(received.stdout)
        if received.stderr:
            self._output.add_stderr(received.stderr)

    def _add_stdout(self, chunk: bytes) -> None:
        waiting = not self._output.started
        self._output.add_stdout(chunk)
        if waiting and self._output.started:
            now = self._clock.now()
            late = now - self._began  # the report comes the same way, through an engine that may be as slow then
            self._deadline = now + self._command.limits.longest_seconds + GRACE_SECONDS + late
            self._cage.attach(self._handle.pid)
            if self._command.on_started is not None:
                self._command.on_started(self._handle.first_process())
        if self._orders.linger and chunk.endswith(b"}\n") and self._output.report()[0] is not None:
            self._cage.exceeded()  # a last look before the group goes with its supervisor
            self._handle.hang_up()

    def _check(self) -> None:
        now = self._clock.now()
        if not self._cancelled and (self._stopped.is_set() or self._command.cancelled.is_set()):
            self._cancelled = True
            self._deadline = now + 1.0
            self._handle.hang_up()
        if now > self._deadline:
            self._overdue = True
            self._kill()
        if not self._memory_exceeded and self._cage.exceeded():
            self._memory_exceeded = True
            if self._cage.kills_by_hand:
                self._reason = "the command's memory passed its limit"
                self._kill()
        if now > self._next_look:
            self._look_at_workspace()

    def _look_at_workspace(self) -> None:
        began = self._clock.now()
        limit = self._command.limits.workspace_bytes
        hidden = unlinked_bytes(self._handle.pid, self._command.workspace, MANY_FILES)
        if excess := workspace_excess(self._command.workspace, limit, hidden):
            self._workspace_excess = excess
            self._reason = f"the workspace grew past its limit of {excess}"
            self._kill()
        # A large workspace is looked at less often, so that looking stays a small part of the time.
        now = self._clock.now()
        self._next_look = now + max(WORKSPACE_SECONDS, min(20 * (now - began), LONGEST_LOOK_SECONDS))

    def _kill(self) -> None:
        self._handle.kill()
        self._cage.kill()

    def end(self) -> None:
        """End all processes of the command."""
        self._kill()
        self._status = self._handle.close()

    def outcome(self) -> Outcome:
        """The command's outcome. Raises SandboxFault if its end was not the command's own doing nor a limit's."""
        report, _ = self._output.report()
        reading = self._cage.close(was_killed=report is None or _was_killed(report))
        memory_exceeded = self._memory_exceeded or reading.exceeded or (report is None and self._was_full(reading))
        fault = self._fault(report, by_limit=memory_exceeded or bool(self._workspace_excess))
        if fault:
            raise SandboxFault(fault)
        stdout, cut_out = self._output.stdout_text()
        stderr, cut_err = self._output.stderr.text()
        note = f"\n[podium] {self._reason}\n" if self._reason else ""
        seen = report or self._unreported()
        return Outcome(
            exit_code=seen.exit_code,
            signal=seen.signal,
            timed_out=seen.timed_out,
            memory_exceeded=memory_exceeded,
            cancelled=self._cancelled,
            stdout=stdout,
            stderr=stderr + note,
            truncated=cut_out or cut_err,
            wall_ms=seen.wall_ms,
            cpu_ms=seen.cpu_ms,
            stalled_ms=seen.stalled_ms,
            lost_ms=seen.lost_ms,
            timed_ms=seen.timed_ms,
            others_ms=seen.others_ms,
            steal_ms=seen.steal_ms,
            peak_memory_bytes=max(reading.peak_bytes, seen.max_rss_bytes),
            witness=seen.witness,
            witness_detail=seen.witness_detail,
            workspace_excess=self._workspace_excess,
        )

    def _was_full(self, reading: UsageReading) -> bool:
        """Whether the kernel may have killed for memory without a trace, because the cage vanished with its last
        process."""
        return self._cage.vanishes and reading.peak_bytes >= NEARLY * self._command.limits.memory_bytes

    def _fault(self, report: SupervisorReport | None, *, by_limit: bool) -> str:
        """The reason why the end says nothing about the command; empty if it is the command's own or a limit's."""
        if report is None and not (self._output.started or self._cancelled):
            return self._explain("the sandbox did not start")
        if report is None and self._status == SETUP_FAILED:
            return self._explain("the supervisor could not start the command")
        if by_limit or self._cancelled:
            return ""
        if report is not None:
            return _stalled(report)
        if self._orders.exposed or self._output.is_over:
            return ""
        return self._explain(
            "the supervisor stood still" if self._overdue else "the supervisor was killed from outside"
        )

    def _explain(self, what: str) -> str:
        said = self._output.stderr.text()[0].strip()[-1000:]
        return f"{what} (status {self._status}): {said or self._reason or 'it said nothing'}"

    def _unreported(self) -> SupervisorReport:
        """The report for a supervisor that ended before its own: by a limit, on request, killed by its command, or
        too slow to end all processes of a command whose time was over."""
        return SupervisorReport(
            exit_code=None,
            signal=signal.SIGKILL,
            timed_out=self._output.is_over or (self._overdue and not self._cancelled),
            cancelled=False,
            wall_ms=(self._clock.now() - self._began) * 1000,
            cpu_ms=0.0,
            stalled_ms=0.0,
            lost_ms=0.0,
            timed_ms=0.0,
            others_ms=0.0,
            steal_ms=0.0,
            max_rss_bytes=0,
            witness=Witness.CONTRADICTED,
            witness_detail="the supervisor was killed before it could report",
        )


def _was_killed(report: SupervisorReport) -> bool:
    """Whether the command, or a program of its shell, was killed otherwise than by its supervisor."""
    by_supervisor = report.timed_out or report.cancelled
    return not by_supervisor and (report.signal == signal.SIGKILL or report.exit_code == KILLED_STATUS)


def _stalled(report: SupervisorReport) -> str:
    """The reason to distrust a failure, if the machine stood still while the command ran; empty otherwise."""
    if not report.stalled_ms or (report.exit_code == 0 and not report.timed_out):
        return ""
    return f"the machine or its container stood still for {report.stalled_ms / 1e3:.1f} s while the command ran"


def workspace_excess(folder: Path, limit_bytes: int, used_bytes: int = 0) -> str:
    """The bound that the tree exceeds, in words; empty if it keeps to them. It may change while it is read.

    `used_bytes` are on the disk already, outside of the tree.
    """
    used, entries = used_bytes, 0
    pending = [os.fspath(folder)]
    while pending:
        try:
            with os.scandir(pending.pop()) as items:
                for item in items:
                    entries += 1
                    facts = item.stat(follow_symlinks=False)
                    used += facts.st_blocks * 512
                    if item.is_dir(follow_symlinks=False):
                        pending.append(item.path)
        except OSError:
            continue
        if used > limit_bytes:
            return f"{limit_bytes >> 20} MiB"
        if entries > MANY_FILES:
            return f"{MANY_FILES:,} files"
    return ""
