"""Asks a problem's checker which wrong answers its check accepts. No contestant takes part."""

from collections.abc import Sequence

from problems.spec.mutants import ACCEPTED, ADMITS, DIFFERING, NONE
from runners.agent.ground.errors import SandboxFault
from runners.agent.ground.events import Progress
from runners.agent.judges.function.checkers import SILENCE_SECONDS, Checker
from runners.agent.judges.function.inside.orders import AcceptedMutants, TryMutants
from runners.wire.protocol import Audience, CaseField, CaseReport

MOST_WORDS = 1000
"""Characters of a field of a case (`CaseField.value`)."""


def with_mutants(reports: Sequence[CaseReport], checker: Checker, progress: Progress) -> list[CaseReport]:
    """The reports on all cases of a problem, with what their checks accept. Raises Cancelled and SandboxFault."""
    return [_with(report, number, checker, progress) for number, report in enumerate(reports)]


def _with(report: CaseReport, number: int, checker: Checker, progress: Progress) -> CaseReport:
    checker.order(TryMutants(number))
    reply = checker.reply(progress, SILENCE_SECONDS)
    if not isinstance(reply, AcceptedMutants):
        raise SandboxFault(f"the checker was asked for mutants, and answered {type(reply).__name__}")
    fields = [_field(ACCEPTED, "; ".join(reply.faults) or NONE)]
    if reply.differing:
        fields.append(_field(DIFFERING, "; ".join(reply.differing)))
    if reply.admits:
        fields.append(_field(ADMITS, reply.admits))
    return report.model_copy(update={"fields": [*report.fields, *fields]})


def _field(name: str, value: str) -> CaseField:
    return CaseField(name=name, value=value[:MOST_WORDS], audience=Audience.ORGANISER)
