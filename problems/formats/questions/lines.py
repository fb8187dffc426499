"""Reads `questions.jsonl`: one question a line. Errors name the line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE
from problems.formats.errors import PackRefused
from problems.spec.errors import RecordError
from problems.spec.kinds import Kind
from problems.spec.profile import Profile
from problems.spec.question.problem import Grading, QuestionProblem, question_from
from problems.spec.solution import load_object

QUESTIONS_NAME = "questions.jsonl"
DEFAULT_GROUP = "questions"
_CHOICE_TYPES = frozenset({"mcq", "choice"})
_AS_THEY_ARE = ("answer", "explanation", "final_answer_patterns", "grading", "salt", "sources")
_OF_KIND = {Kind.CHOICE: ("choices",), Kind.SHORT_ANSWER: ("numeric_tolerance", "accept")}
_OF_PMPP_ONLY = frozenset({"id", "max_turns", "original_id"})
"""Fields of pmpp-eval that change nothing here."""
_READ = frozenset(
    {"chapter", "exercise", "type", "question", "topic_tags", "difficulty", "title", "date", "group", "task_id"}
    | {*_AS_THEY_ARE, *_OF_PMPP_ONLY, *(name for names in _OF_KIND.values() for name in names)}
)


@dataclass(frozen=True)
class Questions:
    """The questions of a file in its order, and the fields that were not read."""

    problems: tuple[QuestionProblem, ...]
    ignored: tuple[str, ...]


def read_questions(path: Path, grading: Grading = "lenient") -> Questions:
    """Read a file. `grading` is for the lines that name none. Raises PackRefused."""
    if path.stat().st_size > DEFAULT_LIMITS.file_bytes:
        raise PackRefused("too_large", f"{path} is larger than {DEFAULT_LIMITS.file_bytes // MEBIBYTE} MiB")
    problems: dict[str, QuestionProblem] = {}
    ignored: set[str] = set()
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.strip():
            fields = _fields(path, number, line)
            ignored |= fields.keys() - _READ
            problem = _question(path, number, fields, grading)
            if problem.task_id in problems:
                raise _refused(path, number, f"task `{problem.task_id}` occurs a second time; change its `exercise`")
            problems[problem.task_id] = problem
    if not problems:
        raise PackRefused("no_problems", f"{path} holds no question")
    return Questions(tuple(problems.values()), tuple(sorted(ignored)))


def _fields(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        return {key: value for key, value in load_object(line).items() if value is not None}
    except RecordError as error:
        raise _refused(path, number, f"the line {error}") from error


def _question(path: Path, number: int, fields: Mapping[str, Any], grading: Grading) -> QuestionProblem:
    try:
        return question_from(_record(fields, grading), Profile.PODIUM)
    except KeyError as error:
        raise _refused(path, number, f"field `{error.args[0]}` is missing") from error
    except RecordError as error:
        raise _refused(path, number, str(error)) from error


def _record(fields: Mapping[str, Any], grading: Grading) -> dict[str, Any]:
    """The record of a line. As in pmpp-eval, whatever is not `mcq` is a short answer."""
    kind = Kind.CHOICE if str(fields["type"]).lower() in _CHOICE_TYPES else Kind.SHORT_ANSWER
    kept = {name: fields[name] for name in (*_AS_THEY_ARE, *_OF_KIND[kind]) if name in fields}
    return {
        "kind": kind.value,
        "type": kind.value,
        "task_id": str(fields.get("task_id") or f"qa-{fields['chapter']}-{fields['exercise']}"),
        "date": str(fields.get("date", "")),
        "prompt": str(fields["question"]),
        "metadata": _metadata(fields),
        "group": _group(fields),
        "grading": grading,
        **kept,
        "answer": _text(fields["answer"]),
    }


def _metadata(fields: Mapping[str, Any]) -> dict[str, Any]:
    title = str(fields.get("title") or f"Chapter {fields.get('chapter')}, question {fields.get('exercise')}")
    tags = fields.get("topic_tags", [])
    return {
        "difficulty": fields.get("difficulty"),
        "tags": [tags] if isinstance(tags, str) else tags,
        "podium": {"title": title},
    }


def _group(fields: Mapping[str, Any]) -> str:
    """`group` where it is given, else the chapter: `ch05` for 5, its own name otherwise."""
    if "group" in fields:
        return str(fields["group"])
    chapter = str(fields.get("chapter", DEFAULT_GROUP))
    return f"ch{int(chapter):02d}" if re.fullmatch(r"\d{1,3}", chapter) else chapter


def _text(answer: Any) -> Any:
    """An answer may be written as a number."""
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        return repr(answer)
    return answer


def _refused(path: Path, number: int, words: str) -> PackRefused:
    return PackRefused("bad_question", f"{path.name}: {words}", number)
