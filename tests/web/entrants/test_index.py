"""The index of entrants: all of them, searched and filtered, with the boards on which the visitor sees them."""

import re
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Entrant
from leaderboard.web.shared.paging import PAGE_ROWS
from tests import factories
from tests.factories import Cast
from tests.markup import markup
from tests.web.site.test_queries import _cost

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _page(client: Any, **asked: Any) -> str:
    answer = client.get(reverse("entrants"), asked)
    assert answer.status_code == 200
    return markup(answer)


def _n_boards(text: str, name: str) -> int:
    row = text[text.index(f">{name}<") :].partition("</tr>")[0]
    return int(re.findall(r'<td class="num">(\d+)</td>', row)[0])


def test_it_lists_entrants_but_none_that_verifies_problems(client: Any, cast: Cast) -> None:
    Entrant.objects.create(slug="_reference", name="_reference", kind="system")
    client.force_login(cast.organiser)
    text = _page(client)
    assert f'href="{cast.entrant.get_absolute_url()}"' in text
    assert "_reference" not in text


def test_it_is_searched_and_filtered_and_cleared_in_one_click(client: Any, cast: Cast) -> None:
    agent = factories.EntrantFactory(name="Zeta", slug="zeta", kind="agent", organisation="Far Lab", owner=cast.owner)
    assert "Clear filters" not in _page(client)
    for asked in ({"q": "far ZETA"}, {"kind": "agent"}):
        text = _page(client, **asked)
        assert agent.get_absolute_url() in text
        assert cast.entrant.get_absolute_url() not in text
        assert f'<a href="{reverse("entrants")}">Clear filters</a>' in text
    assert "No entrant fits" in _page(client, q="nobody at all")
    assert cast.entrant.get_absolute_url() in _page(client, kind="system"), "it is no kind to choose"


def test_boards_count_where_the_visitor_sees_the_row(client: Any, cast: Cast, far_future: Any) -> None:
    for name, changes in (("open-1", {}), ("hidden-1", {"hidden_until": far_future}), ("mine-1", {"is_public": False})):
        made = factories.release(2, name, **changes)
        made.invited.add(cast.owner)
        factories.judged_submission(cast.entrant, made, factories.offer(made))
    counts = {}
    for user in (None, cast.stranger, cast.owner, cast.organiser):
        client.logout()
        if user:
            client.force_login(user)
        counts[str(user)] = _n_boards(_page(client), cast.entrant.name)
    assert counts == {"None": 1, "stranger": 1, "owner": 3, "organiser": 3}


def test_more_entrants_cost_no_more_queries_and_are_paged(client: Any, cast: Cast) -> None:
    made = factories.release()
    track = factories.offer(made)
    factories.standings(made, track, 3)
    before = _cost(client, reverse("entrants"))
    factories.standings(made, track, PAGE_ROWS, prefix="many")
    assert _cost(client, reverse("entrants")) == before
    assert 'href="?page=2"' in _page(client)
