"""What confines a command, said once for every backend: policy in, outcome out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Protocol

from runners.protocol import Witness


@dataclass(frozen=True)
class Limits:
    """Bounds on one command and everything it starts."""

    wall_seconds: float
    memory_bytes: int
    processes: int
    file_bytes: int
    workspace_bytes: int
    output_bytes: int


@dataclass(frozen=True)
class Mount:
    """A host path shown inside the sandbox, read-only unless said otherwise. Its modes must let a stranger in."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Command:
    """A shell command to run in `workspace`, which stands at `/workspace` inside docker and bubblewrap.

    `image` matters to docker alone; `gpu_uuids` names the devices let in. `trace` asks the supervisor to witness
    how the command's programs end (builds are not traced). `harness` is `separate` where the solution's code never
    shares a process with the harness: only then can the end of a Python script be seen rather than believed.
    `niceness` lets other commands have the cores first.
    """

    shell: str
    workspace: Path
    limits: Limits
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    image: str = ""
    gpu_uuids: tuple[str, ...] = ()
    trace: bool = False
    harness: str = "in_process"
    niceness: int = 0
    slot: int = 0
    cancelled: Event = field(default_factory=Event)
    on_output: Callable[[bytes], None] | None = None


@dataclass(frozen=True)
class Outcome:
    """How a command ended. `wall_ms` runs from its exec to its end, without the sandbox's own start."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    memory_exceeded: bool
    cancelled: bool
    stdout: str
    stderr: str
    truncated: bool
    wall_ms: float
    cpu_ms: float
    peak_memory_bytes: int
    witness: Witness
    witness_detail: str = ""

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0 and not (self.timed_out or self.memory_exceeded or self.cancelled)


class SandboxUnavailable(Exception):
    """This machine cannot run the sandbox; the message says why and how to mend it."""


class SandboxFault(Exception):
    """The sandbox itself failed: a platform error, never the contestant's."""


class Sandbox(Protocol):
    """One backend. `run` may be called from several threads at once, each with its own `slot`."""

    name: str
    memory_limit_by: str
    memory_limit_why: str
    """What keeps this machine from a better bound; empty where there is none."""

    def run(self, command: Command) -> Outcome:
        """Run to the end or to a limit; afterwards no process of the command is left. Raises SandboxFault."""
        ...

    def why_no_gpus(self, uuids: tuple[str, ...]) -> str:
        """Words on why commands cannot be given these GPUs, and on how to mend it; empty where they can."""
        ...

    def close(self) -> None: ...
