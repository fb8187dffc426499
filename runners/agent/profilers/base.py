"""The interface of all timers of benchmarks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.command.problem import CommandProblem
from runners.agent.profilers.facts import ProfileFacts
from runners.agent.sandbox.policy import Mount, Outcome
from runners.wire.protocol import Clock


@dataclass(frozen=True)
class Attachment:
    """A timer's additions to a benchmark's command."""

    shell: str
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    """Shown where they stand on the host: not every sandbox can show a file elsewhere."""


@dataclass(frozen=True)
class Reading:
    """The time of one process in milliseconds, or the reason why there is none."""

    time_ms: float | None
    error: str | None = None
    metrics: PerformanceMetrics | None = None
    facts: ProfileFacts | None = None
    """The input of the outside bounds; None if the timer does not observe it."""
    report: bytes | None = None
    """The profiler's own report, for people to open."""
    by_timer: bool = False
    """Whether there is no time because the timer itself failed."""
    lacks_graphs: bool = False
    """Whether the benchmark ran CUDA graphs whose kernels this timer cannot time one by one; `Timer.for_graphs` can."""


class Timer(Protocol):
    """Times one process of a benchmark."""

    clock: Clock
    name: str
    """Name and version, for provenance."""
    waits_at_gate: bool
    """Whether the benchmark waits for the device at the gate. Then it may start while others use the device."""
    patience: float
    """Factor on the problem's own time limit under this timer."""

    @property
    def for_graphs(self) -> "Timer | None":
        """The timer to use instead for benchmarks with CUDA graphs; None if this one can time them."""
        ...

    def attach(self, shell: str, notes: Path) -> Attachment:
        """The command to run instead of the benchmark. `notes` is an empty folder of this run, writable by all."""
        ...

    def read(self, problem: CommandProblem, notes: Path, outcome: Outcome) -> Reading:
        """Read the time from a successful command and from the files in `notes`."""
        ...

    def own_failure(self, notes: Path, outcome: Outcome) -> str:
        """How the timer itself failed, and the remedy; empty if it did not fail."""
        ...
