"""One solution to one problem, as a line of a solutions pack."""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from problems.spec.errors import RecordError, explain, json_fault, may_hold_surrogate, to_json_line
from problems.spec.nesting import nests_too_deeply

SOLUTION_SCHEMA_VERSION = 1


class SourceFile(BaseModel):
    """A text file; `path` is relative to the workspace, `content` is written verbatim as UTF-8."""

    path: str
    content: str


class _Solution(BaseModel):
    """The common fields of both kinds. Unknown keys are kept and written back."""

    model_config = ConfigDict(extra="allow")

    schema_version: int = SOLUTION_SCHEMA_VERSION
    type: Literal["file", "patch"]
    task_id: str

    def to_line(self) -> bytes:
        """The canonical JSON line, with its newline."""
        return to_json_line(self)


class FileSolution(_Solution):
    """Whole files that are laid over the problem's context."""

    type: Literal["file"] = "file"
    files: list[SourceFile] = Field(default_factory=list)


class PatchSolution(_Solution):
    """Accepted in packs, never graded: nobody has said what such a patch applies to."""

    type: Literal["patch"] = "patch"
    patch: str


Solution = FileSolution | PatchSolution
TaggedSolution = Annotated[Solution, Field(discriminator="type")]

_adapter: TypeAdapter[Solution] = TypeAdapter(TaggedSolution)


def parse_solution(line: bytes | str) -> Solution:
    """Read one line of a solutions pack; raises RecordError."""
    solution = solution_from(load_object(line))
    if may_hold_surrogate(line):
        solution.to_line()
    return solution


def solution_from(data: dict[str, Any]) -> Solution:
    """Read a solution from decoded JSON; raises RecordError."""
    try:
        return _adapter.validate_python(data)
    except ValidationError as error:
        raise RecordError(explain(error)) from error


def load_object(line: bytes | str) -> dict[str, Any]:
    """Decode one JSON object as ComputeEval does: raw control characters and NaN pass, a byte order mark does not."""
    try:
        data = json.loads(line.decode("utf-8") if isinstance(line, bytes) else line, strict=False)
    except UnicodeDecodeError as error:
        raise RecordError(f"is not UTF-8: byte {error.start} cannot be decoded") from error
    except RecursionError as error:
        raise RecordError("is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise RecordError(f"is not valid JSON: {json_fault(error)}") from error
    except ValueError as error:
        raise RecordError(f"is not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise RecordError("is not a JSON object")
    if nests_too_deeply(data):
        raise RecordError("is nested too deeply")
    return data
