"""The timing mode `custom`: the benchmark prints its own time. Taken as ComputeEval does; such a time never ranks."""

import math
from pathlib import Path

from problems.formats.compute_eval.timing import extract_custom_time_ms
from problems.spec.command.problem import CommandProblem
from runners.agent.profilers.base import Attachment, Reading
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import Clock


class PrintedTime:
    """The last `COMPUTE_EVAL_TIME_MS:` line of the output."""

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
        """See `Timer.own_failure`: nothing of it runs besides the benchmark."""
        return ""


def _finite(time_ms: float | None) -> float | None:
    """Raises ValueError for what is too large to be a number: a contestant may print any."""
    if time_ms is not None and not math.isfinite(time_ms):
        raise ValueError(f"{time_ms} is no time")
    return time_ms
