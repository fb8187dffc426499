"""A function problem: a Python class that makes inputs and checks outputs, and the manifest made from it."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from problems.spec.case import Case, Positive
from problems.spec.command.early_end import ending_early
from problems.spec.errors import RecordError, explain
from problems.spec.function.manifest import Manifest
from problems.spec.function.rules import FunctionRules
from problems.spec.function.signature import Device, Language, setup_signature, signature_in
from problems.spec.function.starter import doing_nothing, starter
from problems.spec.hardware import Hardware
from problems.spec.kinds import Kind
from problems.spec.podium_metadata import PodiumMetadata
from problems.spec.profile import Profile
from problems.spec.record import FileRole, ProblemFile, ProblemRecord, TimedWork
from problems.spec.sizes import Size
from problems.spec.solution import FileSolution, SourceFile
from problems.spec.usable import why_unusable

FUNCTION_SCHEMA_VERSION = 1
DEFINITION_PATH = "def.py"
DEFAULT_TIME_LIMIT_SECONDS = 60.0
Baseline = Literal["compiled", "expert"]
"""Names of a problem's baselines besides its reference: that by torch.compile, and the author's fast solution."""
LANGUAGES_ON: dict[Device, tuple[Language, ...]] = {"cpu": ("cpp", "python"), "gpu": ("cuda", "triton", "python")}


class FunctionProblem(ProblemRecord):
    """A problem judged by calling one function. Contestants never read the definition or the baseline."""

    model_config = ConfigDict(extra="forbid")

    kind: ClassVar[Kind] = Kind.FUNCTION
    podium_model: ClassVar[type[PodiumMetadata]] = PodiumMetadata

    type: Literal["function"] = "function"
    schema_version: int = FUNCTION_SCHEMA_VERSION
    definition: SourceFile
    manifest: Manifest
    languages: Annotated[list[Language], Field(min_length=1)]
    device: Device
    time_limit_seconds: Positive = DEFAULT_TIME_LIMIT_SECONDS
    """Limit of all calls of one process together. A `ranked` sample has several processes."""
    baseline_solution: FileSolution | None = None
    other_baselines: dict[Baseline, FileSolution] = Field(default_factory=dict)
    """Solutions of the author's that are measured as entrants are, and shown beside them."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.definition.path != DEFINITION_PATH:
            raise ValueError(f"has its definition at {self.definition.path!r}; it must be {DEFINITION_PATH!r}")
        possible = LANGUAGES_ON[self.device]
        other = next((one for one in self.languages if one not in possible), None)
        if other is not None:
            raise ValueError(f"allows {other} on device {self.device}; there only {', '.join(possible)} can run")
        if len(set(self.languages)) < len(self.languages):
            raise ValueError("lists one of its languages twice")
        return self

    @model_serializer(mode="wrap")
    def _with_kind(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"kind": self.kind.value, **handler(self)}

    @property
    def reference(self) -> FileSolution | None:
        return self.baseline_solution

    @property
    def baselines(self) -> Mapping[str, FileSolution]:
        others: Mapping[str, FileSolution] = {str(name): one for name, one in self.other_baselines.items()}
        return {**super().baselines, **others}

    @property
    def files(self) -> list[ProblemFile]:
        return [ProblemFile(self.definition, FileRole.TEST, is_held_out=True)]

    @property
    def starter_files(self) -> list[SourceFile]:
        return list(self.podium.starter) or [self.starter_of(self.languages[0])]

    @property
    def starters(self) -> dict[str, list[SourceFile]]:
        """Starter code by language: the pack's own where it has some, else the scaffold."""
        own = {self.rules().language(file): file for file in self.podium.starter}
        return {one: [own.get(one) or self.starter_of(one)] for one in self.languages}

    @property
    def empty(self) -> FileSolution:
        """A function without statements: it leaves every output as it is."""
        return FileSolution(task_id=self.task_id, files=[doing_nothing(self.manifest, self.languages[0])])

    def starter_of(self, language: Language) -> SourceFile:
        """A scaffold that compiles and lacks only the computation. Raises KeyError for a language not allowed."""
        if language not in self.languages:
            raise KeyError(language)
        return starter(self.manifest.told, language)

    @property
    def cases(self) -> tuple[Case, ...]:
        return self.manifest.timed_cases

    def times_rank(self, *, with_gpu: bool) -> bool:
        return with_gpu == (self.device == "gpu")

    @property
    def timed_work(self) -> TimedWork | None:
        return TimedWork.CHECKED

    @property
    def times_its_test(self) -> bool:
        return True

    @property
    def has_separate_harness(self) -> bool:
        return True

    @property
    def ending_early(self) -> FileSolution | None:
        return ending_early(self.baseline_solution) if self.baseline_solution else None

    @property
    def withheld(self) -> list[str] | None:
        return []

    @property
    def may_withhold(self) -> list[str]:
        return []

    @property
    def trial_runs_tests(self) -> bool:
        return True

    @property
    def trial_sizes(self) -> list[Size]:
        """The scalars that may be axes. Tensara's definitions make their cases themselves, so that theirs are fixed."""
        return self.manifest.sizes if self.manifest.form == "podium" and self.manifest.is_run else []

    def public_facts(self) -> dict[str, JsonValue]:
        return {
            "languages": list(self.languages),
            "device": self.device,
            "time_limit_seconds": self.time_limit_seconds,
            "signatures": self.signatures,
            "manifest": self.manifest.told.model_dump(mode="json", exclude={"class_name", "form", "is_run"}),
        }

    @property
    def signatures(self) -> dict[str, JsonValue]:
        """The declaration of `solution` in each language."""
        return {one: self.signature(one) for one in self.languages}

    def signature(self, language: Language) -> str:
        """The declaration of `solution` in a language, on one line."""
        return signature_in(language, self.manifest.parameters)

    @property
    def setup_signatures(self) -> dict[str, str]:
        """The declaration of `setup` in each language; empty where a problem has no weights or structure."""
        declared = {one: setup_signature(self.manifest, one) for one in self.languages}
        return {one: words for one, words in declared.items() if words}

    def rules(self) -> FunctionRules:
        return FunctionRules(tuple(self.languages), tuple(self.manifest.parameters))

    @property
    def unusable(self) -> str:
        return why_unusable(self.podium.limits.set_values(), self.time_limit_seconds, ())

    def why_skipped(self, hardware: Hardware) -> str:
        if self.unusable or hardware.device == self.device:
            return self.unusable
        return f"is a {self.device.upper()} problem and this is a {hardware.device.upper()} track"


def as_function(record: ProblemRecord) -> FunctionProblem:
    """The record if it is a function problem's; raises RecordError otherwise."""
    if isinstance(record, FunctionProblem):
        return record
    raise RecordError(f"task `{record.task_id}` is of kind `{record.kind}`; only function problems can be used here")


def function_from(data: dict[str, Any], profile: Profile) -> FunctionProblem:
    """Read a problem from decoded JSON; raises RecordError."""
    fields = {key: value for key, value in data.items() if key != "kind"}
    try:
        return FunctionProblem.model_validate(fields, context={"profile": profile})
    except ValidationError as error:
        raise RecordError(explain(error)) from error
