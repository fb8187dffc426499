"""Every address of the fleet's pages and fragments, asked for by everybody: a new one without an entry here fails."""

from typing import Any

import pytest
from django.urls import reverse

from runners.fleet.web.urls import urlpatterns
from tests import factories
from tests.made_once import copied, of_module
from tests.strangers import NOT_FOUND, OK, Arguments, Place

# name → its arguments, and the status for: nobody, a stranger, the owner of the submission, an organiser.
TABLE: dict[str, tuple[Arguments, int, int, int, int]] = {
    "readyz": (lambda _: [], OK, OK, OK, OK),
    "metrics": (lambda _: [], NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),
    "open_jobs": (lambda _: [], NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND),
    "nodes": (lambda _: [], OK, OK, OK, OK),
    "node": (lambda p: [p.node.slug], OK, OK, OK, OK),
    "node_golden": (lambda p: [p.node.slug], OK, OK, OK, OK),
    "node_faults": (lambda p: [p.node.slug], OK, OK, OK, OK),
    "fleet_state": (lambda _: [], OK, OK, OK, OK),
    "track_states": (lambda _: [], OK, OK, OK, OK),
    "submission_progress": (lambda p: [p.stored.pk], NOT_FOUND, NOT_FOUND, OK, OK),
    "evaluation_work": (lambda p: [p.evaluation.pk], NOT_FOUND, NOT_FOUND, OK, OK),
}


made_site = of_module(lambda: Place.make(factories.Cast.make()))
place = copied


def test_every_address_has_an_entry() -> None:
    assert {pattern.name for pattern in urlpatterns} == TABLE.keys()


@pytest.mark.parametrize("name", TABLE)
def test_each_gets_what_is_theirs(name: str, client: Any, place: Place) -> None:
    arguments, *expected = TABLE[name]
    assert place.statuses(client, "get", reverse(name, args=arguments(place))) == tuple(expected)


@pytest.mark.parametrize("name", TABLE)
def test_nothing_here_is_changed_by_asking(name: str, client: Any, place: Place) -> None:
    client.force_login(place.cast.organiser)
    assert client.post(reverse(name, args=TABLE[name][0](place))).status_code == 405
