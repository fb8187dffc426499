"""Runs a built solution: its tests beside others', its benchmark with the device to itself."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from runners.agent import artefact
from runners.agent.early import Either
from runners.agent.environment import NodeEnvironment
from runners.agent.errors import Cancelled
from runners.agent.gpu.gate import Gate, Watched, Window
from runners.agent.gpu.record import DeviceRecord
from runners.agent.profilers import Attachment, Reading, Timer
from runners.agent.profilers.cupti import ONE_CONNECTION, gate_attachment
from runners.agent.sandbox.policy import Command, Outcome
from runners.agent.slots import Seat
from runners.agent.steps import SOLUTION_FILES, limits_for, paths, run, uncancelled
from runners.agent.task import Subject, Watcher
from runners.agent.texts import benchmark_failure

GATE = "PODIUM_GATE"
"""Tells the profiler's library where the gate's page lies."""
OTHERS_BUSY_MS = 100.0
"""What others may add to the driver's count of a device's activity, as by work that runs on into another's turn."""
HUNG_SHARE = 0.5
"""Who had the device for so much of its time limit did not run out of time because of others."""
WAITING_SECONDS = 3600.0
"""How long a benchmark may wait for its device on top of its own time, which the gate measures."""


_WANTS_MEMORY = re.compile(r"out of memory|MemoryAllocation|OutOfMemory|bad_alloc|ALLOC_FAILED", re.IGNORECASE)


@dataclass(frozen=True)
class BenchmarkRun:
    """One process of a benchmark: how it ended, its time, or why it has none, and what was seen of the device."""

    outcome: Outcome
    """Its `wall_ms` is without the waits for the device."""
    reading: Reading
    device: DeviceRecord | None = None
    among_others: bool = False
    """Whether it took turns at the device with other commands, at the gate."""
    hung: bool = False
    """Whether it ran out of time for no want of the device, so that it would again."""

    @property
    def failed(self) -> bool:
        """Whether another process of it is not worth its time."""
        return not self.outcome.succeeded or self.reading.by_timer


@dataclass(frozen=True)
class _Seen:
    outcome: Outcome
    device: DeviceRecord | None
    waited_ms: float
    held_ms: float = 0.0

    @property
    def own_ms(self) -> float:
        return max(0.0, self.outcome.wall_ms - self.waited_ms)


def test(environment: NodeEnvironment, subject: Subject, product: bytes, watcher: Watcher) -> Outcome:
    """Run the test command on a build's product. Raises Cancelled, SandboxFault, UnusableProblem.

    Where others use the device too, a test that ran out of memory says nothing: it is run again alone. A reference's
    test starts with one connection to the device, which is sooner done, and its failure then says nothing either.
    """
    if subject.trusted and _is_gated(environment, subject):
        outcome = _test(environment, subject, product, watcher, _sharing(environment, subject), ONE_CONNECTION)
        if outcome.succeeded:
            return outcome
    outcome = _test(environment, subject, product, watcher, _sharing(environment, subject))
    if not subject.place.device or outcome.succeeded or not _WANTS_MEMORY.search(outcome.stdout + outcome.stderr):
        return outcome
    return _test(environment, subject, product, watcher, environment.lanes.benchmark(subject.place))


def _is_gated(environment: NodeEnvironment, subject: Subject) -> bool:
    return environment.gate_library is not None and bool(subject.place.device)


def _sharing(environment: NodeEnvironment, subject: Subject) -> AbstractContextManager[Seat]:
    """On a GPU with a gate a test starts up while a benchmark has the device."""
    lanes = environment.lanes
    return (lanes.gated_test if _is_gated(environment, subject) else lanes.test)(subject.place)


def _test(
    environment: NodeEnvironment,
    subject: Subject,
    product: bytes,
    watcher: Watcher,
    lane: AbstractContextManager[Seat],
    more_environment: Mapping[str, str] = MappingProxyType({}),
) -> Outcome:
    problem, seconds = subject.problem, subject.problem.effective_test_timeout_seconds
    with lane as seat, _laid_out(environment, subject, product) as workspace:
        command = _command(subject, problem.test_command, seconds, workspace, seat)
        command = replace(command, cancelled=watcher.cancelled)
        if seat.porter is None or environment.gate_library is None:
            return uncancelled(environment, command)
        with _notes(environment) as notes:
            attachment = gate_attachment(command.shell, environment.gate_library, notes)
            attachment = replace(attachment, environment={**attachment.environment, **more_environment})
            seen = _gated(environment, _attached(command, attachment), seat, notes, watcher, seconds)
            return replace(seen.outcome, wall_ms=seen.own_ms)


def benchmark(
    environment: NodeEnvironment, subject: Subject, product: bytes, timer: Timer, seat: Seat, watcher: Watcher
) -> BenchmarkRun:
    """Run one process of the benchmark on a seat that the caller holds. Raises as `test`."""
    return _Benchmark(environment, subject, timer, seat, watcher).run(product)


class _Unwatched(nullcontext[None]):
    record: DeviceRecord | None = None

    def narrow(self, windows: Sequence[Window]) -> None:
        """Nothing is seen, whenever that is."""


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
        with _laid_out(environment, subject, product) as workspace, _notes(environment) as notes:
            attachment = self.timer.attach(subject.problem.benchmark_command or "", notes)
            command = _command(subject, attachment.shell, self.limit_seconds, workspace, self.seat)
            command = _attached(replace(command, cancelled=self.watcher.cancelled), attachment)
            seen = self._gated(command, notes) if self.seat.porter else self._alone(command)
            reading = self._reading(notes, seen.outcome)
            gated = self.seat.porter is not None
            held_long = seen.held_ms >= HUNG_SHARE * self.limit_seconds * 1e3
            hung = seen.outcome.timed_out and (held_long or not gated)
            return BenchmarkRun(replace(seen.outcome, wall_ms=seen.own_ms), reading, seen.device, gated, hung)

    def _alone(self, command: Command) -> _Seen:
        watch = self._watch(among_others=False)
        with watch:
            outcome = uncancelled(self.environment, command)
        return _Seen(outcome, watch.record, 0.0)

    def _gated(self, command: Command, notes: Path) -> _Seen:
        watch = self._watch(among_others=True)
        seen = _gated(self.environment, command, self.seat, notes, self.watcher, self.limit_seconds, watch)
        return replace(seen, device=_blurred(seen.device))

    def _watch(self, *, among_others: bool) -> Watched:
        gpus, uuid = self.environment.gpus, self.seat.gpu_uuid
        return gpus.watch(uuid, among_others=among_others) if gpus and uuid else _Unwatched()

    def _reading(self, notes: Path, outcome: Outcome) -> Reading:
        if not outcome.succeeded:
            by_timer = self.timer.own_failure(notes, outcome)
            return Reading(None, by_timer or benchmark_failure(outcome, self.limit_seconds), by_timer=bool(by_timer))
        return self.timer.read(self.subject.problem, notes, outcome)


def _gated(
    environment: NodeEnvironment,
    command: Command,
    seat: Seat,
    notes: Path,
    watcher: Watcher,
    limit_seconds: float,
    watch: Watched | None = None,
) -> _Seen:
    """Run a command that waits for its device at the gate. Raises Cancelled and SandboxFault."""
    assert seat.porter
    gate = Gate(notes, seat.porter, seat.alone, watch or _Unwatched(), limit_seconds, seat.long_benchmark, seat.seconds)
    patient = replace(
        command,
        environment={**command.environment, GATE: str(gate.path)},
        limits=replace(command.limits, wall_seconds=limit_seconds + WAITING_SECONDS),
        cancelled=Either(watcher.cancelled, gate.cancelled),
    )
    with gate.attended():
        outcome = run(environment, patient)
    if gate.timed_out and not watcher.cancelled.is_set():
        outcome = replace(outcome, cancelled=False, timed_out=True)
    if outcome.cancelled:
        raise Cancelled
    return _Seen(outcome, gate.record, gate.waited_seconds * 1e3, gate.windows_seconds * 1e3)


def _blurred(record: DeviceRecord | None) -> DeviceRecord | None:
    """The device is also busy with the starts of others, for all that the driver's count can tell."""
    if record is None:
        return None
    return replace(record, busy_resolution_ms=record.busy_resolution_ms + OTHERS_BUSY_MS)


@contextmanager
def _notes(environment: NodeEnvironment) -> Iterator[Path]:
    """A folder for one run's profiler and gate: outside the workspace, so that no solution brings its own."""
    with environment.workspaces.open({}) as notes:
        notes.chmod(0o777)  # the slot's user, whoever that is, writes here
        yield notes


def _attached(command: Command, attachment: Attachment) -> Command:
    return replace(
        command,
        shell=attachment.shell,
        environment={**command.environment, **attachment.environment},
        mounts=attachment.mounts,
    )


@contextmanager
def _laid_out(environment: NodeEnvironment, subject: Subject, product: bytes) -> Iterator[Path]:
    """A workspace of the inputs that runs may see, and the product over them."""
    with environment.workspaces.open(subject.run_inputs) as workspace:
        artefact.restore(product, workspace, subject.test_paths)
        yield workspace


def _command(subject: Subject, shell: str, seconds: float, workspace: Path, seat: Seat) -> Command:
    return Command(
        shell=shell,
        workspace=workspace,
        limits=limits_for(subject.limits, seconds),
        environment={SOLUTION_FILES: paths(subject)},
        image=subject.image,
        gpu_uuids=seat.gpu_uuids,
        trace=True,
        harness=subject.problem.podium.harness,
        slot=seat.slot,
    )
