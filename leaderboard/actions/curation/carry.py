"""Carry results over to a release's next revision. A result holds if its problem's grading digest is the same."""

import hashlib
from collections.abc import Collection
from typing import Any

from django.db import transaction

from leaderboard import blobs
from leaderboard.actions.curation.revisions import carry_errata_over
from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import Counted, Evaluation, Sample, Submission
from leaderboard.models.audit import record
from leaderboard.rows.carried_decisions import carry_rulings
from leaderboard.rows.evaluations import make_evaluations, queue_evaluations
from leaderboard.rows.reuse import Reuse, holding
from leaderboard.rows.submissions import SubmissionMetadata, site_identity_of, store_blobs, store_samples, twin
from leaderboard.standings import count
from leaderboard.standings.absent import MISSING
from leaderboard.standings.scores import touch_release
from problems.formats.incoming import DeclaredGeneration, IncomingSample, IncomingSubmission
from problems.models import Release


def carry(user: Any, release: Release) -> list[Submission]:
    """Store every counted submission of the previous revision anew; results that hold are reused, the rest queued.

    Rulings on flags go with reused results. Errata go with problems that are graded the same.

    Checks that the user is an organiser and that there is a previous revision. Membership and the release's dates are
    not checked: each submitter asked for the submission to count, in time. Raises NotAllowed or Refused.
    """
    if not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser carries results over.")
    if release.previous is None:
        raise Refused("first_revision", f"{release.slug} is its release's first revision; there is nothing to carry.")
    _carry_errata(user, release)
    counted = Counted.objects.filter(release=release.previous).select_related("submission__entrant").order_by("pk")
    on_tracks: dict[Submission, list[int]] = {}
    for entry in counted:
        on_tracks.setdefault(entry.submission, []).append(entry.track_id)
    made = [_carry_one(user, release, one, track_ids) for one, track_ids in on_tracks.items()]
    record(user, "carry", release, submissions=[one.pk for one in made], previous=release.previous.slug)
    return made


@transaction.atomic
def _carry_errata(user: Any, release: Release) -> None:
    if carry_errata_over(user, release):
        touch_release(release)


@transaction.atomic
def _carry_one(user: Any, release: Release, old: Submission, counted_on: Collection[int]) -> Submission:
    """`counted_on`: ids of the tracks on which the old one counts, and the new one shall."""
    incoming = _incoming(old, release)
    tracks = list(old.tracks.filter(on_releases__release=release))
    metadata = SubmissionMetadata(
        old.entrant, release, tracks, through="site", note=f"Carried from #{old.pk}",
        licence=old.licence,
    )  # fmt: skip
    identity = site_identity_of(metadata, incoming)
    stored = store_blobs(incoming.samples)
    count.hold(old.entrant_id)  # a second organiser waits, then reads what the first stored
    if found := twin(identity):
        return found
    submission, samples = store_samples(user, metadata, incoming, identity, stored)
    for track in tracks:
        make_evaluations(submission, track, samples)
    n_reused = _reuse(submission, old)
    n_rulings = _carry_rulings(user, submission)
    count.choose(user, submission, [track for track in tracks if track.pk in counted_on])
    queue_evaluations(submission)
    count.settle(submission, user)
    record(user, "carry", submission, previous=old.pk, reused=n_reused, rulings=n_rulings)
    return submission


def _incoming(old: Submission, release: Release) -> IncomingSubmission:
    """The old samples, read from their blobs, of the tasks that the new revision has."""
    kept = set(release.problems.values_list("task_id", flat=True))
    related = old.samples.select_related("problem")
    samples = [_sample(one) for one in related if one.problem.task_id in kept and one.invalid_reason != MISSING]
    declared = DeclaredGeneration(old.generation, old.tokens_per_sample, old.usd_per_sample)
    return IncomingSubmission(name=old.name, full=old.is_full, samples=tuple(samples), declared=declared)


def _sample(one: Sample) -> IncomingSample:
    record = b"" if one.invalid_reason else blobs.read(one.solution_sha256)
    digest = hashlib.sha256(record).hexdigest()
    return IncomingSample(one.problem.task_id, one.index, 0, record, digest, one.invalid_reason, one.language)


def _reuse(new: Submission, old: Submission) -> int:
    """Copy the old current result to each evaluation whose problem is graded the same; returns how many were copied."""
    sources = Evaluation.objects.live().filter(submission=old)
    return Reuse(sources, holding(new.release, old.release)).apply(new)


def _carry_rulings(user: Any, submission: Submission) -> int:
    made = carry_rulings(submission)
    for one in made:
        assert one.flag is not None and one.earlier is not None
        facts = {"flag": one.flag.code, "decision": one.earlier_id, "author": one.decided_by.get_username()}
        record(user, "carry ruling", one.flag.result.evaluation, one.public_reason, **facts)
    return len(made)
