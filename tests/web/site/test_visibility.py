"""The rights of readers, by the table in the design: each is tried by owner, teammate, stranger and organiser."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard import visibility
from runners.wire.protocol import Verdict
from tests import factories
from tests.factories import Cast
from tests.markup import markup

BUILD, TEST, CODE, REASON = "build log words", "test log words", "solution words", "first failure words"


@pytest.fixture
def judged(cast: Cast) -> Any:
    """A failed submission of alpha on a public release; its pages quote every kind of text."""
    made = factories.release()
    track = factories.offer(made)
    return factories.judged_submission(cast.entrant, made, track, lambda _: factories.report(Verdict.TEST_FAILED))


def _evaluation_text(client: Any, judged: Any, user: Any) -> str:
    client.logout()
    if user:
        client.force_login(user)
    return markup(client.get(judged.evaluations.first().get_absolute_url()))


@pytest.mark.parametrize(
    ("who", "seen"),
    [
        (None, set()),
        ("stranger", set()),
        ("owner", {BUILD, CODE, REASON}),
        ("teammate", {BUILD, CODE, REASON}),
        ("organiser", {BUILD, TEST, CODE, REASON}),
    ],
)
def test_an_evaluation_shows_each_what_is_theirs(
    who: str, seen: set[str], client: Any, cast: Cast, judged: Any
) -> None:
    text = _evaluation_text(client, judged, getattr(cast, who) if who else None)
    assert {words for words in (BUILD, TEST, CODE, REASON) if words in text} == seen
    assert "test failed" in text


def test_published_code_is_everybodys(client: Any, cast: Cast, judged: Any) -> None:
    cast.entrant.publishes_code = True
    cast.entrant.save()
    assert CODE in _evaluation_text(client, judged, None)
    assert client.get(reverse("download_submission", args=[judged.pk])).status_code == 200


@pytest.mark.parametrize(
    ("who", "step", "status"),
    [
        ("owner", "build", 200), ("owner", "test", 404), ("teammate", "build", 200), ("stranger", "build", 404),
        ("organiser", "test", 200), ("organiser", "benchmark", 404),
    ],
)  # fmt: skip
def test_whole_logs_follow_the_same_rule(
    who: str, step: str, status: int, client: Any, cast: Cast, judged: Any
) -> None:
    client.force_login(getattr(cast, who))
    path = reverse("evaluation_log", args=[judged.evaluations.first().pk, step])
    assert client.get(path).status_code == status


def test_results_are_the_teams_own_until_they_are_shown(client: Any, cast: Cast, far_future: Any) -> None:
    made = factories.release(hidden_until=far_future)
    track = factories.offer(made)
    factories.judged_submission(cast.entrant, made, track)
    board = reverse("board", args=[made.slug])
    assert b"Alpha" not in client.get(board).content
    client.force_login(cast.stranger)
    assert b"Alpha" not in client.get(board).content
    assert b"Alpha" not in client.get(reverse("board_csv", args=[made.slug])).content
    assert b"Alpha" not in client.get(reverse("chart", args=[made.slug, "fast-p"])).content
    client.force_login(cast.teammate)
    assert b"Alpha" in client.get(board).content
    type(made).objects.update(hidden_until=timezone.now() - timedelta(seconds=1))
    client.logout()
    assert b"Alpha" in client.get(board).content


def test_held_out_files_and_reference_are_the_organisers(client: Any, cast: Cast) -> None:
    made = factories.release()
    factories.offer(made)
    path = reverse("problem", args=[made.slug, "shell-0"])
    for user in (None, cast.owner):
        if user:
            client.force_login(user)
        text = markup(client.get(path))
        assert "visible context" in text
        assert "echo visible test" in text
        assert "held-out words" not in text
        assert "reference words" not in text
        assert "1 test file" in text
    client.force_login(cast.organiser)
    text = markup(client.get(path))
    assert "held-out words" in text
    assert "reference words" in text


@pytest.mark.parametrize(("stage", "who", "seen"), [
    ("building", "owner", True), ("testing", "owner", False), ("building", "stranger", False),
    ("testing", "organiser", True),
])  # fmt: skip
def test_the_live_tail_is_the_teams_while_it_builds(stage: str, who: str, seen: bool, cast: Cast, judged: Any) -> None:
    assert visibility.may_see_live_tail(getattr(cast, who), judged, stage) is seen


def test_a_draft_is_the_organisers(client: Any, cast: Cast) -> None:
    made = factories.release(publish=False)
    path = reverse("board", args=[made.slug])
    assert client.get(path).status_code == 404
    client.force_login(cast.organiser)
    assert b"Draft" in client.get(path).content


def test_a_skips_reason_is_public_and_a_failures_is_not(cast: Cast, judged: Any) -> None:
    view = visibility.view_of(cast.stranger, judged)
    assert visibility.shown_reason(view, Verdict.SKIPPED, "needs a GPU") == "needs a GPU"
    assert visibility.shown_reason(view, Verdict.TEST_FAILED, "expected 3") == ""


def test_an_empty_site_says_so(client: Any, db: Any) -> None:
    assert "No release is published yet." in markup(client.get("/"))
