"""The resources that a machine gives the judges, such as sandbox, workspaces and caches; and commands in them."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from runners.agent.devices.gpus import Gpus
from runners.agent.devices.lanes import Lanes
from runners.agent.ground.errors import Cancelled, SandboxFault
from runners.agent.ground.events import CommandRan, Progress
from runners.agent.job import toolchain
from runners.agent.job.build_cache import BuildCache, BuildsElsewhere
from runners.agent.job.object_cache import ObjectCaches
from runners.agent.job.space import Space
from runners.agent.job.workspace import Workspaces
from runners.agent.sandbox.policy import Command, Limits, Outcome, Sandbox
from runners.wire.protocol import Capabilities, Peaks, ResourceLimits


def unmeasured(_uuid: str) -> Peaks:
    return Peaks()


@dataclass(frozen=True)
class NodeEnvironment:
    """Shared by all threads of one process. Call `close` at the end."""

    name: str
    sandbox: Sandbox
    workspaces: Workspaces
    space: Space
    lanes: Lanes
    builds: BuildCache
    capabilities: Capabilities
    tools: str = field(default_factory=toolchain.identity)
    architecture: str = field(default_factory=toolchain.architecture)
    objects: ObjectCaches | None = None
    gpus: Gpus | None = None
    """The NVIDIA devices, if any."""
    gate_library: Path | None = None
    """Library that lets tests wait at the gate. Without it a test holds its device from its start."""
    peaks: Callable[[str], Peaks] = unmeasured
    """A device's peaks by its UUID; empty if they were not measured."""
    elsewhere: BuildsElsewhere | None = None
    """Other nodes' builds of problems' own code; None without a site."""
    closing: ExitStack = field(default_factory=ExitStack)
    """Closes the judges' resources before the sandbox."""

    @classmethod
    def open(
        cls,
        name: str,
        var_dir: Path,
        sandbox: Sandbox,
        lanes: Lanes,
        capabilities: Capabilities,
        gpus: Gpus | None = None,
        peaks: Callable[[str], Peaks] = unmeasured,
        gate_library: Path | None = None,
        elsewhere: BuildsElsewhere | None = None,
    ) -> "NodeEnvironment":
        """Open the environment with all its files under `var_dir`. Removes leftovers of dead processes there."""
        workspaces = Workspaces(var_dir / "work")
        # Only without a sandbox do commands write to the machine's own temporary folder.
        written = [var_dir, Path(tempfile.gettempdir())] if sandbox.name == "unconfined" else [var_dir]
        # Without a sandbox every build could write to the shared cache, and sources have different paths in each build.
        objects = None if sandbox.name == "unconfined" else ObjectCaches(var_dir / "objects")
        builds = BuildCache(var_dir / "builds")
        return cls(
            name,
            sandbox,
            workspaces,
            Space(written, builds.give_way),
            lanes,
            builds,
            capabilities,
            objects=objects,
            gpus=gpus,
            gate_library=gate_library,
            peaks=peaks,
            elsewhere=elsewhere,
        )

    def image_for(self, wanted: str) -> str:
        """The image of commands, by digest or id: Docker's default image if `wanted` is empty, "" without Docker.

        Raises SandboxFault if an image is wanted and the sandbox has no images.
        """
        own: str | None = getattr(self.sandbox, "image", None)
        if wanted and own is None:
            raise SandboxFault(f"the work asks for image {wanted}, but this node's sandbox is {self.sandbox.name}")
        return wanted or own or ""

    def close(self) -> None:
        self.closing.close()
        self.sandbox.close()
        self.workspaces.close()


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
