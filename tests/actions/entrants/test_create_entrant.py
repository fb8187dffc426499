"""Entrants of one's own: names, kinds, and addresses that nobody may take from the system."""

import pytest
from django.contrib.auth.models import AnonymousUser, User

from leaderboard.actions.curation.verify import verify
from leaderboard.actions.entrants.create_entrant import create_entrant
from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import Entrant
from tests.fleet.site import Site

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_an_entrant_belongs_to_whoever_made_it() -> None:
    user = User.objects.create_user("maker")
    entrant = create_entrant(user, "My Model 2")
    assert (entrant.slug, entrant.owner, entrant.kind) == ("my-model-2", user, "model")


@pytest.mark.parametrize("name", ["", "…", "_reference", "_anything"])
def test_a_name_without_an_address_of_its_own_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="at least one letter or digit, and begin with one"):
        create_entrant(User.objects.create_user("maker"), name)


@pytest.mark.parametrize("kind", ["baseline", "system", "nonsense"])
def test_only_ones_own_kinds_may_be_made(kind: str) -> None:
    with pytest.raises(NotAllowed):
        create_entrant(User.objects.create_user("maker"), "Mine", kind)
    with pytest.raises(NotAllowed):
        create_entrant(AnonymousUser(), "Mine")


def test_nobody_can_own_the_entrant_that_holds_the_references() -> None:
    """Its team would read the reference solutions."""
    site = Site.make()
    for name in ("empty", "Reference solutions"):
        create_entrant(site.owner, name)
    for slug in ("reference", "known-bad"):  # a new one is refused these names
        Entrant.objects.create(slug=slug, name=slug, owner=site.owner)
    for submission in verify(site.organiser, site.release, site.track):
        assert (submission.entrant.kind, submission.entrant.owner) == ("system", None)
    assert Entrant.objects.filter(kind="system").count() == 2
