"""A command problem: one record of a problem pack, in ComputeEval's nineteen fields and their order."""

import math
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from problems.spec.errors import RecordError, explain, may_hold_surrogate, to_json_line
from problems.spec.podium_metadata import PodiumMetadata
from problems.spec.profile import STRICT_GROUPS, STRICT_RELEASES, Profile, check_name
from problems.spec.solution import SourceFile, TaggedSolution, load_object
from problems.spec.timing_mode import ProcessTimingMode, TimingMode

PROBLEM_SCHEMA_VERSION = 2
DEFAULT_COMPUTE_CAPABILITY = "8.0"
DEFAULT_STEP_SECONDS = 60.0
DEFAULT_BENCHMARK_SECONDS = 300.0


def _profile_of(info: ValidationInfo) -> Profile:
    context: dict[str, Profile] = info.context or {}
    return context.get("profile", Profile.COMPUTE_EVAL)


def _check_group(value: str, info: ValidationInfo) -> str:
    return check_name(value, STRICT_GROUPS, _profile_of(info))


def _check_release(value: str, info: ValidationInfo) -> str:
    return check_name(value, STRICT_RELEASES, _profile_of(info))


GroupName = Annotated[str, AfterValidator(_check_group)]
ReleaseName = Annotated[str, AfterValidator(_check_release)]


class ProblemMetadata(BaseModel):
    """Words about a problem; unknown keys are kept and written back."""

    model_config = ConfigDict(extra="allow")

    difficulty: str | None = None
    tags: list[str] = Field(default_factory=list)
    releases: list[ReleaseName] = Field(default_factory=list)
    do_not_release: bool = False


class SourceReferences(BaseModel):
    """Names that a solution's sources must hold: every one of `all` and at least one of `any`."""

    any: list[str] | None = None
    all: list[str] | None = None

    @model_validator(mode="after")
    def _say_something(self) -> Self:
        if self.any is None and self.all is None:
            raise ValueError("must give `any` or `all`")
        return self


def _normal_references(value: Any) -> Any:
    """A name or a list of names means that all of them are needed."""
    if isinstance(value, str):
        return {"any": None, "all": [value]}
    if isinstance(value, list):
        return {"any": None, "all": value}
    return value


class CommandProblem(BaseModel):
    """A problem judged by shell commands. Unknown fields are dropped, as ComputeEval does."""

    type: Literal["cuda_cpp", "cuda_python", "cpp", "python"]
    schema_version: int = PROBLEM_SCHEMA_VERSION
    task_id: str
    date: str
    prompt: str
    metadata: ProblemMetadata
    group: GroupName
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

    _profile: Profile = PrivateAttr(default=Profile.COMPUTE_EVAL)
    _podium: PodiumMetadata = PrivateAttr(default_factory=PodiumMetadata)

    @model_validator(mode="after")
    def _read_podium(self, info: ValidationInfo) -> Self:
        self._profile = _profile_of(info)
        extra = self.metadata.model_extra or {}
        if self._profile is Profile.PODIUM and extra.get("podium") is not None:
            self._podium = _podium_metadata(extra["podium"])
        return self

    @property
    def profile(self) -> Profile:
        """The profile that this record was read under."""
        return self._profile

    @property
    def podium(self) -> PodiumMetadata:
        """What Podium adds; all defaults in a strict pack."""
        return self._podium

    @property
    def title(self) -> str:
        """The problem's title, else its task_id."""
        return self.podium.title or self.task_id

    @property
    def language(self) -> Literal["cpp", "python"]:
        """What a contestant writes."""
        return "python" if self.type.endswith("python") else "cpp"

    @property
    def effective_build_timeout_seconds(self) -> float:
        """Bound on the build; null and 0 mean a minute."""
        return self._timeout_or(DEFAULT_STEP_SECONDS)

    @property
    def effective_test_timeout_seconds(self) -> float:
        """Bound on the test; null and 0 mean a minute."""
        return self._timeout_or(DEFAULT_STEP_SECONDS)

    @property
    def effective_benchmark_timeout_seconds(self) -> float:
        """Bound on one benchmark run; null and 0 mean five minutes."""
        return self._timeout_or(DEFAULT_BENCHMARK_SECONDS)

    def _timeout_or(self, default_seconds: float) -> float:
        seconds = self.timeout_seconds
        return seconds if seconds is not None and math.isfinite(seconds) and seconds > 0 else default_seconds

    def to_line(self) -> bytes:
        """The canonical JSON line with its newline; the same bytes as ComputeEval writes."""
        return to_json_line(self)


def _podium_metadata(data: Any) -> PodiumMetadata:
    try:
        return PodiumMetadata.model_validate(data)
    except ValidationError as error:
        raise ValueError(f"metadata.podium: {explain(error)}") from error


class CudaCppProblem(CommandProblem):
    """Built with nvcc."""

    type: Literal["cuda_cpp"] = "cuda_cpp"


class CudaPythonProblem(CommandProblem):
    """Python that drives a GPU."""

    type: Literal["cuda_python"] = "cuda_python"


class CppProblem(CommandProblem):
    """C++ for a CPU track; Podium's own."""

    type: Literal["cpp"] = "cpp"


class PythonProblem(CommandProblem):
    """Python for a CPU track; Podium's own."""

    type: Literal["python"] = "python"


_ADAPTERS: dict[Profile, TypeAdapter[Any]] = {
    Profile.COMPUTE_EVAL: TypeAdapter(Annotated[CudaCppProblem | CudaPythonProblem, Field(discriminator="type")]),
    Profile.PODIUM: TypeAdapter(
        Annotated[CudaCppProblem | CudaPythonProblem | CppProblem | PythonProblem, Field(discriminator="type")]
    ),
}


def parse_problem(line: bytes | str, profile: Profile) -> CommandProblem:
    """Read one line of a problem pack; raises RecordError."""
    problem = problem_from(load_object(line), profile)
    if may_hold_surrogate(line):
        problem.to_line()
    return problem


def problem_from(data: dict[str, Any], profile: Profile) -> CommandProblem:
    """Read a problem from decoded JSON; raises RecordError."""
    try:
        problem: CommandProblem = _ADAPTERS[profile].validate_python(data, context={"profile": profile})
    except ValidationError as error:
        raise RecordError(explain(error)) from error
    return problem
