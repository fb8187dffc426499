"""The faults of a problem on a site, and what its author is warned of, for every kind."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date, datetime

from problems.spec.command.problem import CommandProblem
from problems.spec.errors import Fault
from problems.spec.function.problem import FunctionProblem
from problems.spec.question.problem import QuestionProblem
from problems.spec.record import ProblemRecord
from problems.spec.site.bounds import LIMIT_BOUNDS, MAX_TAG_CHARACTERS, MAX_TAGS, outside
from problems.spec.site.command import command_faults, command_warnings
from problems.spec.site.files import solution_faults
from problems.spec.site.function import function_faults, function_warnings
from problems.spec.site.question import question_faults, question_warnings

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_FIRST_DAY = date(1970, 1, 1)


def problem_faults(record: ProblemRecord) -> list[Fault]:
    """Every value with which the problem cannot work on a site, in the order of the record's fields."""
    return [*_word_faults(record), *_limit_faults(record), *solution_faults(record), *_faults_of_kind(record)]


def problem_warnings(record: ProblemRecord) -> list[str]:
    """Warnings for its author; each in a few words."""
    said = [] if record.prompt.strip() else ["no statement"]
    return [*said, *_warnings_of_kind(record), *_reference_warnings(record)]


def _faults_of_kind(record: ProblemRecord) -> Iterator[Fault]:
    if isinstance(record, CommandProblem):
        return command_faults(record)
    if isinstance(record, FunctionProblem):
        return function_faults(record)
    return question_faults(record) if isinstance(record, QuestionProblem) else iter(())


def _warnings_of_kind(record: ProblemRecord) -> Iterator[str]:
    if isinstance(record, CommandProblem):
        return command_warnings(record)
    if isinstance(record, FunctionProblem):
        return function_warnings(record)
    return question_warnings(record) if isinstance(record, QuestionProblem) else iter(())


def _reference_warnings(record: ProblemRecord) -> Iterator[str]:
    reference = record.baselines.get("reference")
    if reference is not None and (reason := record.rules().why_bad(reference.files)):
        yield f"a reference that is no valid solution ({reason})"


def _word_faults(record: ProblemRecord) -> Iterator[Fault]:
    known = type(record).model_fields["schema_version"].default
    if record.schema_version != known:
        yield Fault(("schema_version",), f"must be {known} (it is {record.schema_version})")
    for name in ("task_id", "group"):
        if reason := _why_no_name(getattr(record, name)):
            yield Fault((name,), reason)
    if record.date and not _is_day(record.date):
        yield Fault(("date",), f"must be a day as 2026-01-31 (it is {record.date[:40]!r})")
    tags = record.metadata.tags
    if len(tags) > MAX_TAGS or any(not tag.strip() or len(tag) > MAX_TAG_CHARACTERS for tag in tags):
        words = f"must be at most {MAX_TAGS} tags of 1 to {MAX_TAG_CHARACTERS} characters"
        yield Fault(("metadata", "tags"), words)


def _why_no_name(name: str) -> str:
    if not name.strip():
        return "must not be empty"
    if name != name.strip():
        return "must not begin or end with a space"
    if any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") for one in name):
        return "must not hold control or invisible characters"
    return ""


def _is_day(text: str) -> bool:
    """A day of the calendar from 1970 on, or a time of one."""
    if not _DAY.match(text):
        return False
    try:
        return datetime.fromisoformat(text).date() >= _FIRST_DAY
    except ValueError:
        return False


def _limit_faults(record: ProblemRecord) -> Iterator[Fault]:
    for name, value in record.podium.limits.set_values().items():
        yield from outside(("metadata", "podium", "limits", name), value, *LIMIT_BOUNDS[name])
