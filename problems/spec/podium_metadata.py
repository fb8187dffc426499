"""What Podium adds to a problem, under the key `podium` of its metadata."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat

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

FlopsDtype = Literal["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"]


def _checked_path(path: str) -> str:
    if reason := why_bad_path(path):
        raise ValueError(reason)
    return path


CheckedPath = Annotated[str, AfterValidator(_checked_path)]
Positive = Annotated[FiniteFloat, Field(gt=0)]


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
    """Everything optional; `flops` and `bytes` are per run of the benchmark."""

    model_config = ConfigDict(extra="forbid")

    title: str = ""
    flops: Positive | None = None
    bytes: Positive | None = None
    flops_dtype: FlopsDtype = "fp32"
    """The fastest data type whose arithmetic the tolerances allow: its peak bounds what a time may be."""
    working_set_bytes: Positive | None = None
    """What one timed iteration touches; absent means unknown."""
    l2_flushed: bool = False
    """The benchmark empties the L2 cache before each timed iteration."""
    build_only: list[CheckedPath] | None = None
    """Files withheld at run time; null means nobody has said."""
    harness: Literal["in_process", "separate"] = "in_process"
    work_checked: bool = False
    """The benchmark verifies the very work that it times."""
    starter: list[SourceFile] = Field(default_factory=list)
    visible_tests: list[str] = Field(default_factory=list)
    """Paths of test files that a visitor may read."""
    limits: ProblemLimits = Field(default_factory=ProblemLimits)
    known_bad: list[KnownBad] = Field(default_factory=list)
