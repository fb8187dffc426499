"""A row of `results.jsonl`, the file of verifiers 0.1: one object for each rollout, with columns."""

import json
from collections.abc import Mapping
from typing import Any

from problems.formats.verifiers.rollouts import SavedRollout, last_text, number, shortened

_MODEL = frozenset({"assistant"})
_LENGTH_STOPS = frozenset({"max_tokens", "max_output_tokens", "max_total_tokens", "context_length"})


def is_row(data: Mapping[str, Any]) -> bool:
    return "completion" in data


def rollout_of_row(data: Mapping[str, Any], line: int) -> SavedRollout:
    """Read a row of 0.1.5 (`id`), of 0.1.6 and later (`example_id`), or of 0.1.9 and later (with `error`)."""
    completion = data.get("completion")
    reply = last_text(completion, _MODEL)
    stated = data.get("id")
    cut = data.get("is_truncated") is True and (data.get("stop_condition") in _LENGTH_STOPS or not reply)
    return SavedRollout(
        line=line,
        facts={**data, "info": _info(data.get("info"))},
        prompt=data.get("prompt"),
        completion=completion,
        reply=reply,
        usage=_usage(data.get("token_usage")),
        finish_reason="length" if cut else "",
        reward=number(data.get("reward")),
        stated_id=stated if isinstance(stated, int) and "example_id" not in data else None,
        fault=_fault(data, completion),
    )


def _info(info: Any) -> Mapping[str, Any]:
    """`info`, which some versions write as a text."""
    if isinstance(info, str):
        try:
            info = json.loads(info)
        except (ValueError, RecursionError):
            return {}
    return info if isinstance(info, Mapping) else {}


def _fault(data: Mapping[str, Any], completion: Any) -> str:
    error = data.get("error")
    if error:
        said = error.get("error_chain_str") or error.get("error") if isinstance(error, Mapping) else error
        return shortened(said or "an error that is not described")
    return "" if completion else "the row has no completion"


def _usage(usage: Any) -> dict[str, Any]:
    """The tokens, which these versions keep as floating-point numbers."""
    found = usage if isinstance(usage, Mapping) else {}
    counts = {key: number(found.get(key)) for key in ("input_tokens", "output_tokens")}
    return {key: int(value) for key, value in counts.items() if value is not None and 0 <= value < 1e12}
