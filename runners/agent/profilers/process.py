"""The timing mode `process`: the supervisor's clock around the whole command, out of the contestant's reach."""

from pathlib import Path

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
