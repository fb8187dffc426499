"""Submit: one action for web, API and command line; checked whole before anything is stored."""

from collections.abc import Callable
from typing import Any

from leaderboard.accounts.quotas import Use, spending
from leaderboard.errors import NotAllowed
from leaderboard.intake.submission_rules import check_is_open, check_size, check_tracks
from leaderboard.models import Entrant
from leaderboard.rows.store_once import Receipt, store_once
from leaderboard.rows.submissions import SubmissionMetadata, identity_of, twin
from problems.formats.submission import IncomingSubmission
from problems.models import Release


def submit(user: Any, metadata: SubmissionMetadata, incoming: IncomingSubmission) -> Receipt:
    """Store the samples and queue their evaluations. Raises NotAllowed, Refused, TooMuch or Conflict, storing nothing.

    Checks that the user may submit for the entrant and may see the release, that the release is open, that it is
    offered on the tracks, and that the submission is neither too large nor more than the account's quota of the day.
    """
    for check in checks(user, metadata):
        check()
    check_size(len(incoming.samples), len(metadata.tracks))
    identity = identity_of(metadata, incoming)
    if found := twin(identity):
        return Receipt(found, created=False)
    with spending(user, use_of(metadata, incoming)):
        return store_once(user, metadata, incoming, identity)


def checks(user: Any, metadata: SubmissionMetadata) -> list[Callable[[], None]]:
    """Checks of a submission before its samples are looked at; each raises Refused. Rights come first."""
    release = metadata.release
    return [
        lambda: _check_rights(user, metadata),
        lambda: check_is_open(release),
        lambda: check_tracks(release, metadata.tracks),
    ]


def use_of(metadata: SubmissionMetadata, incoming: IncomingSubmission) -> Use:
    """The submission's use of the account's quota."""
    return Use(len(incoming.samples) * len(metadata.tracks), sum(len(one.record) for one in incoming.samples))


def _check_rights(user: Any, metadata: SubmissionMetadata) -> None:
    release = metadata.release
    if not Entrant.objects.submittable_by(user).filter(pk=metadata.entrant.pk).exists():
        raise NotAllowed(
            "not_your_entrant", f"You may not submit for {metadata.entrant.name}. Ask its owner to add you."
        )
    if not Release.objects.open_to(user).filter(pk=release.pk).exists():
        raise NotAllowed("no_such_release", f"There is no release {release.slug!r} that you may see.")
