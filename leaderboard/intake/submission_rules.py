"""Rules for new submissions: the release takes them now, is offered on their tracks, and they are not too large."""

from collections.abc import Sequence

from leaderboard.errors import Conflict, Refused
from leaderboard.models import ReleaseTrack, Track
from problems.formats.submission import IncomingSample
from problems.models import Release

MAX_EVALUATIONS = 40_000
"""Limit of evaluations per submission, over all its tracks. They are stored in one transaction, for which SQLite
lets nobody else write: some ten seconds, half of the time that others wait for it."""


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


def check_sample(incoming: IncomingSample) -> None:
    """Raises Refused where the sample would be invalid. For code that its author can still change."""
    if incoming.invalid_reason:
        raise Refused("invalid_solution", f"This would not be graded: {incoming.invalid_reason}.")


def check_size(n_samples: int, n_tracks: int) -> None:
    """Raises Refused where the submission would make more evaluations than one transaction should store."""
    if n_samples * n_tracks > MAX_EVALUATIONS:
        words = f"{n_samples} samples on {n_tracks} tracks are {n_samples * n_tracks} evaluations"
        raise Refused(
            "too_many_evaluations",
            f"{words}; a submission may have {MAX_EVALUATIONS}. Submit to fewer tracks at a time, or fewer samples.",
        )
