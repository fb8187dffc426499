"""A submission's table of samples, where the release has more problems than a page shows."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.models import Submission
from leaderboard.web.shared.paging import PAGE_ROWS
from tests import factories
from tests.markup import markup


@pytest.fixture
def long_submission(cast: Any) -> Submission:
    made = factories.release(PAGE_ROWS + 1)
    return factories.submission(cast.entrant, made, factories.offer(made), n_samples=1)


def test_every_problem_is_on_some_page(client: Client, long_submission: Submission) -> None:
    first = markup(client.get(long_submission.get_absolute_url()))
    assert f"Problem number {PAGE_ROWS - 1}<" in first
    assert f"Problem number {PAGE_ROWS}<" not in first
    assert 'href="?page=2"' in first
    second = markup(client.get(long_submission.get_absolute_url(), {"page": 2}))
    assert f"Problem number {PAGE_ROWS}<" in second
    assert f'hx-get="{reverse("submission_samples", args=[long_submission.pk])}?page=2"' in second


def test_the_way_by_which_it_came_is_told_in_words(client: Client, long_submission: Submission) -> None:
    for value, words in (("web", "on the site&#x27;s pages"), ("cli", "by the command podium")):
        Submission.objects.filter(pk=long_submission.pk).update(submitted_through=value)
        assert f"<dt>Sent</dt><dd>{words}</dd>" in markup(client.get(long_submission.get_absolute_url()))
