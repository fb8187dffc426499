"""What every way of timing a benchmark offers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.problem import CommandProblem
from runners.agent.profilers.facts import ProfileFacts
from runners.agent.sandbox.policy import Mount, Outcome
from runners.protocol import Clock


@dataclass(frozen=True)
class Attachment:
    """What a timer adds to a benchmark's command."""

    shell: str
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    """Shown where they stand on the host: not every sandbox can show a file elsewhere."""


@dataclass(frozen=True)
class Reading:
    """The time of one process in milliseconds, or why there is none."""

    time_ms: float | None
    error: str | None = None
    metrics: PerformanceMetrics | None = None
    facts: ProfileFacts | None = None
    """What the outside bounds are held against; None where the timer cannot know."""
    report: bytes | None = None
    """The profiler's own report, for people to open."""
    by_timer: bool = False
    """Whether there is no time because the timer itself failed, whatever became of the command."""
    lacks_graphs: bool = False
    """Whether the benchmark ran CUDA graphs whose kernels this timer cannot time one by one; `Timer.for_graphs` can."""


class Timer(Protocol):
    """Times one process of a benchmark."""

    clock: Clock
    name: str
    """Name and version, for provenance."""
    waits_at_gate: bool
    """Whether the benchmark waits for the device by itself: then it may start while others use it."""
    patience: float
    """How many times the problem's own limit the benchmark may take under this timer."""

    @property
    def for_graphs(self) -> "Timer | None":
        """What times benchmarks with CUDA graphs in this timer's stead; None where it does so itself."""
        ...

    def attach(self, shell: str, notes: Path) -> Attachment:
        """What to run in the benchmark's stead. `notes` is an empty folder, writable by all, of this run alone."""
        ...

    def read(self, problem: CommandProblem, notes: Path, outcome: Outcome) -> Reading:
        """Take the time from a command that ended well and from what was left in `notes`."""
        ...

    def own_failure(self, notes: Path, outcome: Outcome) -> str:
        """Words on how the timer itself failed and how to mend it; empty where it did not."""
        ...
