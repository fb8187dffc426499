"""Runs a problem's commands: every one in its own sandbox and in a fresh workspace."""

from dataclasses import dataclass
from pathlib import Path

from problems.spec.problem import CommandProblem
from runners.agent import artefact
from runners.agent.artefact import EMPTY, ProductTooLarge
from runners.agent.build_cache import Build, build_key
from runners.agent.environment import NodeEnvironment
from runners.agent.errors import Cancelled
from runners.agent.profilers import Reading, Timer
from runners.agent.sandbox.policy import Command, Limits, Outcome
from runners.agent.slots import Seat
from runners.agent.task import Subject, Watcher
from runners.agent.texts import benchmark_failure
from runners.agent.toolchain import cores
from runners.protocol import MAX_BLOB_BYTES, ResourceLimits

SOLUTION_FILES = "PODIUM_SOLUTION_FILES"
"""Tells the Python launcher and the nvcc shim which files are the contestant's, separated by colons."""
OBJECT_CACHE = "PODIUM_OBJECT_CACHE"
"""Tells the nvcc shim where ccache's folder stands; see sandbox/native/object_cache.h."""
BUILD_JOBS = "PODIUM_NVCC_JOBS"
"""Tells the nvcc shim how many sources it may compile at a time."""


@dataclass(frozen=True)
class BenchmarkRun:
    """One process of a benchmark: how it ended and its time, or why it has none."""

    outcome: Outcome
    reading: Reading


def build_seconds(subject: Subject) -> float:
    return subject.limits.build_seconds or subject.problem.effective_build_timeout_seconds


def build(environment: NodeEnvironment, subject: Subject, watcher: Watcher) -> Build:
    """Build, or find it built. Needs a build command. Raises Cancelled, SandboxFault, UnusableProblem."""
    shell = subject.problem.build_command
    assert shell
    told = subject.build_policy.environment
    key = build_key(_toolchain(environment, subject), shell, told, subject.inputs, environment.architecture)
    bounds = f"{build_seconds(subject)} {subject.limits.model_dump_json()}"
    with environment.builds.building(key):
        kept = environment.builds.get(key, bounds)
        if kept is not None:
            return kept
        made = _make(environment, subject, watcher, key, bounds)
        environment.builds.put(made)
        return made


def _toolchain(environment: NodeEnvironment, subject: Subject) -> str:
    return f"image {subject.image}" if subject.image else environment.tools


def _make(environment: NodeEnvironment, subject: Subject, watcher: Watcher, key: str, bounds: str) -> Build:
    with environment.lanes.build() as seat, environment.workspaces.open(subject.inputs) as workspace:
        outcome = _run(environment, _build_command(environment, subject, watcher, seat, workspace))
        try:
            limit_bytes = min(MAX_BLOB_BYTES, subject.limits.workspace_bytes)
            product = artefact.collect(workspace, subject.inputs, limit_bytes) if outcome.succeeded else EMPTY
        except ProductTooLarge as error:
            return _build_of(outcome, key, bounds, EMPTY, complaint=str(error))
    return _build_of(outcome, key, bounds, product)


def _build_command(
    environment: NodeEnvironment, subject: Subject, watcher: Watcher, seat: Seat, workspace: Path
) -> Command:
    objects = environment.objects.mount(subject, _toolchain(environment, subject)) if environment.objects else None
    return Command(
        shell=subject.problem.build_command or "",
        workspace=workspace,
        limits=_limits(subject.limits, build_seconds(subject)),
        environment={
            **subject.build_policy.environment,
            SOLUTION_FILES: _paths(subject),
            BUILD_JOBS: str(max(2, cores() // environment.lanes.build_slots)),
            **({OBJECT_CACHE: objects.target} if objects else {}),
        },
        mounts=(objects,) if objects else (),
        image=subject.image,
        slot=seat.slot,
        cancelled=watcher.cancelled,
        on_output=watcher.output,
    )


def _build_of(outcome: Outcome, key: str, bounds: str, product: bytes, complaint: str = "") -> Build:
    return Build(
        key=key,
        exit_code=1 if complaint else outcome.exit_code,
        signal=outcome.signal,
        timed_out=outcome.timed_out,
        memory_exceeded=outcome.memory_exceeded,
        stdout=outcome.stdout,
        stderr=f"{outcome.stderr}\n{complaint}\n" if complaint else outcome.stderr,
        truncated=outcome.truncated,
        wall_ms=outcome.wall_ms,
        cpu_ms=outcome.cpu_ms,
        peak_memory_bytes=outcome.peak_memory_bytes,
        limits=bounds,
        product=product,
    )


def test(environment: NodeEnvironment, subject: Subject, product: bytes, watcher: Watcher) -> Outcome:
    """Run the test command on a build's product. Raises Cancelled, SandboxFault, UnusableProblem."""
    problem = subject.problem
    with environment.lanes.test() as seat:
        run = _FreshRun(environment, subject, product, seat, watcher)
        return run(problem.test_command, problem.effective_test_timeout_seconds)


def benchmark(
    environment: NodeEnvironment, subject: Subject, product: bytes, timer: Timer, seat: Seat, watcher: Watcher
) -> BenchmarkRun:
    """Run one process of the benchmark on a seat that the caller holds alone. Raises as `test`."""
    problem, seconds = subject.problem, subject.problem.effective_benchmark_timeout_seconds
    run = _FreshRun(environment, subject, product, seat, watcher, timer=timer)
    outcome = run(timer.command(problem.benchmark_command or ""), seconds)
    if not outcome.succeeded:
        return BenchmarkRun(outcome, Reading(None, benchmark_failure(outcome, seconds)))
    assert run.reading is not None
    return BenchmarkRun(outcome, run.reading)


@dataclass
class _FreshRun:
    """One traced command in a workspace of its own: the inputs that runs may see, and the product over them."""

    environment: NodeEnvironment
    subject: Subject
    product: bytes
    seat: Seat
    watcher: Watcher
    timer: Timer | None = None
    reading: Reading | None = None

    def __call__(self, shell: str, seconds: float) -> Outcome:
        subject = self.subject
        with self.environment.workspaces.open(subject.run_inputs) as workspace:
            artefact.restore(self.product, workspace, subject.test_paths)
            command = Command(
                shell=shell,
                workspace=workspace,
                limits=_limits(subject.limits, seconds),
                environment={SOLUTION_FILES: _paths(subject)},
                image=subject.image,
                gpu_uuids=self.seat.gpu_uuids,
                trace=True,
                harness=_harness(subject.problem),
                slot=self.seat.slot,
                cancelled=self.watcher.cancelled,
            )
            outcome = _run(self.environment, command)
            if self.timer is not None and outcome.succeeded:
                self.reading = self.timer.read(subject.problem, workspace, outcome)
            return outcome


def _paths(subject: Subject) -> str:
    return ":".join(file.path for file in subject.files)


def _harness(problem: CommandProblem) -> str:
    return problem.podium.harness


def _run(environment: NodeEnvironment, command: Command) -> Outcome:
    if command.cancelled.is_set():
        raise Cancelled
    outcome = environment.sandbox.run(command)
    if outcome.cancelled:
        raise Cancelled
    return outcome


def _limits(limits: ResourceLimits, wall_seconds: float) -> Limits:
    return Limits(
        wall_seconds=wall_seconds,
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        file_bytes=limits.file_bytes,
        workspace_bytes=limits.workspace_bytes,
        output_bytes=limits.output_bytes,
    )
