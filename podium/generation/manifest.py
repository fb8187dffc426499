"""The manifest of a generated pack: model, host, parameters, templates, versions, usage and time."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from podium.generation.endpoint import REQUEST_REFUSED, EndpointParameters
from podium.generation.store import KeptReply


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens; None: not known."""

    per_million_in: float | None = None
    per_million_out: float | None = None

    def cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        if self.per_million_in is None or self.per_million_out is None:
            return None
        if prompt_tokens is None or completion_tokens is None:
            return None
        return round((prompt_tokens * self.per_million_in + completion_tokens * self.per_million_out) / 1e6, 6)


@dataclass(frozen=True)
class Settings:
    """The part of a manifest that is known before the first request."""

    release: str
    base_url: str
    parameters: EndpointParameters
    samples: int
    templates_sha256: str
    rag: Sequence[str]
    prices: Prices
    turns: int = 1
    """Most replies of a sample."""


def manifest_of(
    settings: Settings, kept: Sequence[KeptReply], reply_problems: Mapping[str, int], agentic: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The manifest. `kept` are the replies of all turns; `reply_problems` counts what is wrong with samples."""
    # an endpoint that tells no tokens of a reply leaves 0, and no prompt is empty: the totals are then not known
    told = all(one.reply.prompt_tokens or one.reply.finish_reason == REQUEST_REFUSED for one in kept)
    tokens_in = sum(one.reply.prompt_tokens for one in kept) if told else None
    tokens_out = sum(one.reply.completion_tokens for one in kept) if told else None
    parts = urlsplit(settings.base_url)
    return {
        "release": settings.release,
        "model": settings.parameters.model,
        "models_reported": sorted({one.reply.model for one in kept if one.reply.model}),
        "host": f"{parts.hostname}{f':{parts.port}' if parts.port else ''}",
        "parameters": {name: value for name, value in asdict(settings.parameters).items() if value is not None},
        "samples": settings.samples,
        "templates_sha256": settings.templates_sha256,
        **({"agentic": dict(agentic)} if agentic else {}),
        "rag": [_without_login(one) for one in settings.rag],
        "versions": {name: version(name) for name in ("podium", "openai")},
        "usage": {
            "requests": len(kept),
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "cost": settings.prices.cost(tokens_in, tokens_out),
            "seconds_median": round(median(one.seconds for one in kept), 3) if kept else None,
        },
        "reply_problems": dict(reply_problems),
        "first_reply": min((one.asked_at for one in kept), default=""),
        "last_reply": max((one.asked_at for one in kept), default=""),
    }


def usage_words(usage: Mapping[str, Any]) -> str:
    """`100 tokens in, 20 out, cost US$ 0.5`, as far as it is known."""
    tokens = f"{usage['prompt_tokens']} tokens in, {usage['completion_tokens']} out"
    known = "the endpoint does not tell all tokens" if usage["prompt_tokens"] is None else tokens
    return known if usage["cost"] is None else f"{known}, cost US$ {usage['cost']:g}"


def _without_login(source: str) -> str:
    """A file, or the address of a service without user, password, query and fragment."""
    if not source.startswith(("http://", "https://")):
        return source
    parts = urlsplit(source)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
