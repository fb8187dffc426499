"""Rules for new submissions: the release takes them now, and it is offered on their tracks."""

from collections.abc import Sequence

from leaderboard.errors import Conflict, Refused
from leaderboard.models import ReleaseTrack, Track
from problems.models import Release


def check_is_open(release: Release) -> None:
    """Raises Conflict where the release takes no submissions now."""
    if release.is_draft:
        raise Conflict("release_is_draft", f"{release.slug} is a draft; it takes submissions once it is published.")
    if reason := release.why_closed():
        raise Conflict("release_closed", reason)


def check_tracks(release: Release, tracks: Sequence[Track]) -> None:
    """Raises Refused where the release is not offered on every one of them."""
    offered = set(ReleaseTrack.objects.filter(release=release).values_list("track__slug", flat=True))
    if not tracks:
        raise Refused(
            "no_track", f"Name at least one track. {release.slug} is offered on: {', '.join(sorted(offered))}."
        )
    for track in tracks:
        if track.slug not in offered:
            known = ", ".join(sorted(offered)) or "none yet"
            raise Refused("track_not_offered", f"{release.slug} is not offered on {track.slug}. It is on: {known}.")
