"""Reads a problem of any kind: the field `kind` names the record's reader."""

from collections.abc import Callable, Mapping
from typing import Any

from problems.spec.command.problem import problem_from
from problems.spec.errors import RecordError, may_hold_surrogate
from problems.spec.function.problem import function_from
from problems.spec.kinds import Kind
from problems.spec.profile import Profile
from problems.spec.question.problem import question_from
from problems.spec.record import ProblemRecord
from problems.spec.solution import load_object

_READERS: Mapping[Kind, Callable[[dict[str, Any], Profile], ProblemRecord]] = {
    Kind.COMMAND: problem_from,
    Kind.FUNCTION: function_from,
    Kind.CHOICE: question_from,
    Kind.SHORT_ANSWER: question_from,
}


def parse_record(line: bytes | str, profile: Profile) -> ProblemRecord:
    """Read one line of a problem pack; raises RecordError."""
    record = record_from(load_object(line), profile)
    if may_hold_surrogate(line):
        record.to_line()
    return record


def record_from(data: dict[str, Any], profile: Profile) -> ProblemRecord:
    """Read a problem from decoded JSON; raises RecordError."""
    return _READERS[kind_of(data, profile)](data, profile)


def kind_of(data: Mapping[str, Any], profile: Profile) -> Kind:
    """`command` where the record names none; ComputeEval's own packs know no kinds. Raises RecordError."""
    named = data.get("kind", Kind.COMMAND) if profile is Profile.PODIUM else Kind.COMMAND
    if named not in list(Kind):
        raise RecordError(f"field `kind` is {named!r:.60}; use {', '.join(f'`{kind}`' for kind in Kind)}")
    return Kind(named)
