"""Reads what a pack's metadata declares of its generation: model, host, parameters, usage and time. Never raises."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

MAX_TOKENS = 10**12
LEAST_COST_USD, MAX_COST_USD = 1e-6, 1e7
"""Bounds of a cost that is not 0."""
_HOST = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?", re.ASCII)
_NO_HOST = "should be a host, for example api.example.org"
_NESTED = frozenset({"parameters", "usage", "agentic"})


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("should have no control characters")
    return text


def _host(text: str) -> str:
    """The host and port of an address. User names, passwords, paths and queries are left out."""
    try:
        parts = urlsplit(text if "//" in text else f"//{text}")
    except ValueError:
        raise ValueError(_NO_HOST) from None
    host = parts.netloc.rpartition("@")[2]
    if not _HOST.fullmatch(host) or "@" in parts.path + parts.query + parts.fragment:
        raise ValueError(_NO_HOST)
    return host


def _utc(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError
        return moment.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        raise ValueError("should be a time with its zone, for example 2026-01-31T12:00:00+00:00") from None


def _payable(cost: float) -> float:
    if 0 < cost < LEAST_COST_USD:
        raise ValueError(f"should be 0 or at least {LEAST_COST_USD:.6f}")
    return cost


Words = Annotated[str, Field(max_length=200), AfterValidator(_printable)]
ShortWords = Annotated[str, Field(max_length=40), AfterValidator(_printable)]
Host = Annotated[str, Field(max_length=300), AfterValidator(_host)]
Moment = Annotated[str, Field(max_length=40), AfterValidator(_utc)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=MAX_TOKENS)]
Number = Annotated[FiniteFloat, Field(ge=-1e6, le=1e6)]


class _Declared(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class Parameters(_Declared):
    """Sampling parameters; None where the endpoint's default was used."""

    temperature: Number | None = None
    top_p: Number | None = None
    max_tokens: Count | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    reasoning_effort: ShortWords | None = None
    thinking: bool | None = None


class Usage(_Declared):
    """Totals over the whole pack; `cost` in US dollars. None: not known."""

    requests: Count | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cost: Annotated[FiniteFloat, Field(ge=0, le=MAX_COST_USD), AfterValidator(_payable)] | None = None
    seconds_median: Annotated[FiniteFloat, Field(ge=0, le=1e6)] | None = None
    """Seconds of one reply."""

    @property
    def tokens(self) -> int | None:
        """Prompts and replies together; None unless both are known."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens


class Agentic(_Declared):
    """Facts of a run in which a model saw the outcome of its replies."""

    most_turns: Annotated[int, Field(ge=1, le=1000)] | None = None


class Generation(_Declared):
    """The key `generation` of a pack's metadata, as `podium generate` writes it. Empty values: not declared."""

    model: Words = ""
    models_reported: Annotated[list[Words], Field(max_length=10)] = Field(default_factory=list)
    """The names that the endpoint gave itself."""
    host: Host = ""
    parameters: Parameters = Field(default_factory=Parameters)
    agentic: Agentic = Field(default_factory=Agentic)
    templates_sha256: Sha256 | None = None
    versions: Annotated[dict[ShortWords, ShortWords], Field(max_length=10)] = Field(default_factory=dict)
    usage: Usage = Field(default_factory=Usage)
    first_reply: Moment | None = None
    last_reply: Moment | None = None

    def to_json(self) -> dict[str, Any]:
        """The declared keys; `{}` if there is none."""
        data = self.model_dump(exclude_defaults=True)
        return {name: value for name, value in data.items() if value != {}}


def read_generation(data: Any) -> tuple[Generation, list[str]]:
    """Read any JSON value. Also returns a sentence on each known key whose value is left out.

    Unknown keys are left out without a word; null and "" mean that a key is not declared.
    """
    if data is None:
        return Generation(), []
    if not isinstance(data, dict):
        return Generation(), ["metadata.json: `generation` is left out: it should be an object."]
    known = _without(data, ())
    try:
        return Generation.model_validate(known), []
    except ValidationError as error:
        faults = {_key(one["loc"]): _why(one["msg"]) for one in error.errors(include_url=False, include_input=False)}
    words = [f"metadata.json: `generation.{'.'.join(key)}` is left out: {why}." for key, why in faults.items()]
    return Generation.model_validate(_without(known, faults)), words


def _key(location: tuple[int | str, ...]) -> tuple[str, ...]:
    """The key that a fault is about; a list or a mapping is left out as a whole."""
    depth = 2 if location[0] in _NESTED else 1
    return tuple(str(part) for part in location[:depth])


def _why(message: str) -> str:
    said = message.removeprefix("Value error, ")
    return f"{said[:1].lower()}{said[1:]}"


def _without(data: Mapping[str, Any], keys: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """The known keys that hold something, less `keys`."""
    left_out = set(keys)
    kept: dict[str, Any] = {}
    for name in Generation.model_fields.keys() & data.keys():
        value = data[name]
        if name in _NESTED and isinstance(value, dict):
            value = {key: one for key, one in value.items() if one not in (None, "") and (name, key) not in left_out}
        if value not in (None, "") and (name,) not in left_out:
            kept[name] = value
    return kept
