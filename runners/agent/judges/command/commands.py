"""Makes commands from subjects and runs them in the sandbox, for builds, tests and benchmarks."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runners.agent.devices.lanes import Seat
from runners.agent.ground.errors import Cancelled
from runners.agent.ground.events import CommandRan, Progress
from runners.agent.job import artefact
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.command.subject import Subject
from runners.agent.sandbox.policy import Command, Limits, Outcome
from runners.wire.protocol import ResourceLimits

SOLUTION_FILES = "PODIUM_SOLUTION_FILES"
"""Variable that lists the contestant's files for the Python launcher and the nvcc shim, separated by colons."""


def limits_for(limits: ResourceLimits, wall_seconds: float) -> Limits:
    return Limits(
        wall_seconds=wall_seconds,
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        file_bytes=limits.file_bytes,
        workspace_bytes=limits.workspace_bytes,
        output_bytes=limits.output_bytes,
    )


def solution_paths(subject: Subject) -> str:
    return ":".join(file.path for file in subject.files)


def run_command(
    subject: Subject, shell: str, wall_seconds: float, workspace: Path, seat: Seat, progress: Progress
) -> Command:
    """The command of a test or benchmark: witnessed, on the seat's slot and GPU."""
    return Command(
        shell=shell,
        workspace=workspace,
        limits=limits_for(subject.limits, wall_seconds),
        environment={SOLUTION_FILES: solution_paths(subject)},
        image=subject.image,
        gpu_uuids=seat.gpu_uuids,
        trace=True,
        harness=subject.problem.podium.harness,
        sources=subject.sources,
        slot=seat.slot,
        cancelled=progress.cancelled,
    )


@contextmanager
def laid_out(environment: NodeEnvironment, subject: Subject, product: bytes) -> Iterator[Path]:
    """A workspace with the inputs that runs may see. The build's product is laid over them."""
    with environment.workspaces.open(subject.run_inputs) as workspace:
        artefact.restore(product, workspace, subject.test_paths)
        yield workspace


def run(environment: NodeEnvironment, command: Command) -> Outcome:
    """Run a command to its end. Raises Cancelled if it is stopped, SandboxFault, and DiskFull as `SpaceWatch.check`."""
    if command.cancelled.is_set():
        raise Cancelled
    with environment.space.watched() as space:
        outcome = environment.sandbox.run(command)
    if outcome.cancelled:
        raise Cancelled
    space.check(command, outcome)
    return outcome


@contextmanager
def told(progress: Progress, step: str, subject: Subject) -> Iterator[None]:
    """Send `CommandRan` after the block, also if the block raises."""
    began_ns = time.monotonic_ns()
    try:
        yield
    finally:
        task_id, ended_ns = subject.problem.task_id, time.monotonic_ns()
        progress.tell(CommandRan(step, task_id, subject.trusted, began_ns, ended_ns))
