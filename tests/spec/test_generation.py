"""A pack's declaration of its generation: every JSON value is read, bounded, and never a reason to refuse a pack."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.generation.endpoint import EndpointParameters, Reply
from podium.generation.manifest import Prices, Settings, manifest_of, usage_words
from podium.generation.store import KeptReply
from problems.spec.generation import Generation, read_generation

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner), max_leaves=12
)
KEYS = [*Generation.model_fields, "other"]
INNER = [
    "temperature",
    "seed",
    "thinking",
    "reasoning_effort",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "requests",
]
KEYED = st.dictionaries(st.sampled_from(KEYS), ANY_JSON | st.dictionaries(st.sampled_from(INNER), ANY_JSON))


PRICES = Prices(1.0, 2.0)


def manifest(prices: Prices = PRICES, prompt_tokens: int = 100, **changes: Any) -> dict[str, Any]:
    """As `podium generate` writes it, of two replies."""
    parameters = EndpointParameters("lab/model", temperature=0.5, seed=7, thinking=False)
    fields = {
        "release": "r",
        "base_url": "https://me:secret@api.example.org:8000/v1",
        "samples": 2,
        "rag": [],
    } | changes
    settings = Settings(parameters=parameters, templates_sha256="a" * 64, prices=prices, **fields)
    replies = [Reply("text", model="served", prompt_tokens=one, completion_tokens=10) for one in (100, prompt_tokens)]
    kept = [KeptReply("a/1", n, "", one, f"2026-11-23T12:0{n}:00+00:00", 1.5) for n, one in enumerate(replies)]
    written: dict[str, Any] = json.loads(json.dumps(manifest_of(settings, kept, {}, {"most_turns": 3, "ended": {}})))
    return written


def test_what_podium_generate_writes_is_read_without_a_fault() -> None:
    generation, faults = read_generation(manifest())
    assert faults == []
    assert generation.model == "lab/model"
    assert generation.models_reported == ["served"]
    assert generation.host == "api.example.org:8000"
    assert generation.to_json()["agentic"] == {"most_turns": 3}
    assert generation.to_json()["parameters"] == {"temperature": 0.5, "seed": 7, "thinking": False}
    assert generation.to_json()["usage"] == {
        "requests": 2, "prompt_tokens": 200, "completion_tokens": 20, "cost": 0.00024, "seconds_median": 1.5,
    }  # fmt: skip
    assert (generation.usage.tokens, generation.last_reply) == (220, "2026-11-23T12:01:00+00:00")
    assert "secret" not in repr(generation)


def test_tokens_that_the_endpoint_did_not_tell_are_not_known_rather_than_0() -> None:
    usage = manifest(prompt_tokens=0)["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["cost"]) == (None, None, None)
    assert usage_words(usage) == "the endpoint does not tell all tokens"
    generation, faults = read_generation({"usage": usage})
    assert (generation.usage.tokens, faults) == (None, [])
    assert manifest(Prices(0.0, 0.0))["usage"]["cost"] == 0, "a free model costs 0"
    assert manifest(Prices())["usage"]["cost"] is None


def test_a_manifest_names_a_retrieval_service_without_its_password() -> None:
    sources = ["guide.txt", "https://me:secret@rag.example.org/v1?key=secret#secret"]
    assert manifest(rag=sources)["rag"] == ["guide.txt", "https://rag.example.org/v1"]


@pytest.mark.parametrize(
    ("host", "kept"),
    [
        ("api.example.org", "api.example.org"), ("localhost:8000", "localhost:8000"), ("[::1]:80", "[::1]:80"),
        ("https://api.example.org/v1?key=secret", "api.example.org"),
        ("https://me:secret@api.example.org:8000/v1", "api.example.org:8000"),
        ("me:secret@api.example.org", "api.example.org"),
        ("https://me:sec/ret@api.example.org", ""), ("https://x/?mail=me@secret", ""), ("http://[x", ""), ("a b", ""),
    ],
)  # fmt: skip
def test_of_an_address_the_host_alone_is_kept(host: str, kept: str) -> None:
    generation, faults = read_generation({"host": host})
    assert generation.host == kept
    assert bool(faults) is not bool(kept)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ({"model": 7}, "`generation.model` is left out: input should be a valid string"),
        ({"model": "a\0"}, "`generation.model` is left out: should have no control characters"),
        ({"model": "\u202egnp"}, "`generation.model` is left out: should have no control characters"),
        ({"model": "\ud800"}, "`generation.model` is left out: input should be a valid string"),
        ({"model": "m" * 201}, "`generation.model` is left out: string should have at most 200 characters"),
        ({"models_reported": ["m"] * 11}, "`generation.models_reported` is left out: list should have at most 10"),
        ({"parameters": []}, "`generation.parameters` is left out"),
        ({"parameters": {"temperature": float("nan")}}, "`generation.parameters.temperature` is left out"),
        ({"usage": {"cost": "1"}}, "`generation.usage.cost` is left out: input should be a valid number"),
        ({"usage": {"cost": -1}}, "`generation.usage.cost` is left out: input should be greater than or equal to 0"),
        ({"usage": {"cost": 1e-9}}, "`generation.usage.cost` is left out: should be 0 or at least 0.000001"),
        ({"usage": {"cost": float("inf")}}, "`generation.usage.cost` is left out"),
        ({"usage": {"prompt_tokens": True}}, "`generation.usage.prompt_tokens` is left out"),
        ({"usage": {"prompt_tokens": 10**13}}, "`generation.usage.prompt_tokens` is left out: input should be less"),
        ({"first_reply": "9999-12-31T23:59:59-23:59"}, "`generation.first_reply` is left out: should be a time"),
        ({"first_reply": "2026-01-01T00:00:00"}, "`generation.first_reply` is left out: should be a time"),
        ({"templates_sha256": "a" * 64 + "\n"}, "`generation.templates_sha256` is left out"),
        ([], "`generation` is left out: it should be an object"),
    ],
)
def test_a_value_that_cannot_be_used_is_left_out_with_a_sentence_and_the_rest_is_kept(data: Any, fault: str) -> None:
    whole = {"host": "h.example.org"} | data if isinstance(data, dict) else data
    generation, (said,) = read_generation(whole)
    assert said.startswith(f"metadata.json: {fault}"), said
    assert generation.to_json() == ({"host": "h.example.org"} if isinstance(data, dict) else {})


def test_what_is_not_declared_is_no_fault() -> None:
    for data in (None, {}, {"other": {"api_key": "secret"}}, {"model": "", "host": None, "usage": {"cost": None}}):
        generation, faults = read_generation(data)
        assert (generation.to_json(), faults) == ({}, [])


@given(ANY_JSON | KEYED)
def test_any_json_is_read_and_what_is_kept_is_read_again_without_a_fault(data: Any) -> None:
    generation, faults = read_generation(data)
    kept = generation.to_json()
    assert len(faults) <= 30
    assert len(json.dumps(kept)) < 10_000
    assert "\\ud8" not in json.dumps(kept)
    assert "\\u0000" not in json.dumps(kept)
    assert read_generation(json.loads(json.dumps(kept))) == (generation, [])
