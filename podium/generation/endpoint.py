"""One chat request to an OpenAI-compatible endpoint, and the kinds of failure that it may end in."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import openai

from podium.generation.errors import CannotGenerate, MayRetry, RequestRefused
from podium.generation.prompts import Message
from podium.remote.site_config import LOCAL_HOSTS

KEYS: Mapping[str, str] = {
    "api.openai.com": "OPENAI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "integrate.api.nvidia.com": "NEMO_API_KEY",
}
"""The variable with the key of each known host. No key goes to another host."""
DEFAULT_URL = "https://api.openai.com/v1"
REQUEST_REFUSED = "request_refused"
"""Our own reason of a reply that stands for a request which the endpoint refused; no endpoint gives it."""
OPENAI_HOST = "api.openai.com"
"""The only host that is told the organisation and project of OPENAI_ORG_ID and OPENAI_PROJECT_ID."""
_WAITING = frozenset({408, 409, 425, 429})
_HOPELESS = frozenset({401, 403, 404})
_TOO_LONG = frozenset({413, 414})
_OF_THE_PROMPT = (
    "context",
    "too long",
    "too large",
    "too many tokens",
    "maximum length",
    "content_filter",
    "content policy",
)
MOST_TOKENS = 10**12
"""A count from here on is nonsense, and some are too large for a float."""
_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})


def key_for(base_url: str, named: str | None) -> str:
    """The API key for an endpoint: from the variable `named`, else the host's own. Raises CannotGenerate."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not host:
        raise CannotGenerate(f"--base-url {base_url!r} is no address; give one as https://host/v1")
    variable = named or KEYS.get(host)
    key = os.environ.get(variable, "") if variable else ""
    if named and not key:
        raise CannotGenerate(f"--api-key-env {named}: the environment has no such variable, or it is empty")
    if variable and not key:
        raise CannotGenerate(f"{host} needs a key: set {variable}, or name another variable with --api-key-env")
    if key and parts.scheme == "http" and host not in LOCAL_HOSTS:
        raise CannotGenerate(f"{base_url} would get the key unencrypted; use https, or leave the key out")
    return key


@dataclass(frozen=True)
class EndpointParameters:
    """The model and its sampling parameters. A parameter that is None is not sent: the endpoint uses its default."""

    model: str
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    thinking: bool | None = None

    def sent(self, sample: int) -> dict[str, Any]:
        """The fields of a request. Each sample of a problem has a seed of its own."""
        names = ("model", "temperature", "top_p", "max_tokens", "reasoning_effort")
        fields = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.seed is not None:
            fields["seed"] = self.seed + sample
        if self.thinking is not None:
            options = {"enable_thinking": self.thinking, "thinking": self.thinking}
            fields["extra_body"] = {"chat_template_kwargs": options}
        return fields


@dataclass(frozen=True)
class Reply:
    """A model's reply; token counts are 0 where the endpoint does not tell them."""

    text: str
    finish_reason: str = ""
    refusal: str = ""
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning: str = field(default="", repr=False)


class Endpoint:
    """A client of one endpoint. Several threads may ask at once."""

    def __init__(self, base_url: str, key: str, parameters: EndpointParameters, timeout_seconds: float) -> None:
        self._parameters = parameters
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=key or "none",
            timeout=timeout_seconds,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(follow_redirects=False),
        )  # fmt: skip - our own retries tell the user, count, and let all threads wait together
        if urlsplit(base_url).hostname != OPENAI_HOST:
            self._client.organization = self._client.project = None

    def ask(self, messages: Sequence[Message], sample: int) -> Reply:
        """Ask once. Raises MayRetry, RequestRefused, and CannotGenerate where every request would fail."""
        try:
            create: Any = self._client.chat.completions.create
            answer = create(messages=list(messages), **self._parameters.sent(sample))
        except openai.APIStatusError as error:
            raise _of_status(error) from error
        except openai.APIConnectionError as error:  # timeouts too
            raise MayRetry(f"{type(error).__name__}: {error.__cause__ or error}") from error
        except (openai.APIError, ValueError, TypeError, AttributeError, RecursionError) as error:
            # a body that is no JSON, is nested too deep or of another shape, or a stream that was cut
            raise MayRetry(f"the endpoint's answer cannot be read: {type(error).__name__}: {error}"[:300]) from error
        return _reply(answer)


def _of_status(error: openai.APIStatusError) -> MayRetry | RequestRefused | CannotGenerate:
    status, words = error.status_code, f"HTTP {error.status_code}: {error.message}"[:400]
    if 300 <= status < 400:
        place = error.response.headers.get("location", "elsewhere")
        return CannotGenerate(
            f"the endpoint redirects to {place[:200]}; give that address as --base-url if you trust it"
        )
    if status in _HOPELESS:
        return CannotGenerate(f"the endpoint refuses every request: {words}")
    if status in _WAITING or status >= 500:
        return MayRetry(words, _wait_seconds(error.response.headers.get("retry-after")))
    said = f"{error.message} {error.code or ''}".lower()
    return RequestRefused(words, is_of_prompt=status in _TOO_LONG or any(one in said for one in _OF_THE_PROMPT))


def _wait_seconds(header: str | None) -> float | None:
    """The seconds of a `Retry-After`, which may be a date; None where it is neither."""
    try:
        seconds = float(header or "")
    except ValueError:
        seconds = _seconds_until(header or "")
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _seconds_until(date: str) -> float:
    try:
        at = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return math.nan
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()


def _reply(answer: Any) -> Reply:
    """Read an answer as tolerantly as endpoints differ. Raises MayRetry where it has no choice of a known shape."""
    choices = _field(answer, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = _field(choice, "message")
    if message is None:
        raise MayRetry("the endpoint's answer holds no message")
    said = message if isinstance(message, str) else _text(_field(message, "content"))
    finish_reason, usage = _words(_field(choice, "finish_reason")), _field(answer, "usage")
    return Reply(
        text=said,
        finish_reason="length" if finish_reason.lower() in _CUT_OFF else finish_reason,
        refusal=_words(_field(message, "refusal")),
        model=_words(_field(answer, "model")),
        prompt_tokens=_count(_field(usage, "prompt_tokens")),
        completion_tokens=_count(_field(usage, "completion_tokens")),
        reasoning=_words(_field(message, "reasoning_content")) or _words(_field(message, "reasoning")),
    )


def _field(value: Any, name: str) -> Any:
    """The field of an object that the client made, or of a dict that it left as it was."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _words(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 < value < MOST_TOKENS else 0


def _text(content: Any) -> str:
    """The content, which some endpoints give as parts."""
    parts = content if isinstance(content, list) else [content]
    said = [part for part in parts if _field(part, "type") not in ("thinking", "reasoning")]
    return "".join(part if isinstance(part, str) else _words(_field(part, "text")) for part in said)
