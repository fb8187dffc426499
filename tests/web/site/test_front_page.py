"""The front page: the board it leads with, its facts, why it can be trusted, and how to take part."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.curation.front_page import put_on_front_page
from leaderboard.models import Track
from problems.models import Release
from tests import factories
from tests.markup import markup
from tests.web.site.test_queries import _cost


def _lead(client: Any) -> str:
    """The page up to the list of all releases."""
    return markup(client.get("/")).partition("Latest releases")[0]


def _board(name: str, n_entrants: int, device: str = "cpu", **changes: Any) -> tuple[Release, Track]:
    made = factories.release(name=name, **changes)
    track = factories.offer(made, f"{device}-{name}")
    Track.objects.filter(pk=track.pk).update(device=device, hardware_name=f"Model {name}")
    factories.standings(made, track, n_entrants, prefix=name)
    return made, track


def test_the_largest_gpu_board_leads_even_if_a_cpu_board_is_newer_and_larger(client: Any, db: None) -> None:
    small, large = _board("small", 2, "gpu"), _board("large", 3, "gpu")
    cpu = _board("many", 9)
    assert large[0].title in _lead(client)
    assert "<b>Model large</b>" in _lead(client)
    for made, _ in (small, cpu):
        assert made.title not in _lead(client)


def test_of_boards_of_one_size_the_newest_leads_and_one_without_results_never(client: Any, db: None) -> None:
    _board("old", 2)
    newer, _ = _board("new", 2)
    empty = factories.release(name="empty")
    factories.offer(empty)
    assert newer.title in _lead(client)
    assert empty.title not in _lead(client)


def test_the_track_with_the_results_leads_and_not_the_first_of_the_release(client: Any, db: None) -> None:
    made = factories.release(name="two")
    factories.offer(made, "a-first")
    factories.standings(made, factories.offer(made, "b-second"), 2)
    assert "<b>Track b-second</b>" in _lead(client)


def test_a_private_board_leads_nobody_who_may_not_see_it(client: Any, cast: factories.Cast) -> None:
    made, track = _board("private", 3, "gpu", is_public=False)
    put_on_front_page(cast.organiser, made, track)
    assert made.title not in markup(client.get("/"))
    client.force_login(cast.organiser)
    assert made.title in _lead(client)


def test_more_boards_cost_no_more_queries(client: Any, db: None) -> None:
    _board("one", 2)
    before = _cost(client, "/")
    for n in range(4):
        _board(f"more-{n}", 12 + n)
    assert _cost(client, "/") == before


@pytest.mark.parametrize("signed_in", [False, True])
def test_an_empty_site_says_how_to_take_part(client: Any, cast: factories.Cast, signed_in: bool) -> None:
    if signed_in:
        client.force_login(cast.owner)
    text = markup(client.get("/"))
    assert "No release is published yet" in text
    assert reverse("new_entrant" if signed_in else "account_login") in text
