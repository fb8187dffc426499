"""Makes the commands of tests and benchmarks, and lays out their workspaces."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runners.agent.devices.lanes import Seat
from runners.agent.ground.events import Progress
from runners.agent.job import artefact
from runners.agent.job.building import BuildOrder
from runners.agent.job.commands import SOLUTION_FILES, limits_for
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.command.subject import Subject
from runners.agent.sandbox.policy import Command


def build_order(subject: Subject) -> BuildOrder:
    """The build of a subject. Its problem must have a build command."""
    shell = subject.problem.build_command
    assert shell
    return BuildOrder(
        shell=shell,
        inputs=subject.inputs,
        solution_paths=solution_paths(subject),
        seconds=subject.limits.build_seconds or subject.problem.effective_build_timeout_seconds,
        task_id=subject.problem.task_id,
        problem_sha256=subject.problem_sha256,
        limits=subject.limits,
        policy=subject.build_policy,
        image=subject.image,
        trusted=subject.trusted,
        is_rerun=subject.is_rerun,
    )


def solution_paths(subject: Subject) -> tuple[str, ...]:
    return tuple(file.path for file in subject.files)


def run_command(
    subject: Subject, shell: str, wall_seconds: float, workspace: Path, seat: Seat, progress: Progress
) -> Command:
    """The command of a test or benchmark: witnessed, on the seat's slot and GPU."""
    return Command(
        shell=shell,
        workspace=workspace,
        limits=limits_for(subject.limits, wall_seconds),
        environment={SOLUTION_FILES: ":".join(solution_paths(subject))},
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
