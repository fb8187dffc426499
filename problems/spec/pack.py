"""The metadata of problem packs and solution packs."""

from datetime import datetime
from typing import Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from problems.spec.errors import RecordError, explain
from problems.spec.profile import Profile
from problems.spec.ranking import CaseWeights, Ks, MetricName, PolicyName, Weights, WeightsNote
from problems.spec.record import GroupName, ReleaseName
from problems.spec.solution import load_object


def _now() -> str:
    return datetime.now().isoformat()


class _PackMetadata(BaseModel):
    release: ReleaseName
    total_count: int
    created_at: str = Field(default_factory=_now)
    description: str | None = None

    def to_bytes(self) -> bytes:
        """`metadata.json` as ComputeEval writes it: two spaces of indent, no newline at the end."""
        return self.model_dump_json(indent=2).encode()


class ProblemPackMetadata(_PackMetadata):
    """A problem pack's metadata. What follows `task_id_hashes` is Podium's own and written only under its profile."""

    model_config = ConfigDict(extra="ignore")

    task_id_hashes: dict[str, str] = Field(default_factory=dict)
    profile: Profile = Profile.COMPUTE_EVAL
    title: str = ""
    primary_metric: MetricName = ""
    """Empty: the site's default, as for `timing_policy`."""
    timing_policy: PolicyName = ""
    ks: Ks = Field(default_factory=list)
    weights: Weights = Field(default_factory=dict)
    """Group of coding problems to weight; needed where the primary metric is `weighted`."""
    weights_note: WeightsNote = ""
    case_weights: CaseWeights = Field(default_factory=dict, exclude_if=lambda weights: not weights)
    """Task to its cases' weights by traffic. Not written if empty: metadata from before it stay as they are."""
    one_command: bool = False
    separate_harness: bool = False
    """Promises, as on the release's row."""

    @model_serializer(mode="wrap")
    def _leave_out(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if self.profile is Profile.PODIUM:
            return data
        return {key: data[key] for key in data if key in _STRICT_PROBLEM_KEYS}


_STRICT_PROBLEM_KEYS = ("release", "total_count", "created_at", "description", "task_id_hashes")
_PODIUM_KEYS = (
    "profile",
    "title",
    "primary_metric",
    "timing_policy",
    "ks",
    "weights",
    "weights_note",
    "case_weights",
    "one_command",
    "separate_harness",
)


class SolutionPackMetadata(_PackMetadata):
    """A solutions pack's metadata; null `groups` means all of the release's."""

    model_config = ConfigDict(extra="ignore")

    groups: list[GroupName] | None = None
    generation: Any = Field(default=None, exclude=True)
    """Any JSON value; `problems.spec.generation` reads it. Not written: `podium generate` adds its own."""


def parse_problem_metadata(data: bytes | dict[str, Any]) -> ProblemPackMetadata:
    """Read a problem pack's `metadata.json`, as bytes or decoded; raises RecordError."""
    fields = load_object(data) if isinstance(data, bytes) else data
    if _profile(fields) is Profile.COMPUTE_EVAL:
        fields = {key: value for key, value in fields.items() if key not in _PODIUM_KEYS}
    return _validated(ProblemPackMetadata, fields, _profile(fields))


def parse_solution_metadata(data: bytes, profile: Profile | None = None) -> SolutionPackMetadata:
    """Read a solutions pack's `metadata.json` for a release of the given profile; raises RecordError.

    Without `profile` the metadata's own key `profile` decides.
    """
    fields = load_object(data)
    return _validated(SolutionPackMetadata, fields, profile or _profile(fields))


def _profile(fields: dict[str, Any]) -> Profile:
    named = fields.get("profile", Profile.COMPUTE_EVAL.value)
    return Profile.PODIUM if named == Profile.PODIUM.value else Profile.COMPUTE_EVAL


M = TypeVar("M", bound=_PackMetadata)


def _validated(model: type[M], fields: dict[str, Any], profile: Profile) -> M:
    try:
        return model.model_validate(fields, context={"profile": profile})
    except ValidationError as error:
        raise RecordError(explain(error)) from error
