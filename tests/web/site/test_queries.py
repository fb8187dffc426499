"""Pages cost a constant number of queries: ten rows or a hundred, the same."""

from datetime import date
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from zeal import zeal_context

from leaderboard.models import ReferenceRun
from tests import factories
from tests.web.boards import seeded_boards
from tests.web.conftest import Site, make_site

pytestmark = pytest.mark.both_databases  # they open every page
BOARD_QUERIES = 12


def _cost(client: Any, path: str) -> int:
    """Queries of one request; zeal raises where a loop makes them."""
    with CaptureQueriesContext(connection) as queries, zeal_context():
        assert client.get(path).status_code == 200, path
    return len(queries)


@pytest.fixture
def site(db: Any) -> Site:
    """Not the module's: other tests here make boards of their own in an empty database."""
    return make_site()


def test_no_page_queries_in_a_loop(client: Any, site: Site) -> None:
    for path in [*site.public_pages.values()]:
        if path != "/nothing-here/":
            _cost(client, path)
    client.force_login(site.cast.owner)
    for path in site.own_pages.values():
        _cost(client, path)


@pytest.mark.parametrize("signed_in", [False, True])
def test_a_board_of_a_thousand_costs_as_much_as_one_of_ten(client: Any, cast: factories.Cast, signed_in: bool) -> None:
    made = factories.release()
    track = factories.offer(made)
    if signed_in:
        client.force_login(cast.owner)
    path = reverse("board", args=[made.slug])
    factories.standings(made, track, 10)
    few = _cost(client, path)
    made.standings.all().delete()
    factories.standings(made, track, 1000, prefix="many")
    assert _cost(client, path) == few <= BOARD_QUERIES


@pytest.mark.parametrize("signed_in", [False, True])
def test_a_board_with_everything_on_it_costs_no_more(client: Any, cast: factories.Cast, signed_in: bool) -> None:
    made, track = seeded_boards.mixed_board()
    for day, ratio in enumerate((1.0, 1.2)):
        ReferenceRun.objects.create(
            release=made, track=track, submission_id=seeded_boards.FIRST_ID + day, node="node-1", ratio=ratio,
            day=date(2026, 3, 1 + day), low=ratio - 0.01, high=ratio + 0.01, is_noisy=ratio > 1.1,
        )  # fmt: skip
    if signed_in:
        client.force_login(cast.owner)
    path = reverse("board", args=[made.slug])
    assert "Noisy" in client.get(path).content.decode()
    assert _cost(client, path) <= BOARD_QUERIES


def _pages_with_more_rows(site: Site) -> list[str]:
    pages = site.public_pages
    return [pages[name] for name in ("release-submissions", "problems", "submission", "entrant", "nodes", "releases")]


def test_more_rows_cost_no_more_queries(client: Any, site: Site) -> None:
    before = {path: _cost(client, path) for path in _pages_with_more_rows(site)}
    for n in range(12):
        factories.submission(site.cast.entrant, site.release, site.track, script=f"exit 0 # {n}", n_samples=1)
        factories.grant(factories.NodeFactory(), site.track)
        factories.release(name=f"more-{n}")
    after = {path: _cost(client, path) for path in before}
    assert after == before
