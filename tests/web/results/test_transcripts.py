"""An evaluation shows how its sample was generated as a conversation, to those who may read it; never as HTML."""

import io
import json
import re
import tarfile
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.models import Evaluation, Submission
from problems.models import Release
from tests import factories
from tests.api import calls
from tests.factories import Cast
from tests.markup import markup
from tests.web.submissions.test_rollouts import CODE, generated, publish_code

HOSTILE = "<script>alert(1)</script>"
CALL = {"function": {"name": "make", "arguments": "-j"}}
MESSAGES = [
    {"role": "system", "content": "be brief"}, {"role": "user", "content": f"the task {HOSTILE}"},
    {"role": "assistant", "content": "thinking aloud", "tool_calls": [CALL]},
    {"role": "tool", "content": "tool output"}, {"role": "assistant", "content": "final reply"},
]  # fmt: skip
TURNS = [{"prompt_tokens": 1234, "completion_tokens": 56, "seconds": 65}, {"completion_tokens": 7, "chosen": True}]
WORDS = ("be brief", "thinking aloud", "[calls make] -j", "tool output", "final reply")


@pytest.fixture
def stored(db: Any, cast: Cast) -> Submission:
    made = factories.release()
    factories.offer(made)
    return generated(cast.entrant, made, 1, messages=MESSAGES, turns=TURNS)


def first(stored: Submission) -> Evaluation:
    return stored.evaluations.order_by("problem__position").first()


def page(client: Client, stored: Submission, query: str = "") -> str:
    return markup(client.get(first(stored).get_absolute_url() + query))


@pytest.mark.parametrize(
    ("who", "publishes", "is_public", "reads"),
    [
        (None, False, False, False), (None, True, False, False), ("stranger", True, False, False),
        (None, False, True, False), (None, True, True, True), ("stranger", True, True, True),
        ("owner", False, False, True), ("teammate", False, False, True), ("organiser", False, False, True),
    ],
)  # fmt: skip
def test_a_stranger_reads_it_once_entrant_and_release_publish_it(
    client: Client, cast: Cast, stored: Submission, who: str | None, publishes: bool, is_public: bool, reads: bool
) -> None:
    if publishes:
        publish_code(cast)
    Release.objects.update(transcripts_are_public=is_public)
    if who:
        client.force_login(getattr(cast, who))
    shown = page(client, stored)
    assert [words in shown for words in WORDS] == [reads] * len(WORDS)
    assert ("keeps transcripts private" in shown) == (publishes and not is_public)


def test_turns_are_folded_and_have_tokens_and_time(client: Client, cast: Cast, stored: Submission) -> None:
    client.force_login(cast.owner)
    shown = page(client, stored)
    assert re.search(r"2 turns, 1,234 tokens in, 63(\.0)? tokens out, 1 min 5 s\.", shown)
    turn = r'<details id="turn-1"><summary>Turn 1 · 1,234 tokens in, 56(\.0)? out · 1 min 5 s</summary>'
    assert re.search(turn, shown)
    assert "· the solution" in shown.split('id="turn-2"')[1]
    assert HOSTILE not in shown
    assert "&lt;script&gt;alert(1)" in shown


def test_a_search_opens_the_turns_that_have_the_words(client: Client, cast: Cast, stored: Submission) -> None:
    client.force_login(cast.owner)
    shown = page(client, stored, "?q=TOOL+output")
    assert "1 place." in shown
    assert "<mark>tool output</mark>" in shown
    assert '<details id="turn-2" open>' in shown
    assert '<details id="turn-1">' in shown
    hostile = page(client, stored, "?q=<script>")
    assert "<mark>&lt;script&gt;</mark>alert" in hostile
    assert "<script>alert" not in hostile


def _record(content: bytes) -> dict[str, Any]:
    with tarfile.open(fileobj=io.BytesIO(content)) as pack:
        return json.loads(pack.extractfile("solutions.jsonl").read())  # type: ignore[union-attr]


def test_downloads_leave_out_a_private_transcript_and_name_the_digest_of_what_they_give(
    client: Client, cast: Cast, stored: Submission
) -> None:
    publish_code(cast)
    one = first(stored)
    for content in (
        calls.get(f"evaluations/{one.pk}/solution.tar.gz", cast.stranger).content,
        client.get(reverse("evaluation_solution", args=[one.pk])).content,
    ):
        assert _record(content).keys() == {"schema_version", "type", "task_id", "files"}
    whole = _record(calls.get(f"evaluations/{one.pk}/solution.tar.gz", cast.owner).content)
    assert whole["messages"] == MESSAGES
    digests = {
        who: calls.get(f"evaluations/{one.pk}", getattr(cast, who)).json()["reproduce"]["solution_sha256"]
        for who in ("stranger", "owner", "organiser")
    }
    assert digests["owner"] == digests["organiser"] == one.sample.solution_sha256
    assert digests["stranger"] != one.sample.solution_sha256
    assert CODE in json.dumps(whole)


def test_a_board_leads_to_a_transcript_in_two_clicks(client: Client, cast: Cast, stored: Submission) -> None:
    track = stored.tracks.get()
    factories.rank(stored.release, track)
    client.force_login(cast.organiser)
    board = markup(client.get(reverse("board", args=[stored.release.slug])))
    (samples,) = re.findall(r'<a href="([^"]+)" aria-label="Samples of [^"]+">', board)
    matrix = markup(client.get(samples))
    assert f'href="{first(stored).get_absolute_url()}"' in matrix
    assert "thinking aloud" in page(client, stored)
