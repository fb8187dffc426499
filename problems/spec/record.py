"""The common interface of records of all kinds of problems, by which the site reads a problem."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Protocol, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from problems.spec.case import Case
from problems.spec.errors import explain, to_json_line
from problems.spec.hardware import Hardware
from problems.spec.kinds import Kind
from problems.spec.podium_metadata import PodiumMetadata
from problems.spec.profile import STRICT_GROUPS, STRICT_RELEASES, Profile, check_name
from problems.spec.sizes import Size
from problems.spec.solution import FileSolution, Solution, SourceFile
from problems.spec.usable import why_unusable


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


class FileRole(StrEnum):
    """The role of a problem's file."""

    CONTEXT = "context"
    TEST = "test"


class TimedWork(StrEnum):
    """Whether something verifies that the timed runs of a problem did their work."""

    CHECKED = "checked"
    UNCHECKED = "unchecked"
    SELF_REPORTED = "self_reported"
    """The program prints its own time, which never ranks."""


@dataclass(frozen=True)
class ProblemFile:
    """A file of a problem. Only organisers may read a held-out one."""

    file: SourceFile
    role: FileRole
    is_held_out: bool


class SolutionRules(Protocol):
    """A problem's rules for a solution's files before anything runs."""

    def why_bad(self, files: Sequence[SourceFile]) -> str:
        """Say why these files may not be a solution, or return "" if they may."""
        ...

    def path_faults(self, paths: Sequence[str]) -> dict[int, str]:
        """Reasons why `why_bad` would refuse paths, by their places in `paths`; empty where it refuses none of them."""
        ...

    def language_of(self, files: Sequence[SourceFile]) -> str:
        """The language of a solution; "" where the problem leaves it open."""
        ...


ANSWER_CASE, READ_AS = "answer", "read_as"
"""Name of a settled result's only case, and of its field with what the reply was read as; "" if nothing can be told."""
READ_AS_CHARACTERS = 500


class ReplyUnread(ValueError):
    """A reply could not be read, by no fault of its author; the text says why."""


@dataclass(frozen=True)
class Settled:
    """The site's result of a solution that no node judges."""

    passed: bool
    read_as: str
    """The answer that was found in the reply; empty if none could be told."""
    reason: str
    """The reason why it did not pass, for its author; empty if it passed. Never tells the answer."""


REFERENCE = "reference"
"""Name of the baseline that speedups are held against."""


class ProblemRecord(BaseModel):
    """One problem of a pack, of any kind. The fields come first in a written record, in this order."""

    kind: ClassVar[Kind]
    podium_model: ClassVar[type[PodiumMetadata]]

    type: str
    schema_version: int
    task_id: str
    date: str
    prompt: str
    metadata: ProblemMetadata
    group: GroupName

    _profile: Profile = PrivateAttr(default=Profile.COMPUTE_EVAL)
    _podium: PodiumMetadata | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _read_podium(self, info: ValidationInfo) -> Self:
        if self._podium is not None:  # a record that becomes a field of another model is validated there once more
            return self
        self._profile = _profile_of(info)
        extra = (self.metadata.model_extra or {}).get("podium")
        is_read = self._profile is Profile.PODIUM and extra is not None
        self._podium = _podium_metadata(self.podium_model, extra if is_read else {})
        return self

    @property
    def profile(self) -> Profile:
        """The profile that this record was read under."""
        return self._profile

    @property
    def podium(self) -> PodiumMetadata:
        """Podium's own fields; all defaults in a strict pack."""
        assert self._podium is not None, "every record is validated"
        return self._podium

    @property
    def title(self) -> str:
        """The problem's title, else its task_id."""
        return self.podium.title or self.task_id

    @property
    @abstractmethod
    def reference(self) -> Solution | None:
        """The reference solution: the baseline that speedups are held against."""

    @property
    def baselines(self) -> Mapping[str, FileSolution]:
        """The problem's own solutions by name, the reference first where it is one of files."""
        return {REFERENCE: self.reference} if isinstance(self.reference, FileSolution) else {}

    @property
    @abstractmethod
    def files(self) -> list[ProblemFile]:
        """All files that the problem brings, the reference solution aside."""

    @property
    @abstractmethod
    def starter_files(self) -> list[SourceFile]:
        """The files with which a contestant who types a solution begins; at least one."""

    @property
    @abstractmethod
    def starters(self) -> Mapping[str, list[SourceFile]]:
        """The same for each language that a contestant may choose, the usual one first."""

    @property
    @abstractmethod
    def empty(self) -> FileSolution | None:
        """A solution that does nothing, which must fail; None without a reference."""

    @property
    @abstractmethod
    def cases(self) -> tuple[Case, ...]:
        """The cases that are timed, with their declared work; empty where nothing is timed."""

    @abstractmethod
    def times_rank(self, *, with_gpu: bool) -> bool:
        """Whether its times can rank on a track: something outside the solution takes them there."""

    @property
    @abstractmethod
    def timed_work(self) -> TimedWork | None:
        """Whether the timed work is checked; None if nothing is timed."""

    @property
    @abstractmethod
    def times_its_test(self) -> bool:
        """Whether test and benchmark are one command; true if nothing is timed."""

    @property
    @abstractmethod
    def has_separate_harness(self) -> bool:
        """Whether the problem says that its harness runs in a process of its own."""

    @property
    @abstractmethod
    def ending_early(self) -> FileSolution | None:
        """A solution that must fail if the harness is separate, as the problem says; None if it does not say so."""

    @property
    @abstractmethod
    def withheld(self) -> list[str] | None:
        """Paths that a run is not given, as the pack states them; None: the pack does not say."""

    @property
    @abstractmethod
    def may_withhold(self) -> list[str]:
        """Paths that verifying tries to withhold from a run."""

    @property
    @abstractmethod
    def trial_runs_tests(self) -> bool:
        """Whether a trial runs visible tests; otherwise it only builds."""

    @property
    def trial_sizes(self) -> list[Size]:
        """The sizes that a trial may choose; empty where they are fixed."""
        return []

    @property
    def after_closing(self) -> str:
        """The explanation of the answer, in Markdown: for everybody once the release is closed. "" where there is
        none."""
        return ""

    @property
    def is_guessable(self) -> bool:
        """Whether all that is held out could be found by trying: by comparing digests of what it may be."""
        return False

    @property
    def lettered_choices(self) -> list[tuple[str, str]]:
        """Letter and text of each choice of a question; empty where the answer is free."""
        return []

    def settled(self, files: Sequence[SourceFile]) -> Settled | None:  # noqa: ARG002 - for the kinds that the site settles
        """The site's result of a solution's files; None for the kinds that nodes judge. Raises ReplyUnread."""
        return None

    @abstractmethod
    def public_facts(self) -> dict[str, JsonValue]:
        """How the problem is judged and what it requires, by field: for the API; everybody may read it."""

    @abstractmethod
    def rules(self) -> SolutionRules:
        """The rules for the files of its solutions."""

    @property
    def unusable(self) -> str:
        """Returns the reason why no machine can run the problem, or ""."""
        return why_unusable(self.podium.limits.set_values(), None, ())

    @abstractmethod
    def why_skipped(self, hardware: Hardware) -> str:
        """Returns the reason why the problem cannot run on a track with this hardware, or ""."""

    def to_line(self) -> bytes:
        """The canonical JSON line with its newline; a command problem's is what ComputeEval writes."""
        return to_json_line(self)


def _podium_metadata(model: type[PodiumMetadata], data: Any) -> PodiumMetadata:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ValueError(f"metadata.podium: {explain(error)}") from error
