"""One board at most is on the front page; organisers choose it."""

import pytest

from leaderboard.actions.curation.front_page import put_on_front_page, take_off_front_page
from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import AuditEntry, ReleaseTrack
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _chosen() -> list[str]:
    return list(ReleaseTrack.objects.filter(on_front_page=True).values_list("release__slug", flat=True))


def test_the_last_choice_replaces_the_one_before_and_can_be_taken_back(cast: factories.Cast) -> None:
    first, second = factories.release(name="first"), factories.release(name="second")
    track = factories.offer(first)
    factories.offer(second)
    put_on_front_page(cast.organiser, first, track)
    put_on_front_page(cast.organiser, second, track)
    assert _chosen() == ["second"]
    assert AuditEntry.objects.filter(action="put on front page").count() == 2
    with pytest.raises(Refused, match="No board of first"):
        take_off_front_page(cast.organiser, first)
    take_off_front_page(cast.organiser, second)
    assert _chosen() == []


def test_drafts_boards_that_are_not_offered_and_others_than_organisers_are_refused(cast: factories.Cast) -> None:
    draft, made = factories.release(name="draft", publish=False), factories.release(name="made")
    track = factories.offer(draft)
    with pytest.raises(Refused, match="draft is a draft"):
        put_on_front_page(cast.organiser, draft, track)
    with pytest.raises(Refused, match="not offered"):
        put_on_front_page(cast.organiser, made, track)
    with pytest.raises(NotAllowed):
        put_on_front_page(cast.owner, made, factories.offer(made))
    with pytest.raises(NotAllowed):
        take_off_front_page(cast.owner, made)
    assert _chosen() == []
