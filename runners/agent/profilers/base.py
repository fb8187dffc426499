"""The interface of all timers of benchmarks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.command.problem import CommandProblem
from runners.agent.profilers.facts import ProfileFacts, Traffic
from runners.agent.sandbox.policy import Mount, Outcome
from runners.wire.protocol import Clock


@dataclass(frozen=True)
class Attachment:
    """A timer's additions to a benchmark's command."""

    shell: str
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    """Each has the same path inside and outside, because not every sandbox can mount a file at another path."""


@dataclass(frozen=True)
class Reading:
    """The time of one process in milliseconds, or the reason why there is none."""

    time_ms: float | None
    error: str | None = None
    metrics: PerformanceMetrics | None = None
    facts: ProfileFacts | None = None
    """Input of the outside bounds; None if the timer makes no such observations."""
    report: bytes | None = None
    """The profiler's own report file (`.ncu-rep`)."""
    by_timer: bool = False
    """Whether there is no time because the timer itself failed."""
    traffic: Traffic | None = None
    """Set by a timer that reads the hardware's counters."""
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
        """Return the command that runs instead of `shell`, the benchmark's own command.

        `notes` is an empty folder for this run. Every user may write to it.
        """
        ...

    def read(self, problem: CommandProblem, notes: Path, outcome: Outcome) -> Reading:
        """Read the time from a successful command and from the files in `notes`."""
        ...

    def own_failure(self, notes: Path, outcome: Outcome) -> str:
        """How the timer itself failed, with a remedy; "" if it did not fail."""
        ...
