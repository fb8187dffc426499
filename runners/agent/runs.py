"""Runs a built solution: its tests beside others', its benchmark with the device to itself."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from runners.agent import artefact
from runners.agent.environment import NodeEnvironment
from runners.agent.errors import Cancelled
from runners.agent.gpu.gate import Gate, Watched
from runners.agent.gpu.record import DeviceRecord
from runners.agent.profilers import Reading, Timer
from runners.agent.sandbox.policy import Command, Outcome
from runners.agent.slots import Seat
from runners.agent.steps import SOLUTION_FILES, limits_for, paths, run, uncancelled
from runners.agent.task import Subject, Watcher
from runners.agent.texts import benchmark_failure

GATE = "PODIUM_GATE"
"""Tells the profiler's library where the gate's page lies."""
OTHERS_BUSY_MS = 100.0
"""What starts of others may add to the driver's count of a device's activity."""
WAITING_SECONDS = 3600.0
"""How long a benchmark may wait for its device on top of its own time, which the gate measures."""


@dataclass(frozen=True)
class BenchmarkRun:
    """One process of a benchmark: how it ended, its time, or why it has none, and what was seen of the device."""

    outcome: Outcome
    """Its `wall_ms` is without the waits for the device."""
    reading: Reading
    device: DeviceRecord | None = None
    held_ms: float = 0.0
    """How long it had the device, by this node's clock: the whole run, or its windows where it waited at the gate."""


@dataclass(frozen=True)
class _Seen:
    outcome: Outcome
    device: DeviceRecord | None
    waited_ms: float
    held_ms: float


def test(environment: NodeEnvironment, subject: Subject, product: bytes, watcher: Watcher) -> Outcome:
    """Run the test command on a build's product. Raises Cancelled, SandboxFault, UnusableProblem."""
    problem = subject.problem
    with environment.lanes.test(subject.place) as seat, _laid_out(environment, subject, product) as workspace:
        command = _command(subject, problem.test_command, problem.effective_test_timeout_seconds, workspace, seat)
        return uncancelled(environment, replace(command, cancelled=watcher.cancelled))


def benchmark(
    environment: NodeEnvironment, subject: Subject, product: bytes, timer: Timer, seat: Seat, watcher: Watcher
) -> BenchmarkRun:
    """Run one process of the benchmark on a seat that the caller holds. Raises as `test`."""
    return _Benchmark(environment, subject, timer, seat, watcher).run(product)


@dataclass
class _Benchmark:
    environment: NodeEnvironment
    subject: Subject
    timer: Timer
    seat: Seat
    watcher: Watcher

    @property
    def limit_seconds(self) -> float:
        return self.subject.problem.effective_benchmark_timeout_seconds * self.timer.patience

    def run(self, product: bytes) -> BenchmarkRun:
        environment, subject = self.environment, self.subject
        with _laid_out(environment, subject, product) as workspace, environment.workspaces.open({}) as notes:
            # Outside the workspace, so that no solution brings its own; open to the slot's user, whoever that is.
            notes.chmod(0o777)
            attachment = self.timer.attach(subject.problem.benchmark_command or "", notes)
            command = replace(
                _command(subject, attachment.shell, self.limit_seconds, workspace, self.seat, attachment.environment),
                mounts=attachment.mounts,
                cancelled=self.watcher.cancelled,
            )
            seen = self._gated(command, notes) if self.seat.window else self._alone(command)
            own_ms = max(0.0, seen.outcome.wall_ms - seen.waited_ms)
            reading = self._reading(notes, seen.outcome)
            return BenchmarkRun(replace(seen.outcome, wall_ms=own_ms), reading, seen.device, seen.held_ms)

    def _alone(self, command: Command) -> _Seen:
        with self._watch() as watch:
            outcome = uncancelled(self.environment, command)
        return _Seen(outcome, watch.record, 0.0, outcome.wall_ms)

    def _gated(self, command: Command, notes: Path) -> _Seen:
        assert self.seat.window
        gate = Gate(notes, self.seat.window, self.seat.is_wanted, self._watch, self.limit_seconds)
        patient = replace(
            command,
            environment={**command.environment, GATE: str(gate.path)},
            limits=replace(command.limits, wall_seconds=self.limit_seconds + WAITING_SECONDS),
            cancelled=_Either(self.watcher.cancelled, gate.cancelled),
        )
        with gate.attended():
            outcome = run(self.environment, patient)
        if gate.timed_out and not self.watcher.cancelled.is_set():
            outcome = replace(outcome, cancelled=False, timed_out=True)
        if outcome.cancelled:
            raise Cancelled
        return _Seen(outcome, _blurred(gate.record), gate.waited_seconds * 1e3, gate.windows_seconds * 1e3)

    def _watch(self) -> AbstractContextManager[Watched]:
        gpus, uuid = self.environment.gpus, self.seat.gpu_uuid
        return gpus.watch(uuid) if gpus and uuid else nullcontext(_Unwatched())

    def _reading(self, notes: Path, outcome: Outcome) -> Reading:
        if not outcome.succeeded:
            return Reading(None, benchmark_failure(outcome, self.limit_seconds))
        return self.timer.read(self.subject.problem, notes, outcome)


def _blurred(record: DeviceRecord | None) -> DeviceRecord | None:
    """The device is also busy with the starts of others, for all that the driver's count can tell."""
    if record is None:
        return None
    return replace(record, busy_resolution_ms=record.busy_resolution_ms + OTHERS_BUSY_MS)


class _Unwatched:
    record: DeviceRecord | None = None


class _Either(Event):
    """Set as soon as one of two events is."""

    def __init__(self, one: Event, other: Event) -> None:
        super().__init__()
        self._events = one, other

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._events)


@contextmanager
def _laid_out(environment: NodeEnvironment, subject: Subject, product: bytes) -> Iterator[Path]:
    """A workspace of the inputs that runs may see, and the product over them."""
    with environment.workspaces.open(subject.run_inputs) as workspace:
        artefact.restore(product, workspace, subject.test_paths)
        yield workspace


def _command(
    subject: Subject,
    shell: str,
    seconds: float,
    workspace: Path,
    seat: Seat,
    environment: Mapping[str, str] | None = None,
) -> Command:
    return Command(
        shell=shell,
        workspace=workspace,
        limits=limits_for(subject.limits, seconds),
        environment={SOLUTION_FILES: paths(subject), **(environment or {})},
        image=subject.image,
        gpu_uuids=seat.gpu_uuids,
        trace=True,
        harness=subject.problem.podium.harness,
        slot=seat.slot,
    )
