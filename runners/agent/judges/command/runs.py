"""Runs a subject's test and one process of its benchmark, alone on the device or in turns with others at its gate."""

import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from problems.spec.command.counts import why_not_counted
from runners.agent.devices.gate import Either, Gate, Watched, Window
from runners.agent.devices.lanes import Seat
from runners.agent.devices.record import DeviceRecord
from runners.agent.ground.errors import Cancelled
from runners.agent.ground.events import Progress, TurnChanged
from runners.agent.job.environment import NodeEnvironment, run, told
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.judges.host import HostRecord, host_during
from runners.agent.judges.texts import benchmark_failure
from runners.agent.profilers.base import Attachment, Reading, Timer
from runners.agent.profilers.cupti import ONE_CONNECTION, gate_attachment
from runners.agent.sandbox.policy import Command, Outcome
from runners.wire.protocol import Clock, Witness

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


LARGE_BYTES = 16 << 20
"""The content of larger test files is not compared."""
_WANTS_MEMORY = re.compile(r"out of memory|MemoryAllocation|OutOfMemory|bad_alloc|ALLOC_FAILED", re.IGNORECASE)


def test(environment: NodeEnvironment, subject: CommandSubject, product: bytes, progress: Progress) -> Outcome:
    """Run the test command on a build's product. Raises Cancelled, SandboxFault, UnusableProblem.

    A test that failed on a shared GPU for lack of memory runs again alone. A reference's test first runs with one
    connection to the device, which starts faster. If it fails that way, it runs again like any other test. The outcome
    has a `complaint` if the problem asks for counts and they do not say that all cases passed.
    """
    if subject.author.is_trusted and _is_gated(environment, subject):
        outcome = _test(environment, subject, product, progress, _sharing(environment, subject), ONE_CONNECTION)
        if outcome.succeeded:
            return outcome
    outcome = _test(environment, subject, product, progress, _sharing(environment, subject))
    if not subject.place.device or outcome.succeeded or not _WANTS_MEMORY.search(outcome.stdout + outcome.stderr):
        return outcome
    return _test(environment, subject, product, progress, environment.lanes.benchmark(subject.place))


def _is_gated(environment: NodeEnvironment, subject: CommandSubject) -> bool:
    return environment.gate_library is not None and bool(subject.place.device)


def _sharing(environment: NodeEnvironment, subject: CommandSubject) -> AbstractContextManager[Seat]:
    """The seat of a test. On a GPU with a gate, the test may start while a benchmark holds the device."""
    lanes = environment.lanes
    return (lanes.gated_test if _is_gated(environment, subject) else lanes.test)(subject.place)


def _test(
    environment: NodeEnvironment,
    subject: CommandSubject,
    product: bytes,
    progress: Progress,
    lane: AbstractContextManager[Seat],
    more_environment: Mapping[str, str] | None = None,
) -> Outcome:
    seconds = subject.problem.effective_test_timeout_seconds
    telling = told(progress, "test", subject.problem.task_id, is_reference=subject.author.is_trusted)
    with telling, lane as seat, subject.laid_out(environment, product) as workspace:
        command = subject.run_command(subject.test_command, seconds, workspace, seat, progress)
        marks = _marks(workspace, subject.test_paths)
        if seat.porter is None or environment.gate_library is None:
            outcome = _counted(subject, run(environment, command))
            return _unless_changed(outcome, marks, _marks(workspace, subject.test_paths))
        with notes_of_a_run(environment) as notes:
            attachment = gate_attachment(command.shell, environment.gate_library, notes)
            command = attached(command, attachment, more_environment)
            outcome = _counted(subject, run_at_gate(environment, command, seat, subject, progress, notes).without_waits)
            return _unless_changed(outcome, marks, _marks(workspace, subject.test_paths))


def _counted(subject: CommandSubject, outcome: Outcome) -> Outcome:
    """The outcome, with a complaint if it lacks the counts that the problem asks for. A trial runs other tests."""
    counts = subject.problem.podium.counts
    if counts is None or subject.is_trial or not outcome.succeeded:
        return outcome
    if outcome.truncated:
        return replace(outcome, complaint="The test printed too much: its counts may have been cut off.")
    return replace(outcome, complaint=why_not_counted(counts, outcome.stdout))


Marks = Mapping[str, tuple[int, int, bytes]]
"""The inode of each test file, the time of its last write, and its content."""


def _marks(workspace: Path, paths: Collection[str]) -> Marks:
    found = {}
    for path in paths:
        with suppress(OSError):
            place = workspace / path
            facts = place.lstat()
            content = place.read_bytes() if stat.S_ISREG(facts.st_mode) and facts.st_size < LARGE_BYTES else b""
            found[path] = (facts.st_ino, facts.st_mtime_ns, content)
    return found


def _unless_changed(outcome: Outcome, before: Marks, after: Marks) -> Outcome:
    """The outcome. If a test file was changed while the test ran, nothing says that the harness judged."""
    changed = sorted(path for path in before if after.get(path) != before[path])
    if not changed:
        return outcome
    words = f"{changed[0]} was changed while the test ran"
    return replace(outcome, witness=Witness.CONTRADICTED, witness_detail=words)


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
