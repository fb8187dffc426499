"""Runs commands in the sandbox, and tells when they ended."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from runners.agent.ground.errors import Cancelled
from runners.agent.ground.events import CommandRan, Progress
from runners.agent.job.environment import NodeEnvironment
from runners.agent.sandbox.policy import Command, Limits, Outcome
from runners.wire.protocol import ResourceLimits

SOLUTION_FILES = "PODIUM_SOLUTION_FILES"
"""Variable that lists the contestant's files for the Python launcher and the nvcc shim, separated by colons."""

MOST_PROCESSES = 4_000_000
"""Linux refuses a larger bound in a control group; it has no more process ids than 2^22."""


def limits_for(limits: ResourceLimits, wall_seconds: float) -> Limits:
    return Limits(
        wall_seconds=wall_seconds,
        memory_bytes=limits.memory_bytes,
        processes=min(limits.processes, MOST_PROCESSES),
        file_bytes=limits.file_bytes,
        workspace_bytes=limits.workspace_bytes,
        output_bytes=limits.output_bytes,
    )


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
def told(progress: Progress, step: str, task_id: str, *, is_reference: bool) -> Iterator[None]:
    """Send `CommandRan` after the block, also if the block raises."""
    began_ns = time.monotonic_ns()
    try:
        yield
    finally:
        progress.tell(CommandRan(step, task_id, is_reference, began_ns, time.monotonic_ns()))
