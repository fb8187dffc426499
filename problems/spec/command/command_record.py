"""The record of a command problem, in ComputeEval's nineteen fields and their order."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from problems.spec.command.metadata import CommandMetadata
from problems.spec.command.timing_mode import ProcessTimingMode, TimingMode
from problems.spec.kinds import Kind
from problems.spec.podium_metadata import PodiumMetadata
from problems.spec.record import ProblemRecord
from problems.spec.solution import SourceFile, TaggedSolution

PROBLEM_SCHEMA_VERSION = 2
DEFAULT_COMPUTE_CAPABILITY = "8.0"


class SourceReferences(BaseModel):
    """Names that a solution's sources must hold: every one of `all` and at least one of `any`."""

    any: list[str] | None = None
    all: list[str] | None = None

    @model_validator(mode="after")
    def _say_something(self) -> Self:
        if self.any is None and self.all is None:
            raise ValueError("must give `any` or `all`")
        return self

    def in_words(self) -> str:
        """The names as "`a`, `b` and one of `c`, `d`"."""
        parts = [", ".join(f"`{name}`" for name in self.all or [])]
        if self.any:
            parts.append("one of " + ", ".join(f"`{name}`" for name in self.any))
        return " and ".join(part for part in parts if part)


def _normal_references(value: Any) -> Any:
    """A name or a list of names means that all of them are needed."""
    if isinstance(value, str):
        return {"any": None, "all": [value]}
    if isinstance(value, list):
        return {"any": None, "all": value}
    return value


class CommandRecord(ProblemRecord):
    """A record of a problem pack. Unknown fields are dropped, as ComputeEval does."""

    kind: ClassVar[Kind] = Kind.COMMAND
    podium_model: ClassVar[type[PodiumMetadata]] = CommandMetadata

    type: Literal["cuda_cpp", "cuda_python", "cpp", "python"]
    schema_version: int = PROBLEM_SCHEMA_VERSION
    context_files: list[SourceFile] = Field(default_factory=list)
    test_files: list[SourceFile] = Field(default_factory=list)
    source_references: Annotated[SourceReferences | None, BeforeValidator(_normal_references)] = None
    build_command: str | None = None
    test_command: str
    benchmark_command: str | None = None
    timing_mode: TimingMode = Field(default_factory=ProcessTimingMode)
    min_cuda_toolkit: str | None = None
    compute_capability: str | None = DEFAULT_COMPUTE_CAPABILITY
    requires_datacenter_gpu: bool = False
    timeout_seconds: float | None = None
    baseline_solution: TaggedSolution | None = None

    @property
    def podium(self) -> CommandMetadata:
        """Podium's own fields; all defaults in a strict pack."""
        if not isinstance(self._podium, CommandMetadata):
            raise TypeError("a command problem was read with another kind's metadata")
        return self._podium
