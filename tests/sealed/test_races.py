"""Two submissions at the same moment: one is first, and the other has its replies; tries are counted as they come."""

from typing import Any

import pytest

from leaderboard.errors import TooMuch
from leaderboard.models import Submission
from tests import factories
from tests.factories import Cast
from tests.fleet.attempts.test_races import together
from tests.sealed.site import sealed_release, sent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
LETTERS = "ABCD"


def test_replies_sent_at_once_are_those_of_one_submission(cast: Cast) -> None:
    made = sealed_release()
    track = factories.offer(made)
    stored = together(*(lambda letter=letter: sent(cast.entrant, made, track, letter) for letter in LETTERS))
    assert all(isinstance(one, Submission) for one in stored), stored
    first = min(stored, key=lambda one: one.pk)
    for question in made.problems.filter(kind="choice"):
        replies = question.samples.values_list("submission", "solution_sha256", "first_sent")
        assert len({sha256 for _, sha256, _ in replies}) == 1
        assert {of for _, _, of in replies} == {None, first.pk}


def test_tries_at_once_are_no_more_than_allowed(cast: Cast, settings: Any) -> None:
    settings.DAILY_TRIES = 2
    made = sealed_release()
    track = factories.offer(made)
    done = together(*(lambda letter=letter: sent(cast.entrant, made, track, letter) for letter in LETTERS))
    assert sorted(type(one).__name__ for one in done) == ["Submission"] * 2 + ["TooMuch"] * 2
    assert all(isinstance(one, Submission | TooMuch) for one in done)
