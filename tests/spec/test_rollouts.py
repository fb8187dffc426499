"""How a solution was generated, read from its record's extra keys: known shapes are understood, others left out."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.spec.rollout import Message, Rollout, as_text, rollout_in
from problems.spec.solution import parse_solution

ASKED, ANSWERED = [Message("user", "the task")], [Message("assistant", "the answer")]
CONVERSATION = [{"role": "user", "content": "the task"}, {"role": "assistant", "content": "the answer"}]


@pytest.mark.parametrize(
    ("extra", "prompt", "reply"),
    [
        ({"prompt": "the task", "completion": "the answer"}, [Message("", "the task")], [Message("", "the answer")]),
        ({"prompt": CONVERSATION[:1], "completion": CONVERSATION[1:]}, ASKED, ANSWERED),
        ({"prompt": CONVERSATION[0], "response": CONVERSATION[1]}, ASKED, ANSWERED),
        ({"messages": CONVERSATION}, ASKED, ANSWERED),
        ({"messages": CONVERSATION[:1], "reply": "the answer"}, ASKED, [Message("", "the answer")]),
        ({"prompt": "the task", "messages": CONVERSATION}, [Message("", "the task")], ANSWERED),
        (
            {"system_prompt": "be brief", "prompt": "the task", "generated_completion": "the answer"},
            [Message("system", "be brief"), Message("", "the task")],
            [Message("", "the answer")],
        ),
    ],
)
def test_prompt_and_reply_are_read_in_each_shape(
    extra: dict[str, Any], prompt: list[Message], reply: list[Message]
) -> None:
    assert rollout_in(extra) == Rollout(prompt, reply)


def test_a_conversation_of_several_turns_replies_after_its_last_question() -> None:
    turns = [{"role": role, "content": text} for role, text in [
        ("system", "be brief"), ("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four"),
        ("tool", "five"), ("assistant", "six"),
    ]]  # fmt: skip
    found = rollout_in({"messages": turns})
    assert [one.text for one in found.prompt] == ["be brief", "one", "two", "three"]
    assert [one.text for one in found.reply] == ["four", "five", "six"]


def test_a_message_may_have_parts_and_call_tools() -> None:
    call = {"function": {"name": "compile", "arguments": '{"flags": "-O3"}'}}
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": "https://x"}, "and say", 7]
    found = rollout_in({"completion": [{"role": "assistant", "content": parts, "tool_calls": [call, 3]}]})
    assert found.reply == [Message("assistant", 'see\n[image_url]\nand say\n[calls compile] {"flags": "-O3"}')]


def test_tokens_are_read_where_they_are_counts() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 0, "total_tokens": -1, "reasoning_tokens": True,
             "output_tokens": 1e9, "input_tokens": 10**30, "cost": 3}  # fmt: skip
    assert rollout_in({"usage": usage}).usage == {"prompt_tokens": 12, "completion_tokens": 0}


@pytest.mark.parametrize("value", [
    None, 7, 3.5, True, {}, [], "", [[]], [None, 3, {}, []], {"role": "user"}, {"role": 3, "content": {"text": "x"}},
    [{"role": ["user"], "content": [None, {"text": 4}, {"type": {}}]}], {"content": {"deep": [1]}},
    [{"content": None, "tool_calls": {"function": "f"}}], [{"tool_calls": [{"function": {"name": 4}}]}],
])  # fmt: skip
def test_what_has_another_shape_is_left_out(value: Any) -> None:
    names = ("prompt", "completion", "messages", "usage", "reply", "response", "system_prompt")
    assert rollout_in(dict.fromkeys(names, value)) == Rollout([], [])


def test_texts_that_no_page_could_carry_are_mended() -> None:
    found = rollout_in({"prompt": "a\ud800b\0c", "completion": [{"role": "r\udfff" * 50, "content": "x"}]})
    assert found.prompt == [Message("", "a?bc")]
    assert len(found.reply[0].role) == 40
    assert as_text([*found.prompt, *found.reply]).encode()


def test_huge_conversations_are_read() -> None:
    found = rollout_in({"prompt": "x" * 8_000_000, "completion": [{"role": "user", "content": "y"}] * 100_000})
    assert (len(found.prompt[0].text), len(found.reply)) == (8_000_000, 100_000)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "text", "type", "tool_calls", "function", "name", "arguments", "usage"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
_keys = st.sampled_from(["prompt", "messages", "completion", "reply", "system_prompt", "usage"])


@given(st.dictionaries(_keys, _json))
def test_no_record_breaks_the_reading(extra: dict[str, Any]) -> None:
    found = rollout_in(extra)
    assert as_text([*found.prompt, *found.reply]).encode() is not None
    assert all(one.text for one in [*found.prompt, *found.reply])


def test_a_solutions_own_keys_are_no_rollout() -> None:
    line = {"type": "file", "task_id": "a", "files": [], "completion": "the answer"}
    assert rollout_in(parse_solution(json.dumps(line)).model_extra) == Rollout([], [Message("", "the answer")])
