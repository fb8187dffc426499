"""One chat request to an OpenAI-compatible endpoint, and the kinds of failure that it may end in."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
_WAITING = frozenset({408, 409, 425, 429})
_HOPELESS = frozenset({401, 403, 404})


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
class Parameters:
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

    def __init__(self, base_url: str, key: str, parameters: Parameters, timeout_seconds: float) -> None:
        self._parameters = parameters
        self._client = openai.OpenAI(
            base_url=base_url, api_key=key or "none", timeout=timeout_seconds, max_retries=0
        )  # our own retries tell the user, count, and let all threads wait together

    def ask(self, messages: Sequence[Message], sample: int) -> Reply:
        """Ask once. Raises MayRetry, RequestRefused, and CannotGenerate where every request would fail."""
        try:
            create: Any = self._client.chat.completions.create
            answer = create(messages=list(messages), **self._parameters.sent(sample))
        except openai.APIStatusError as error:
            raise _of_status(error) from error
        except openai.APIConnectionError as error:  # timeouts too
            raise MayRetry(f"{type(error).__name__}: {error.__cause__ or error}") from error
        except (openai.APIError, ValueError) as error:  # a body that is no JSON, or a stream that was cut
            raise MayRetry(f"the endpoint's answer cannot be read: {type(error).__name__}: {error}"[:300]) from error
        return _reply(answer)


def _of_status(error: openai.APIStatusError) -> MayRetry | RequestRefused | CannotGenerate:
    status, words = error.status_code, f"HTTP {error.status_code}: {error.message}"[:400]
    if status in _HOPELESS:
        return CannotGenerate(f"the endpoint refuses every request: {words}")
    if status in _WAITING or status >= 500:
        return MayRetry(words, _wait_seconds(error.response.headers.get("retry-after")))
    return RequestRefused(words)


def _wait_seconds(header: str | None) -> float | None:
    try:
        return max(float(header or ""), 0.0)
    except ValueError:
        return None


def _reply(answer: Any) -> Reply:
    """Read an answer as tolerantly as endpoints differ. Raises MayRetry where it has no choice of a known shape."""
    choices = getattr(answer, "choices", None)
    message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    if message is None or not isinstance(choices, list):
        raise MayRetry("the endpoint's answer holds no message")
    usage = getattr(answer, "usage", None)
    return Reply(
        text=_text(getattr(message, "content", None)),
        finish_reason=str(getattr(choices[0], "finish_reason", "") or ""),
        refusal=str(getattr(message, "refusal", "") or ""),
        model=str(getattr(answer, "model", "") or ""),
        prompt_tokens=int(getattr(usage, "prompt_tokens", 0) or 0),
        completion_tokens=int(getattr(usage, "completion_tokens", 0) or 0),
        reasoning=str(getattr(message, "reasoning_content", "") or getattr(message, "reasoning", "") or ""),
    )


def _text(content: Any) -> str:
    """The content, which some endpoints give as parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
