"""Turns a failed validation into one line that a person can act on."""

import json
import re
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

MAX_FAULTS = 4


class RecordError(ValueError):
    """A record or metadata that cannot be used; the text names the field, the value and the way out."""


def explain(error: ValidationError) -> str:
    """Say what is wrong, field by field, at most `MAX_FAULTS` of them."""
    faults = error.errors(include_url=False)
    lines = [_explain_one(dict(fault)) for fault in faults[:MAX_FAULTS]]
    if len(faults) > MAX_FAULTS:
        lines.append(f"and {len(faults) - MAX_FAULTS} more")
    return "; ".join(lines)


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a record: the field as a path of names and indices, and why, without the field."""

    path: tuple[int | str, ...]
    words: str


def faults_of(error: BaseException) -> list[Fault]:
    """Everything that is wrong with the record, field by field; one fault without a path where no field is known."""
    cause = error.__cause__
    if not isinstance(cause, ValidationError):
        return [Fault((), str(error))]
    return [found for one in cause.errors(include_url=False) for found in _faults(dict(one))]


def _faults(fault: dict[str, Any]) -> list[Fault]:
    inner = fault.get("ctx", {}).get("error")
    if isinstance(inner, ValueError) and isinstance(inner.__cause__, ValidationError):
        return [Fault(("metadata", "podium", *one.path), one.words) for one in faults_of(inner)]
    location = fault["loc"]
    path = tuple(part for index, part in enumerate(location) if not _is_tag(location, index))
    if fault["type"] == "missing":
        return [Fault(path, "is missing")]
    words = str(inner) if fault["type"] == "value_error" else _lower_first(fault["msg"])
    return [Fault(path, words + _shown(fault["input"]))]


def json_fault(error: json.JSONDecodeError) -> str:
    """The parser's words and the place. A line is named only if the text has several: callers know that of a line."""
    place = f"line {error.lineno}, character {error.colno}" if "\n" in error.doc.strip() else f"character {error.colno}"
    return f"{_lower_first(error.msg)} at {place}"


def to_json_line(model: BaseModel) -> bytes:
    """One compact JSON line with its newline, as ComputeEval writes records; raises RecordError."""
    try:
        return model.model_dump_json(serialize_as_any=True).encode() + b"\n"
    except PydanticSerializationError as error:
        raise RecordError(f"holds a lone surrogate or another value that JSON text cannot carry ({error})") from error


def may_hold_surrogate(line: bytes | str) -> bool:
    """Whether a JSON text has an escape that could decode to a lone surrogate."""
    return re.search(rb"\\ud[89a-f]", line, re.I) is not None if isinstance(line, bytes) else "\\ud" in line.lower()


def _explain_one(fault: dict[str, Any]) -> str:
    field = _field_name(fault["loc"])
    if fault["type"] == "missing":
        return f"field `{field}` is missing"
    if fault["type"] in ("union_tag_not_found", "union_tag_invalid"):
        return _explain_tag(field, fault)
    if fault["type"] == "value_error":
        return f"field `{field}` {fault['ctx']['error']}{_shown(fault['input'])}"
    return f"field `{field}`: {_lower_first(fault['msg'])}{_shown(fault['input'])}"


def _explain_tag(field: str, fault: dict[str, Any]) -> str:
    name = f"{field}.type" if field != "record" else "type"
    if fault["type"] == "union_tag_not_found":
        return f"field `{name}` is missing"
    return f"field `{name}` is '{fault['ctx']['tag']}'; use one of {fault['ctx']['expected_tags']}"


_TAGS = frozenset({"cuda_cpp", "cuda_python", "cpp", "python", "file", "patch"})
_MODES = frozenset({"process", "kernels", "region", "gpu", "custom"})


def _field_name(location: tuple[int | str, ...]) -> str:
    """Spell a pydantic location without the union tags that it puts between the names."""
    parts = [part for index, part in enumerate(location) if not _is_tag(location, index)]
    return ".".join(str(part) for part in parts) or "record"


def _is_tag(location: tuple[int | str, ...], index: int) -> bool:
    part = location[index]
    if index == 0:
        return part in _TAGS
    return (location[index - 1], part in _TAGS | _MODES) in {("baseline_solution", True), ("timing_mode", True)}


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return f" (it is {text})" if len(text) <= 60 else ""
