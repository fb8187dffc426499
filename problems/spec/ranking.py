"""The values that say how a release ranks: primary metric, ks, timing policy and weights. Read from packs and forms."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, FiniteFloat, TypeAdapter, ValidationError

from problems.spec.errors import RecordError, explain
from scoring.metrics import LARGEST_K, metric_named

MAX_KS = 10
MAX_WEIGHTS = 200
MAX_TASKS = 5000
MAX_NOTE = 4000


class TimingPolicy(StrEnum):
    """The number of processes behind a time: one of each under `quick`, at least six of each under `ranked`."""

    QUICK = "quick"
    RANKED = "ranked"


def is_provisional(measured_under: str, promised: str) -> bool:
    """Whether times were measured under a weaker timing policy than the release promises, so that they do not rank."""
    return promised == TimingPolicy.RANKED and measured_under == TimingPolicy.QUICK


def _known_metric(name: str) -> str:
    if name:
        metric_named(name)
    return name


def _known_policy(name: str) -> str:
    if name and name not in list(TimingPolicy):
        raise ValueError(f"is no timing policy; use {' or '.join(TimingPolicy)}")
    return name


def _in_order(ks: list[int]) -> list[int]:
    if len(set(ks)) != len(ks):
        raise ValueError("names a k twice")
    return sorted(ks)


MetricName = Annotated[str, AfterValidator(_known_metric)]
"""Empty where a pack does not say; the same for `PolicyName`."""
PolicyName = Annotated[str, AfterValidator(_known_policy)]
K = Annotated[int, Field(strict=True, ge=1, le=LARGEST_K)]
Ks = Annotated[list[K], Field(max_length=MAX_KS), AfterValidator(_in_order)]
Weight = Annotated[FiniteFloat, Field(ge=1e-6, le=1e6, strict=True)]
Weights = Annotated[dict[str, Weight], Field(max_length=MAX_WEIGHTS)]
"""Group of coding problems to its weight; only their ratios matter."""
CaseWeights = Annotated[
    dict[str, Annotated[dict[str, Weight], Field(min_length=1, max_length=MAX_WEIGHTS)]], Field(max_length=MAX_TASKS)
]
"""Task to its cases' weights by name, as their traffic; only the ratios within a task matter."""
WeightsNote = Annotated[str, Field(max_length=MAX_NOTE)]
"""Where the weights come from, in words."""

_METRIC: TypeAdapter[str] = TypeAdapter(MetricName)
_KS: TypeAdapter[list[int]] = TypeAdapter(Ks)
_K: TypeAdapter[int] = TypeAdapter(K)
_WEIGHTS: TypeAdapter[dict[str, float]] = TypeAdapter(Weights)

_CASE_WEIGHTS: TypeAdapter[dict[str, dict[str, float]]] = TypeAdapter(CaseWeights)


def checked_metric(value: Any) -> str:
    """The metric's name. Raises RecordError."""
    return _checked(_METRIC, value)


def checked_ks(value: Any) -> list[int]:
    """The ks in rising order. Raises RecordError."""
    return _checked(_KS, value)


def checked_weights(value: Any) -> dict[str, float]:
    """Weights by group. Raises RecordError."""
    return _checked(_WEIGHTS, value)


def checked_case_weights(value: Any) -> dict[str, dict[str, float]]:
    """Weights of cases by task. Raises RecordError."""
    return _checked(_CASE_WEIGHTS, value)


T = TypeVar("T")


def _checked(adapter: TypeAdapter[T], value: Any) -> T:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        said = explain(error).replace("field `record`: ", "").replace("field `record`", "it")
        raise RecordError(said) from error


def offered_ks(stored: Any, primary_metric: str) -> list[int]:
    """The ks that a board offers: 1, those of `stored` that are valid, and the primary metric's own.

    `stored` may be anything that a JSON column holds: a bad entry is left out.
    """
    entries = stored if isinstance(stored, list) else []
    ks = {1, *(entry for entry in entries if _is_k(entry))}
    try:
        own = metric_named(primary_metric).k
    except ValueError:
        own = None
    return sorted(ks | ({own} if own else set()))


def _is_k(value: Any) -> bool:
    try:
        _K.validate_python(value)
    except ValidationError:
        return False
    return True


def weights_of_problems(weights: Mapping[str, float], groups: Sequence[str]) -> list[float]:
    """One weight a problem with a mean of 1, from each problem's group. Raises RecordError where a group has none."""
    if missing := sorted(set(groups) - weights.keys()):
        raise RecordError(f"`weights` has none for the groups {', '.join(missing)}")
    total = sum(weights[group] for group in groups)
    return [weights[group] * len(groups) / total for group in groups]
