"""The timers that need no profiler: the supervisor's clock around the whole command, and a time that is printed."""

import math
from pathlib import Path

from problems.formats.compute_eval.timing import extract_custom_time_ms
from problems.spec.command.problem import CommandProblem
from runners.agent.profilers.base import Attachment, Reading
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import Clock


class ProcessTime:
    """Reads the command's wall time, from exec to its end."""

    clock = Clock.OUTSIDE
    name = "process"
    waits_at_gate = False
    patience = 1.0
    for_graphs = None

    def attach(self, shell: str, notes: Path) -> Attachment:  # noqa: ARG002
        return Attachment(shell)

    def read(self, problem: CommandProblem, notes: Path, outcome: Outcome) -> Reading:  # noqa: ARG002
        return Reading(outcome.wall_ms)

    def own_failure(self, notes: Path, outcome: Outcome) -> str:  # noqa: ARG002
        """Always "", because this timer runs no program of its own."""
        return ""


class PrintedTime:
    """Reads the time from the last line `COMPUTE_EVAL_TIME_MS: <ms>` of stdout and stderr."""

    clock = Clock.SELF
    name = "printed"
    waits_at_gate = False
    patience = 1.0
    for_graphs = None

    def attach(self, shell: str, notes: Path) -> Attachment:  # noqa: ARG002
        return Attachment(shell)

    def read(self, problem: CommandProblem, notes: Path, outcome: Outcome) -> Reading:  # noqa: ARG002
        output = f"{outcome.stdout}\n{outcome.stderr}"
        try:
            return Reading(_finite(extract_custom_time_ms(output)))
        except ValueError as error:
            return Reading(None, f"Failed to extract timing from benchmark output: {error}\nOutput: {output}")

    def own_failure(self, notes: Path, outcome: Outcome) -> str:  # noqa: ARG002
        """Always "", because this timer runs no program of its own."""
        return ""


def _finite(time_ms: float | None) -> float | None:
    """Raise ValueError for infinity. A contestant may print a number beyond the range of a float."""
    if time_ms is not None and not math.isfinite(time_ms):
        raise ValueError(f"{time_ms} is not a finite number")
    return time_ms
