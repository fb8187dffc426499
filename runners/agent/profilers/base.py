"""What every way of timing a benchmark offers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from problems.formats.compute_eval.timing import PerformanceMetrics
from problems.spec.problem import CommandProblem
from runners.agent.sandbox.policy import Outcome
from runners.protocol import Clock


@dataclass(frozen=True)
class Reading:
    """The time of one process in milliseconds, or why there is none."""

    time_ms: float | None
    error: str | None = None
    metrics: PerformanceMetrics | None = None


class Timer(Protocol):
    """Times one process of a benchmark."""

    clock: Clock

    def command(self, shell: str) -> str:
        """The command to run in the benchmark's stead."""
        ...

    def read(self, problem: CommandProblem, workspace: Path, outcome: Outcome) -> Reading:
        """Take the time from a command that ended well and from what it left in its workspace."""
        ...
