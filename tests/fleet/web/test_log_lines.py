"""JSON log lines: what a line about an attempt carries, and what none may."""

import json
import logging
import sys
from typing import Any
from uuid import uuid4

import pytest

from leaderboard.site.redaction import RedactingJsonLines
from runners.agent.ground.errors import MissingSetting
from runners.agent.settings import NodeSettings
from runners.fleet import views
from runners.wire.log_lines import JsonLines, lines_about, note
from tests.fleet.site import Site, WireNode


def line(formatter: logging.Formatter, message: str, *of: object, **more: Any) -> dict[str, Any]:
    record = logging.LogRecord("podium.test", logging.WARNING, __file__, 1, message, of, more.get("exc_info"))
    text = formatter.format(record)
    assert "\n" not in text
    found: dict[str, Any] = json.loads(text)
    return found


def test_a_line_carries_the_evaluation_and_the_attempt_at_hand() -> None:
    attempt = uuid4()
    with lines_about(attempt=attempt, evaluation=None):
        note(evaluation=7)
        found = line(JsonLines(), "it took %d s", 3)
    assert found | {"at": ""} == {
        "at": "", "level": "WARNING", "logger": "podium.test", "message": "it took 3 s", "attempt": str(attempt),
        "evaluation": 7,
    }  # fmt: skip
    assert found["at"].endswith("+00:00")
    assert "attempt" not in line(JsonLines(), "afterwards")


def test_a_traceback_is_one_value_and_tokens_are_left_out() -> None:
    try:
        raise ValueError("pdm_" + "x" * 30)
    except ValueError:
        found = line(RedactingJsonLines(), "refused: feeds/%s", "secret-of-a-feed", exc_info=sys.exc_info())
    assert found["message"] == "refused: feeds/[token]"
    assert "ValueError: [token]" in found["exception"]


@pytest.mark.django_db
def test_lines_of_a_node_s_call_are_about_its_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site.make()
    submission = site.submit({"a/1": ["exit 0"]})
    node = WireNode()
    node.hello()
    work = node.take()
    seen = []

    def take(*_: Any) -> None:
        seen.append(line(JsonLines(), "within"))
        raise views.NodeRefused(409, "cancelled", "no")

    monkeypatch.setattr(views.reports, "take", take)
    assert node.report(work).status_code == 409
    evaluation = submission.evaluations.get().pk
    assert (seen[0]["attempt"], seen[0]["evaluation"]) == (work["attempt"], evaluation)
    assert "attempt" not in line(JsonLines(), "after the call")


def test_an_unknown_format_is_refused() -> None:
    needed = {"PODIUM_SITE_URL": "http://a", "PODIUM_NODE_TOKEN": "t"}
    assert NodeSettings.read({**needed, "PODIUM_LOG_FORMAT": "json"}).log_format == "json"
    with pytest.raises(MissingSetting, match="PODIUM_LOG_FORMAT is 'xml'; use line or json"):
        NodeSettings.read({**needed, "PODIUM_LOG_FORMAT": "xml"})
