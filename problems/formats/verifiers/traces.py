"""A line of `traces.jsonl`, the file of `verifiers.v1`: an episode with the traces of its agents, or one bare trace."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from problems.formats.verifiers.rollouts import SavedRollout, last_text, number, shortened

_MODEL = frozenset({"assistant"})
_SCORING = "TaskError"


def is_episode(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("traces"), list) or isinstance(data.get("nodes"), list)


def rollouts_of_line(data: Mapping[str, Any], line: int) -> Iterator[SavedRollout]:
    """The rollouts of the agents that are trained or evaluated; judges and other frozen agents are passed over.

    An episode without a trace is one rollout with a fault.
    """
    if "traces" not in data:
        yield _rollout(data, line, [])
        return
    traces = [one for one in data["traces"] if isinstance(one, Mapping)]
    answering = [one for one in traces if _mapping(one.get("agent")).get("trainable") is not False]
    for trace in answering:
        yield _rollout(trace, line, _errors(data))
    if not answering:
        facts = _mapping(_mapping(data.get("task")).get("data"))
        said = _said(_errors(data)) or "the episode has no trace"
        yield SavedRollout(line, facts, facts.get("prompt"), [], "", fault=said)


def _rollout(trace: Mapping[str, Any], line: int, of_episode: Sequence[Mapping[str, Any]]) -> SavedRollout:
    facts = _mapping(_mapping(trace.get("task")).get("data"))
    prompt, completion = _conversation(trace)
    reply = last_text(completion, _MODEL)
    fault, unscored = _failure(trace, reply, of_episode)
    return SavedRollout(
        line=line,
        facts=facts,
        prompt=prompt or facts.get("prompt"),
        completion=completion,
        reply=reply,
        usage=_usage(trace),
        finish_reason=_finish_reason(trace),
        reward=_reward(trace),
        fault=fault,
        unscored=unscored,
    )


def _failure(trace: Mapping[str, Any], reply: str, of_episode: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """A fault, and what failed while a complete reply was scored. Podium grades the reply anew, so the latter is none.

    Errors of earlier attempts stay in a trace that succeeded later, which says so by `ok`; versions without it have
    errors if and only if the last attempt failed.
    """
    errors = _errors(trace)
    if trace.get("ok") is True or ("ok" not in trace and not errors):
        return ("", "") if reply or trace.get("nodes") else ("the trace has no message", "")
    last = errors[-1] if errors else _mapping(None)
    said = _said(errors or of_episode) or _stopped(trace)
    if reply and last.get("type") == _SCORING and " scoring" in str(last.get("message", "")):
        return "", said
    return said, ""


def _stopped(trace: Mapping[str, Any]) -> str:
    if trace.get("is_timeout"):
        return "a deadline of the evaluation expired"
    return f"it ended without success ({shortened(trace.get('stop_condition') or 'no reason is given')})"


def _errors(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    errors = data.get("errors")
    return [one for one in errors if isinstance(one, Mapping)] if isinstance(errors, list) else []


def _said(errors: Sequence[Mapping[str, Any]]) -> str:
    last = errors[-1] if errors else None
    return shortened(f"{last.get('type', 'Error')}: {last.get('message', '')}") if last else ""


def _conversation(trace: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """The messages of the last branch: those before the model's first, and the others."""
    nodes = [_mapping(one) for one in trace.get("nodes") or []]
    path = _last_branch(nodes)
    first = next((place for place, node in enumerate(path) if node.get("sampled")), len(path))
    messages = [_message(node.get("message")) for node in path]
    return messages[:first], messages[first:]


def _last_branch(nodes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The path from a root to the last node that the model wrote. A parent stands before its child, so there is no
    circle."""
    place = next((index for index in reversed(range(len(nodes))) if nodes[index].get("sampled")), len(nodes) - 1)
    path = []
    while place >= 0:
        path.append(nodes[place])
        parent = nodes[place].get("parent")
        place = parent if isinstance(parent, int) and 0 <= parent < place else -1
    return path[::-1]


def _message(message: Any) -> dict[str, Any]:
    """The message with its tool calls in the shape of the other versions, without the provider's own state."""
    found = {key: value for key, value in _mapping(message).items() if key != "provider_state" and value is not None}
    calls = found.get("tool_calls")
    if isinstance(calls, list):
        found["tool_calls"] = [{"function": one} for one in calls if isinstance(one, Mapping)]
    return found


def _finish_reason(trace: Mapping[str, Any]) -> str:
    calls = [_mapping(one) for one in trace.get("calls") or []]
    last = next((one for one in reversed(calls) if not one.get("error")), _mapping(None))
    return str(last.get("finish_reason") or "")


def _usage(trace: Mapping[str, Any]) -> dict[str, int]:
    """The tokens of all the model's calls. What was read from a cache counts as part of the prompt."""
    found = [_mapping(_mapping(one).get("usage")) for one in trace.get("calls") or []]
    total: dict[str, int] = {}
    for usage in found:
        for key, to in _TOKENS.items():
            count = usage.get(key)
            if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 10**12:
                total[to] = total.get(to, 0) + count
    return total


_TOKENS = {
    "prompt_tokens": "prompt_tokens",
    "cached_input_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "reasoning_tokens": "reasoning_tokens",
}


def _reward(trace: Mapping[str, Any]) -> float | None:
    """The weighted sum of the rewards that were given."""
    values = [_weighted(one) for one in _mapping(trace.get("rewards")).values()]
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _weighted(reward: Any) -> float | None:
    if not isinstance(reward, Mapping):
        return number(reward)
    score, weight = number(reward.get("score")), number(reward.get("weight"))
    return None if score is None else score * (1.0 if weight is None else weight)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
