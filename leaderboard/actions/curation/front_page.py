"""Chooses the board that leads the front page."""

from typing import Any

from django.db import transaction

from leaderboard.actions.curation.curate import check_organiser
from leaderboard.errors import Refused
from leaderboard.models import ReleaseTrack, Track
from leaderboard.models.audit import record
from problems.models import Release


@transaction.atomic
def put_on_front_page(user: Any, release: Release, track: Track) -> None:
    """Show this board on the front page, in place of any other. Raises NotAllowed, or Refused.

    Refused while the release is a draft, or if it is not offered on the track.
    """
    check_organiser(user)
    if release.is_draft:
        raise Refused("draft", f"{release.slug} is a draft. Publish it before its board is put on the front page.")
    place = ReleaseTrack.objects.filter(release=release, track=track)
    if not place.exists():
        raise Refused("not_offered", f"{release.slug} is not offered on {track.slug}.")
    ReleaseTrack.objects.filter(on_front_page=True).update(on_front_page=False)
    place.update(on_front_page=True)
    record(user, "put on front page", release, track=track.slug)


@transaction.atomic
def take_off_front_page(user: Any, release: Release) -> None:
    """Let the site choose the front page's board again. Raises NotAllowed, or Refused if no board of it is there."""
    check_organiser(user)
    if not ReleaseTrack.objects.filter(release=release, on_front_page=True).update(on_front_page=False):
        raise Refused("not_on_front_page", f"No board of {release.slug} was put on the front page.")
    record(user, "take off front page", release)
