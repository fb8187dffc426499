"""Whatever JSON an endpoint answers with is a sample with its state, a retry or an error in words."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.generation.asked import of_record
from podium.generation.endpoint import Endpoint, EndpointParameters, Reply
from podium.generation.errors import AskFailed, CannotGenerate, MayRetry, RequestRefused
from podium.generation.replies import problem_of, solution_of, without_thoughts
from podium.generation.store import KeptReply, Store
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord
from problems.spec.records import record_from
from tests import packs
from tests.question_records import choice

FILE = "```cpp\n// file: solution.cpp\nint main() {}\n```"
MESSAGES = [{"role": "user", "content": "x"}]
N_SHAPES = 100
LONGEST_WORDS = 500

words = st.one_of(
    st.just(FILE), st.sampled_from(["stop", "length", "", "2015-10-21", "\ud800", "\0", "1e999"]), st.text(max_size=8)
)
numbers = st.one_of(
    st.integers(-(10**20), 10**400), st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([0, -1, 10**4000])
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, words),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["type", "text", "content", "choices", "message", "a"]), inner, max_size=3),
    ),
    max_leaves=6,
)


def _object(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object with any of the fields, or something else in its place."""
    return st.one_of(st.fixed_dictionaries({}, optional=fields), values)


parts = st.lists(_object(type=st.sampled_from(["text", "thinking", "image_url", 3]), text=words), max_size=3)
message = _object(
    content=st.one_of(words, parts, values),
    refusal=values,
    reasoning=values,
    reasoning_content=values,
    tool_calls=values,
)
choices = st.lists(_object(message=message, finish_reason=values, index=values, logprobs=values), max_size=2)
usage = _object(prompt_tokens=values, completion_tokens=values, total_tokens=values)
bodies = _object(choices=st.one_of(choices, values), usage=usage, model=values, error=values, id=values, created=values)
statuses = st.sampled_from([200, 200, 200, 200, 201, 204, 302, 307, 400, 401, 404, 413, 429, 500, 503])
waits = st.one_of(
    st.none(), st.sampled_from(["Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 99 Oct 0 0:0:0 -9999", "nan", "1e999"])
)


ENDPOINT = Endpoint("http://127.0.0.1:1/v1", "", EndpointParameters("m"), 5.0)


def endpoint(answer: Callable[[httpx2.Request], httpx2.Response]) -> Endpoint:
    ENDPOINT._client = openai.OpenAI(
        base_url="http://127.0.0.1:1/v1",
        api_key="none",
        max_retries=0,
        http_client=httpx2.Client(transport=httpx2.MockTransport(answer)),
    )
    return ENDPOINT


def answering(status: int, body: bytes, wait: str | None = None, kind: str = "application/json") -> Endpoint:
    headers = {"Content-Type": kind} | ({"Retry-After": wait} if wait else {})
    return endpoint(lambda _: httpx2.Response(status, content=body, headers=headers))


def check(asked: Endpoint, folder: Path, problem: ProblemRecord) -> None:
    """A reply goes through its file, and makes a record that can be written; all else is an error in words."""
    try:
        reply = asked.ask(MESSAGES, 0)  # type: ignore[arg-type]
    except (AskFailed, CannotGenerate) as error:
        assert 0 < len(str(error)) <= LONGEST_WORDS, str(error)
        return
    assert reply == through_its_file(reply, folder)
    without_thoughts(reply.text).encode()
    made = solution_of(of_record(problem, is_strict=False), reply.text, reply.finish_reason, reply.refusal)
    assert made.files or problem_of(made)
    made.model_dump_json().encode()
    if reply.finish_reason == "length":
        assert not made.files or problem.kind == "choice"


def through_its_file(reply: Reply, folder: Path) -> Reply:
    path = folder / "replies.jsonl"
    path.unlink(missing_ok=True)
    with Store(path) as store:
        store.add(KeptReply("a/1", 0, "d", reply, "now", 0.1))
    again = Store(path).get(("a/1", 0, 0), "d")
    assert again is not None
    return again.reply


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shapes")


CODE = record_from(packs.problem("a/1", solution_path="solution.cpp"), Profile.PODIUM)
QUESTION = record_from(choice(), Profile.PODIUM)


@settings(
    max_examples=N_SHAPES,
    deadline=timedelta(seconds=2),
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(status=statuses, body=bodies, wait=waits, problem=st.sampled_from([CODE, QUESTION]))
def test_a_body_of_any_shape_is_a_sample_or_an_error_in_words(
    folder: Path, status: int, body: Any, wait: str | None, problem: ProblemRecord
) -> None:
    check(answering(status, _json(body), wait), folder, problem)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


BODIES = {
    "nothing": b"", "no JSON": b"<html>busy</html>", "half of it": b'{"choices": [{"mess', "null": b"null",
    "deep": b'{"choices": [{"message": {"content": ' + b"[" * 20_000 + b"]" * 20_000 + b"}}]}",
    "deep usage": b'{"choices": [], "usage": ' + b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"}",
    "deep error": b'{"error": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "a huge integer": b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": ' + b"9" * 5000 + b"}}",
    "bytes that are no UTF-8": b'{"choices": [{"message": {"content": "\xff"}}]}', "NUL": b"\0" * 10,
    "an integer above all floats": b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": '
    + b"9" * 400 + b"}}",
}  # fmt: skip


@pytest.mark.parametrize("kind", ["application/json", "text/html", "text/event-stream"])
@pytest.mark.parametrize("status", [200, 400, 503])
@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_hard_to_read_is_one_too(folder: Path, name: str, status: int, kind: str) -> None:
    check(answering(status, BODIES[name], kind=kind), folder, CODE)


@pytest.mark.parametrize(
    "kind", [httpx2.ReadTimeout, httpx2.RemoteProtocolError, httpx2.TooManyRedirects, httpx2.DecodingError]
)
def test_a_connection_that_breaks_is_tried_again(kind: type[httpx2.RequestError]) -> None:
    def broken(request: httpx2.Request) -> httpx2.Response:
        raise kind("cut", request=request)

    with pytest.raises(MayRetry):
        endpoint(broken).ask(MESSAGES, 0)  # type: ignore[arg-type]


def test_a_refusal_of_the_prompt_is_told_from_another() -> None:
    for message, is_of_prompt in (("the prompt is too long", True), ("unknown parameter", False)):
        with pytest.raises(RequestRefused) as caught:
            answering(400, _json({"error": {"message": message}})).ask(MESSAGES, 0)  # type: ignore[arg-type]
        assert caught.value.is_of_prompt is is_of_prompt
