"""Podium's own fields of a problem of any kind, under the key `podium` of its metadata."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from problems.spec.case import Positive
from problems.spec.paths import why_bad_path
from problems.spec.solution import SourceFile

ContestantVerdict = Literal[
    "passed",
    "build_failed",
    "test_failed",
    "timed_out",
    "memory_exceeded",
    "source_reference_missing",
    "invalid",
    "wrong_answer",
]


def _checked_path(path: str) -> str:
    if reason := why_bad_path(path):
        raise ValueError(reason)
    return path


CheckedPath = Annotated[str, AfterValidator(_checked_path)]


class ProblemLimits(BaseModel):
    """Bounds on one command of this problem; absent means the site's own."""

    model_config = ConfigDict(extra="forbid")

    memory_bytes: Annotated[int, Field(gt=0)] | None = None
    processes: Annotated[int, Field(gt=0)] | None = None
    file_bytes: Annotated[int, Field(gt=0)] | None = None
    workspace_bytes: Annotated[int, Field(gt=0)] | None = None
    output_bytes: Annotated[int, Field(gt=0)] | None = None
    build_seconds: Positive | None = None

    def set_values(self) -> dict[str, float]:
        """The bounds that are set, by name."""
        return self.model_dump(exclude_none=True)


class KnownBad(BaseModel):
    """A wrong solution and the verdict that it must get."""

    name: str
    expect: ContestantVerdict
    files: list[SourceFile]


class PodiumMetadata(BaseModel):
    """Everything optional. Each kind adds keys of its own."""

    model_config = ConfigDict(extra="forbid")

    title: str = ""
    starter: list[SourceFile] = Field(default_factory=list)
    limits: ProblemLimits = Field(default_factory=ProblemLimits)
    known_bad: list[KnownBad] = Field(default_factory=list)
