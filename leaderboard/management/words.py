"""Helpers of the management commands: look-ups, and refusals that end as a CommandError in words."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.core.management.base import CommandError

from leaderboard.errors import Refused
from leaderboard.models import Track
from problems.actions.releases import ReleaseRefused
from problems.formats.errors import PackRefused
from problems.models import Release

_BY_COMMAND = {
    "not_verified": "Here: `manage.py verify_release SLUG --track TRACK`, with --why-it-ranks PROBLEM REASON where"
    " answers that do no work pass; or --unverified REASON.",
}
"""How a command does what a refusal advises, by the refusal's code: the words of actions stand on pages, too."""


@contextmanager
def as_command_errors(what: str = "") -> Iterator[None]:
    """`what`, as a file's name, stands before the words of a refusal."""
    try:
        yield
    except (Refused, ReleaseRefused, PackRefused) as error:
        words = " ".join(filter(None, (str(error), _BY_COMMAND.get(getattr(error, "code", "")))))
        raise CommandError(f"{what}: {words}" if what else words) from error
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}.") from error


def release_named(slug: str) -> Release:
    release = Release.objects.filter(slug=slug).first()
    if release is None:
        known = ", ".join(Release.objects.values_list("slug", flat=True)) or "none"
        raise CommandError(f"There is no release {slug!r}. Releases here: {known}.")
    return release


def tracks_named(slugs: Sequence[str]) -> list[Track]:
    """The tracks in the order named; refuses unknown ones."""
    known = {track.slug: track for track in Track.objects.all()}
    if missing := [slug for slug in slugs if slug not in known]:
        listed = ", ".join(known) or "none; make one with `manage.py add_track`"
        raise CommandError(f"There is no track {missing[0]!r}. Tracks here: {listed}.")
    return [known[slug] for slug in slugs]


def published_words(release: Release) -> str:
    """A line about the visibility of a published release, as a reminder that releases start as private."""
    unverified = " without verification" if release.unverified_reason else ""
    if release.is_public:
        return f"{release.slug} is published{unverified}."
    words = f"{release.slug} is published{unverified}, for organisers and the invited alone."
    return f"{words} With --public everybody sees it."
