"""Logs come inline or from blobs, plain or compressed; a page shows their beginning, the link all of it."""

import gzip
from typing import Any

import pytest
from django.urls import reverse

from leaderboard import blobs
from leaderboard.results import logs
from runners.wire.protocol import BlobRef, LogText, StepReport
from tests import factories
from tests.factories import Cast
from tests.markup import markup

LONG = "x" * (logs.SHOWN_BYTES + 5000) + "THE END"


def _stored(content: bytes) -> dict[str, Any]:
    return {"text": "", "blob": {"sha256": blobs.store().put(content), "size_bytes": len(content)}}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_long_log_is_read_whole_or_from_its_beginning(pack: Any) -> None:
    log = _stored(pack(LONG.encode()))
    assert logs.log_text(log) == LONG
    assert logs.log_text(log, 100) == "x" * 100


def test_a_log_that_is_gone_says_so() -> None:
    blobs.store().put(b"another log")
    assert logs.log_text({"blob": {"sha256": "0" * 64}}) == "The log is no longer kept."


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert logs.log_text(_stored(b"ok \xff\xfe")) == "ok \ufffd\ufffd"


def test_the_page_cuts_a_long_log_and_links_to_all_of_it(client: Any, cast: Cast) -> None:
    sha256 = blobs.store().put(LONG.encode())
    step = StepReport(name="build", exit_code=1, log=LogText(blob=BlobRef(sha256=sha256, size_bytes=len(LONG))))
    made = factories.release(n_problems=1)
    stored = factories.judged_submission(
        cast.entrant, made, factories.offer(made), lambda _: factories.report().model_copy(update={"steps": [step]})
    )
    client.force_login(cast.owner)
    pk = stored.evaluations.first().pk
    page = markup(client.get(reverse("evaluation", args=[pk])))
    assert "Only the beginning is shown" in page
    assert "THE END" not in page
    whole = client.get(reverse("evaluation_log", args=[pk, "build"]))
    assert markup(whole) == LONG
    assert whole["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"timed_out": True, "signal": 9}, "timed out"),
        ({"memory_exceeded": True, "signal": 9}, "memory exceeded"),
        ({"signal": 11}, "signal 11"),
        ({"exit_code": 3}, "exit 3"),
        ({}, "not run"),
    ],
)
@pytest.mark.parametrize("has_passed", [False, True])
def test_how_a_step_ended(facts: dict[str, Any], words: str, has_passed: bool) -> None:
    assert logs._ending({"name": "test"} | facts, has_passed=has_passed) == words
