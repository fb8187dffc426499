"""The turns of a transcript, read from a record's extra keys: known shapes are understood, others left out."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.spec.rollout import Message
from problems.spec.transcript import MAX_TURNS, TranscriptTurn, declared_alone, transcript_in

CALL = {"function": {"name": "compile", "arguments": "{}"}}
CONVERSATION = [
    {"role": "system", "content": "be brief"}, {"role": "user", "content": "the task"},
    {"role": "assistant", "content": "one moment", "tool_calls": [CALL]},
    {"role": "tool", "content": "it builds"}, {"role": "assistant", "content": "the answer"},
]  # fmt: skip
TURNS = [
    {"prompt_tokens": 10, "completion_tokens": 3, "seconds": 1.5, "verdict": "build_failed", "reason": "no main"},
    {"prompt_tokens": 20, "completion_tokens": 4, "seconds": 2, "chosen": True},
]


def test_each_reply_ends_a_turn_with_tokens_and_time_of_its_own() -> None:
    first, second = transcript_in({"messages": CONVERSATION, "turns": TURNS})
    assert first.asked == (Message("system", "be brief"), Message("user", "the task"))
    assert first.reply == (Message("assistant", "one moment\n[calls compile] {}"),)
    assert (first.prompt_tokens, first.completion_tokens, first.seconds) == (10, 3, 1.5)
    assert (first.verdict, first.reason, first.is_chosen) == ("build_failed", "no main", False)
    assert second.asked == (Message("tool", "it builds"),)
    assert (second.reply[0].text, second.seconds, second.is_chosen) == ("the answer", 2.0, True)


def test_a_prompt_and_its_reply_are_one_turn_with_the_records_tokens() -> None:
    usage = {"input_tokens": 7, "output_tokens": 2}
    (turn,) = transcript_in({"prompt": "the task", "completion": "the answer", "usage": usage})
    assert turn.messages == [Message("user", "the task"), Message("assistant", "the answer")]
    assert (turn.prompt_tokens, turn.completion_tokens, turn.seconds) == (7, 2, None)


def test_turns_without_messages_keep_their_facts() -> None:
    turns = transcript_in({"turns": TURNS})
    assert [(one.messages, one.completion_tokens) for one in turns] == [([], 3), ([], 4)]


def test_a_question_without_a_reply_is_a_turn() -> None:
    assert transcript_in({"prompt": "the task"}) == [TranscriptTurn((Message("user", "the task"),))]


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), True, "3", 10**9, None])
def test_a_time_that_is_none_is_left_out(seconds: Any) -> None:
    (turn,) = transcript_in({"turns": [{"seconds": seconds, "completion_tokens": True, "verdict": 3}]})
    assert (turn.seconds, turn.completion_tokens, turn.verdict) == (None, None, "")


def test_the_number_of_turns_is_bounded() -> None:
    messages = [{"role": "assistant", "content": "x"}] * (MAX_TURNS + 5)
    assert len(transcript_in({"messages": messages, "turns": [{}] * (MAX_TURNS + 9)})) == MAX_TURNS


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["messages", "turns", "prompt", "completion", "usage"]), VALUES))
def test_nothing_that_a_record_may_hold_raises(extra: dict[str, Any]) -> None:
    for turn in transcript_in(extra):
        assert "\0" not in "".join(one.text for one in turn.messages)


def test_a_record_without_its_transcript_keeps_the_solution() -> None:
    own = {"schema_version": 1, "type": "file", "task_id": "a/1", "files": [{"path": "a.sh", "content": "exit 0"}]}
    record = json.dumps(own).encode() + b"\n"
    assert declared_alone(record) == record
    with_more = json.dumps(own | {"messages": CONVERSATION, "trajectory": "secret"}).encode()
    assert json.loads(declared_alone(with_more)) == own
    assert declared_alone(b"{broken") == b"{broken"
