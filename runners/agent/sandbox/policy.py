"""The policy that all backends enforce on a command, and the outcome that they return."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from threading import Event, Thread
from typing import Literal, Protocol, Self

from runners.wire.protocol import Witness

PATIENCE = 4
"""A command with a limit on processor time ends after this multiple of its wall time, however little it was given."""
User = Literal["contestant", "checker"]
"""The two users of a slot: a contestant's program must not reach the checker that judges it."""


@dataclass(frozen=True)
class Limits:
    """Bounds on one command and everything it starts."""

    wall_seconds: float
    memory_bytes: int
    processes: int
    file_bytes: int
    workspace_bytes: int
    output_bytes: int
    processor_seconds: float | None = None
    """If set, a command past `wall_seconds` goes on until its processes have used this much processor time in all, at
    most for `longest_seconds`. Load by other commands therefore does not end it."""

    @property
    def longest_seconds(self) -> float:
        """Wall time after which the command ends in any case."""
        return self.wall_seconds if self.processor_seconds is None else PATIENCE * self.wall_seconds


@dataclass(frozen=True)
class Mount:
    """A host path shown inside the sandbox, read-only by default. Its modes must give every user access."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class SourceFacts:
    """Facts by which the witness tells the harness's code in a compiled program from the solution's."""

    harness_files: tuple[str, ...] = ()
    """Names of the harness's sources, without folder and suffix."""
    solution_files: tuple[str, ...] = ()
    """Likewise of the solution's sources. A program that is built from these and from no source of the harness is not
    the harness. Empty if such a program may still hold the harness."""
    harness_functions: tuple[str, ...] = ("main",)
    """Functions that only the harness can have defined. `main` stands for the parts into which a compiler splits it."""
    is_mixed: bool = False
    """Whether the harness's functions may hold calls of the solution's that end the program. No call then ends the
    harness: its `main` must return."""


@dataclass(frozen=True)
class Command:
    """A shell command to run in `workspace`, which stands at `/workspace` inside docker and bubblewrap.

    `image` matters to docker alone; `gpu_uuids` names the devices let in. `trace` asks the supervisor to witness
    how the command's programs end (builds are not traced). `harness` is `separate` where the solution's code never
    shares a process with the harness: only then can the end of a Python script be seen rather than believed.
    `niceness` lets other commands have the cores first. An agent that runs as root runs the command as the `user` of
    its `slot`.
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
    sources: SourceFacts = field(default_factory=SourceFacts)
    niceness: int = 0
    slot: int = 0
    user: User = "contestant"
    cancelled: Event = field(default_factory=Event)
    on_output: Callable[[bytes], None] | None = None
    on_started: Callable[[int], None] | None = None
    """Called with the id of the sandbox's first process on this machine, from which all of the command descend."""


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
    stalled_ms: float = 0.0
    """Time for which the sandbox stood still while the command ran, as in a paused container."""
    lost_ms: float = 0.0
    """Wall time that a traced command lost because its threads were ready to run and had no core; of a command with a
    brake, from its timed starts to the stops that followed."""
    timed_ms: float = 0.0
    """Wall time of these goes; 0 without a brake."""
    others_ms: float = 0.0
    """Processor time of everything else on this machine while the command ran."""
    steal_ms: float = 0.0
    """Time for which the hypervisor gave this machine's cores to others while the command ran."""
    complaint: str = ""
    """The reason why a command that ended with status 0 failed nevertheless; empty if nothing else was asked of it."""
    workspace_excess: str = ""
    """The bound of its workspace that it exceeded and was killed for, as `128 MiB`; empty if it kept to it."""

    @property
    def succeeded(self) -> bool:
        was_ended = self.timed_out or self.memory_exceeded or self.cancelled
        return self.exit_code == 0 and not was_ended and not self.complaint


class Running:
    """A started command. Its limits hold until it ends. Leaving the `with` block ends it and waits for that.

    A thread of its own starts the command and attends it, because the kernel kills a sandbox together with the thread
    that started it. If this process dies, the command is killed.
    """

    def __init__(self, attend: Callable[[Event], Outcome], *sockets: socket | None) -> None:
        """`attend` starts the command. It returns when the command has ended; it ends it if the event is set."""
        self._sockets = [one for one in sockets if one is not None]
        self._stopped = Event()
        self._outcome: Future[Outcome] = Future()
        Thread(target=self._attend, args=(attend,), name="sandbox", daemon=True).start()

    def _attend(self, attend: Callable[[Event], Outcome]) -> None:
        try:
            self._outcome.set_result(attend(self._stopped))
        except BaseException as error:  # noqa: BLE001 - `wait` raises it
            self._outcome.set_exception(error)
        finally:
            for one in self._sockets:  # still open if the sandbox did not come up
                one.close()

    def stop(self) -> None:
        """Have all processes of the command killed. Returns at once; the outcome will be `cancelled`."""
        self._stopped.set()

    @property
    def has_ended(self) -> bool:
        """Whether no process of the command is left."""
        return self._outcome.done()

    def wait(self) -> Outcome:
        """Wait until no process of the command is left.

        Raises SandboxFault if the sandbox itself failed, or was killed or stopped from outside.
        """
        return self._outcome.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._outcome.exception()


class Sandbox(Protocol):
    """One backend. Commands may run side by side, each with a `slot` and `user` that no other has."""

    name: str
    memory_limit_by: str
    memory_limit_why: str
    """The reason why this machine has no better bound; empty if it has the best one."""

    def start(self, command: Command, channel: socket | None = None, brake: socket | None = None) -> Running:
        """Start the command and return at once. `Running.wait` raises SandboxFault if the sandbox does not come up.

        The command inherits `channel`, one end of a connected unix socket, as the descriptor that its environment
        names in PODIUM_CHANNEL_FD. A timeout set on the socket here would make it non-blocking for the command too.
        Over `brake` the holder of the other end stops and continues the command (sandbox/native/brake.h); the
        supervisor alone has it, and it needs a channel beside it. The sandbox closes both on this side, so that the
        other ends see when the command has ended.
        """
        ...

    def run(self, command: Command) -> Outcome:
        """Run to the end or to a limit; afterwards no process of the command is left. Raises SandboxFault."""
        with self.start(command) as running:
            return running.wait()

    def why_no_gpus(self, uuids: tuple[str, ...]) -> str:
        """The reason why commands cannot use these GPUs, and the remedy; empty if they can."""
        ...

    def close(self) -> None: ...
