"""Runs one process of a benchmark, alone on the device or in turns with others."""

from dataclasses import dataclass, replace
from pathlib import Path

from runners.agent.devices.gate import Watched
from runners.agent.devices.lanes import Seat
from runners.agent.devices.record import DeviceRecord
from runners.agent.ground.events import Progress
from runners.agent.job.commands import run, told
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.judges.command.turns import GatedRun, Unobserved, attached, notes_of_a_run, run_at_gate
from runners.agent.judges.host import HostRecord, host_during
from runners.agent.judges.texts import benchmark_failure
from runners.agent.profilers.base import Reading, Timer
from runners.agent.sandbox.policy import Command, Outcome
from runners.wire.protocol import Clock

OTHERS_BUSY_MS = 100.0
"""Milliseconds that other programs may add to the driver's count of activity, if their work runs into this turn."""
HUNG_SHARE = 0.5
"""A timed-out run that held the device for at least this share of its limit would time out alone, too."""


@dataclass(frozen=True)
class BenchmarkRun:
    """One process of a benchmark: its outcome, its time or the reason for having none, and the device's record."""

    outcome: Outcome
    """Its `wall_ms` excludes the waits for the device."""
    reading: Reading
    device: DeviceRecord | None = None
    host: HostRecord | None = None
    """Set if the run used no GPU and was timed by the sandbox's clock, so that a busy host lengthens its time."""
    among_others: bool = False
    """Whether it took turns with other commands at the device's gate."""
    hung: bool = False
    """Whether it ran out of time while it held the device, so that another run would do so, too."""

    @property
    def failed(self) -> bool:
        """Whether this run failed in a way that another run would repeat."""
        return not self.outcome.succeeded or self.reading.by_timer

    @property
    def was_slowed(self) -> bool:
        """Whether the device was throttled during the run, or the machine stood still."""
        throttled = self.device is not None and self.device.throttled
        return self.outcome.succeeded and (throttled or self.outcome.stalled_ms > 0)

    @property
    def is_void(self) -> bool:
        """Whether it was slowed, or other programs on the host lengthened it."""
        busy = self.host is not None and self.host.is_busy
        return self.was_slowed or (self.outcome.succeeded and busy)


def benchmark(
    environment: NodeEnvironment, subject: CommandSubject, product: bytes, timer: Timer, seat: Seat, progress: Progress
) -> BenchmarkRun:
    """Run one process of the benchmark on a seat that the caller holds. Raises Cancelled, SandboxFault,
    UnusableProblem."""
    problem, limit_seconds = subject.problem, subject.problem.effective_benchmark_timeout_seconds * timer.patience
    with (
        told(progress, "benchmark", subject.problem.task_id, is_reference=subject.author.is_trusted),
        subject.laid_out(environment, product) as workspace,
        notes_of_a_run(environment) as notes,
    ):
        attachment = timer.attach(problem.benchmark_command or "", notes)
        command = subject.run_command(attachment.shell, limit_seconds, workspace, seat, progress)
        command = attached(command, attachment)
        gated = seat.porter is not None
        if gated:
            ran = _in_turns(environment, command, seat, subject, progress, notes)
        else:
            ran = _alone(environment, command, seat)
        reading = _reading(timer, subject, notes, ran.outcome, limit_seconds)
    held_long = ran.held_ms >= HUNG_SHARE * limit_seconds * 1e3
    hung = ran.outcome.timed_out and (held_long or not gated)
    host = host_during(ran.outcome) if timer.clock is Clock.OUTSIDE and not seat.gpu_uuids else None
    return BenchmarkRun(ran.without_waits, reading, ran.device, host, gated, hung)


def _alone(environment: NodeEnvironment, command: Command, seat: Seat) -> GatedRun:
    watch = _watch(environment, seat, among_others=False)
    with watch:
        outcome = run(environment, command)
    return GatedRun(outcome, watch.record)


def _in_turns(
    environment: NodeEnvironment, command: Command, seat: Seat, subject: CommandSubject, progress: Progress, notes: Path
) -> GatedRun:
    watch = _watch(environment, seat, among_others=True)
    ran = run_at_gate(environment, command, seat, subject, progress, notes, watch)
    return replace(ran, device=_blurred(ran.device))


def _watch(environment: NodeEnvironment, seat: Seat, *, among_others: bool) -> Watched:
    gpus, uuid = environment.gpus, seat.gpu_uuid
    return gpus.watch(uuid, among_others=among_others) if gpus and uuid else Unobserved()


def _blurred(record: DeviceRecord | None) -> DeviceRecord | None:
    """The record with a wider resolution: the driver's count of activity includes the starts of other programs."""
    if record is None:
        return None
    return replace(record, busy_resolution_ms=record.busy_resolution_ms + OTHERS_BUSY_MS)


def _reading(timer: Timer, subject: CommandSubject, notes: Path, outcome: Outcome, limit_seconds: float) -> Reading:
    if outcome.succeeded:
        return timer.read(subject.problem, notes, outcome)
    by_timer = timer.own_failure(notes, outcome)
    return Reading(None, by_timer or benchmark_failure(outcome, limit_seconds), by_timer=bool(by_timer))
