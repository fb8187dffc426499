"""Runs a command that takes turns with others at the device's gate."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from runners.agent.devices.gate import Either, Gate, Watched, Window
from runners.agent.devices.lanes import Seat
from runners.agent.devices.record import DeviceRecord
from runners.agent.ground.errors import Cancelled
from runners.agent.ground.events import Progress, TurnChanged
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.profilers.base import Attachment
from runners.agent.sandbox.policy import Command, Outcome

GATE = "PODIUM_GATE"
"""Variable that gives the profiler's library the path of the gate's page."""
WAITING_SECONDS = 3600.0
"""Maximum wait of a command for its turns. The gate measures the command's own time separately."""


@dataclass(frozen=True)
class GatedRun:
    """The outcome of a command, and the device's record during its turns."""

    outcome: Outcome
    """The sandbox's outcome. Its `wall_ms` includes the waits for the device."""
    device: DeviceRecord | None = None
    waited_ms: float = 0.0
    held_ms: float = 0.0
    """Milliseconds for which the command held the device."""

    @property
    def without_waits(self) -> Outcome:
        """The outcome with a wall time that excludes the waits."""
        return replace(self.outcome, wall_ms=max(0.0, self.outcome.wall_ms - self.waited_ms))


class Unobserved(nullcontext[None]):
    """Replaces the watch of a device on a machine without one."""

    record: DeviceRecord | None = None

    def narrow(self, windows: Sequence[Window]) -> None:
        """Do nothing: no device is watched."""


@contextmanager
def notes_of_a_run(environment: NodeEnvironment) -> Iterator[Path]:
    """A folder for one run's profiler and gate, outside the workspace so that no solution can provide its files."""
    with environment.workspaces.open({}) as notes:
        notes.chmod(0o777)  # the slot's user writes here
        yield notes


def attached(command: Command, attachment: Attachment, more: Mapping[str, str] | None = None) -> Command:
    """The command with the additions of a timer or the gate."""
    environment = {**command.environment, **attachment.environment, **(more or {})}
    return replace(command, shell=attachment.shell, environment=environment, mounts=attachment.mounts)


def run_at_gate(
    environment: NodeEnvironment,
    command: Command,
    seat: Seat,
    subject: CommandSubject,
    progress: Progress,
    notes: Path,
    watch: Watched | None = None,
) -> GatedRun:
    """Run a command that waits for its device at the gate. Its time limit excludes the waits.

    Raises Cancelled and SandboxFault.
    """
    assert seat.porter
    limit_seconds = command.limits.wall_seconds

    def tell(change: str, at_ns: int) -> None:
        progress.tell(TurnChanged(subject.problem.task_id, subject.author.is_trusted, seat.alone, change, at_ns))

    gate = Gate(notes, seat.porter, seat.alone, watch or Unobserved(), limit_seconds, tell)
    patient = replace(
        command,
        environment={**command.environment, GATE: str(gate.path)},
        limits=replace(command.limits, wall_seconds=limit_seconds + WAITING_SECONDS),
        cancelled=Either(progress.cancelled, gate.cancelled),
    )
    if progress.cancelled.is_set():
        raise Cancelled
    with gate.attended(), environment.space.watched() as space:
        outcome = environment.sandbox.run(patient)
    if gate.timed_out and not progress.cancelled.is_set():
        outcome = replace(outcome, cancelled=False, timed_out=True)
    if outcome.cancelled:
        raise Cancelled
    space.check(command, outcome)
    return GatedRun(outcome, gate.record, gate.waited_seconds * 1e3, gate.windows_seconds * 1e3)
