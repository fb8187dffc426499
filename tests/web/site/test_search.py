"""One search over releases, problems and entrants tells nobody of what they may not see."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Entrant
from leaderboard.site.words import MOST_CHARACTERS, MOST_WORDS, words_of
from leaderboard.web.site.search import MOST_FOUND
from tests import factories
from tests.factories import Cast
from tests.markup import markup
from tests.web.site.test_queries import _cost

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _found(client: Any, text: str) -> str:
    answer = client.get(reverse("search"), {"q": text})
    assert answer.status_code == 200
    return markup(answer).partition('id="found"')[2]


def test_words_find_releases_problems_and_entrants_in_any_case(client: Any, cast: Cast) -> None:
    made = factories.release(name="gemm-1")
    problem = made.problems.order_by("position").first()
    assert f'href="{made.get_absolute_url()}"' in _found(client, "GEMM")
    assert f'href="{reverse("problem", args=[made.slug, problem.slug])}"' in _found(client, "problem NUMBER 0")
    assert f'href="{cast.entrant.get_absolute_url()}"' in _found(client, "alph")


def test_every_word_must_fit(client: Any, cast: Cast) -> None:
    assert "Nothing that you may see fits" in _found(client, "alpha nonesuch")


def test_releases_and_problems_that_are_private_are_found_by_those_who_see_them(client: Any, cast: Cast) -> None:
    private = factories.release(name="private-1", is_public=False)
    draft = factories.release(name="draft-1", publish=False)
    assert "Nothing that you may see fits" in _found(client, "private-1")
    assert "Problem number 0" not in _found(client, "number")
    client.force_login(cast.stranger)
    private.invited.add(cast.stranger)
    assert private.get_absolute_url() in _found(client, "private")
    assert "Problem number 0" in _found(client, "number")
    assert draft.get_absolute_url() not in _found(client, "draft")
    client.force_login(cast.organiser)
    assert draft.get_absolute_url() in _found(client, "draft")


def test_entrants_that_verify_problems_are_found_by_nobody(client: Any, cast: Cast) -> None:
    Entrant.objects.create(slug="_reference", name="_reference", kind="system")
    client.force_login(cast.organiser)
    assert "Nothing that you may see fits" in _found(client, "_reference")


@pytest.mark.parametrize("typed", ["", "   ", "%", "_", "'; --", "<script>", "x" * 10_000, "é" * 500, "a " * 5_000])
def test_nothing_typed_breaks_it(client: Any, cast: Cast, typed: str) -> None:
    assert "<script>" not in _found(client, typed)


def test_a_percent_sign_is_a_percent_sign(client: Any, cast: Cast) -> None:
    assert "Nothing that you may see fits" in _found(client, "%")


def test_what_is_sought_and_what_is_shown_are_bounded(client: Any, cast: Cast) -> None:
    assert words_of("a" * 500) == ["a" * MOST_CHARACTERS]
    assert len(words_of("a " * 40)) == MOST_WORDS
    factories.release(MOST_FOUND + 2, "many-1")
    found = _found(client, "number")
    assert found.count("Problem number") == MOST_FOUND
    assert "More fit" in found


def test_more_rows_cost_no_more_queries(client: Any, cast: Cast) -> None:
    factories.release(2, "few-number")
    address = reverse("search", query={"q": "number"})
    before = _cost(client, address)
    for n in range(5):
        factories.release(6, f"more-number-{n}")
    assert _cost(client, address) == before
