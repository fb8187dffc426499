"""Pages cost a constant number of queries: ten rows or a hundred, the same."""

import time
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from zeal import zeal_context

from tests import factories
from tests.web.conftest import Site

BOARD_QUERIES = 12
BOARD_P95_MS = 60


def _cost(client: Any, path: str) -> int:
    """Queries of one request; zeal raises where a loop makes them."""
    with CaptureQueriesContext(connection) as queries, zeal_context():
        assert client.get(path).status_code == 200, path
    return len(queries)


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


@pytest.mark.slow
def test_the_first_board_page_of_a_thousand_is_quick(client: Any, db: Any) -> None:
    made = factories.release()
    factories.standings(made, factories.offer(made), 1000)
    path = reverse("board", args=[made.slug])
    # a shared machine may be three times slower than the one the goal is set for; the benchmark holds the goal itself
    limit_ms = 3 * BOARD_P95_MS
    rounds_ms = [_p95_ms(client, path)]
    while rounds_ms[-1] >= limit_ms and len(rounds_ms) < 3:  # and may stand still for some seconds
        rounds_ms.append(_p95_ms(client, path))
    assert rounds_ms[-1] < limit_ms, rounds_ms


def _p95_ms(client: Any, path: str) -> float:
    times_ms = []
    for _ in range(30):
        started = time.perf_counter()
        assert b"Entrant 0000" in client.get(path).content
        times_ms.append((time.perf_counter() - started) * 1000)
    return sorted(times_ms)[28]


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
