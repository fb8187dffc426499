"""Stores a submission with its samples and queues their evaluations; the same submission again stores nothing."""

from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from leaderboard.accounts.quotas import check_tries
from leaderboard.models import Submission
from leaderboard.models.audit import record
from leaderboard.rows.evaluations import make_evaluations, queue_evaluations
from leaderboard.rows.reuse import Reuse
from leaderboard.rows.submissions import SubmissionMetadata, store_blobs, store_samples, twin
from leaderboard.standings import count
from problems.formats.submission import IncomingSubmission


@dataclass(frozen=True)
class Receipt:
    """`created` is False when this very submission was here already; nothing was stored again."""

    submission: Submission
    created: bool


def store_once(
    user: Any, metadata: SubmissionMetadata, incoming: IncomingSubmission, identity: str, reuse: Reuse | None = None
) -> Receipt:
    """The submission of this identity, stored and queued where it is new. Checks no permission: the caller does.

    Evaluations that have a result to `reuse` get its copy and are not queued.
    """
    if found := twin(identity):
        return Receipt(found, created=False)
    try:
        return Receipt(_store(user, metadata, incoming, identity, reuse), created=True)
    except IntegrityError:
        if found := twin(identity):  # another request stored the same submission between our look and our insert
            return Receipt(found, created=False)
        raise


def _store(
    user: Any, metadata: SubmissionMetadata, incoming: IncomingSubmission, identity: str, reuse: Reuse | None
) -> Submission:
    stored = store_blobs(incoming.samples)
    with transaction.atomic():
        if incoming.full:
            count.hold_account(user)
            count.hold(metadata.entrant.pk)
            check_tries(user, metadata.entrant, metadata.release)
        submission, samples = store_samples(user, metadata, incoming, identity, stored)
        for track in metadata.tracks:
            make_evaluations(submission, track, samples)
        facts: dict[str, Any] = {"reused": reuse.apply(submission)} if reuse else {}
        queue_evaluations(submission)
        if submission.asks_to_count:
            count.choose(user, submission, metadata.tracks)
        count.settle(submission, user)
        record(user, "submit", submission, samples=len(samples), digest=incoming.digest[:12], **facts)
    return submission
