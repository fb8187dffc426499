"""The rows of a submission and its samples, and its identity: the same submission is stored once."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard import blobs
from leaderboard.models import Entrant, Sample, Submission, SubmissionState, Track
from leaderboard.rows.first_replies import with_first_replies
from leaderboard.standings import count
from problems.formats.submission import IncomingSample, IncomingSubmission
from problems.models import Problem, Release
from runners.wire.protocol import JUDGE_VERSIONS

TYPED_CODE_PRIORITY = 10
BATCH = 1000


@dataclass(frozen=True)
class SubmissionMetadata:
    """The fields of a submission besides its samples."""

    entrant: Entrant
    release: Release
    tracks: Sequence[Track]
    asks_to_count: bool = True
    through: str = "web"
    note: str = ""
    licence: str = ""
    priority: int = 0


def identity_of(metadata: SubmissionMetadata, incoming: IncomingSubmission) -> str:
    """A digest of entrant, release, tracks and samples."""
    return _identity(metadata, incoming, judges="")


def site_identity_of(metadata: SubmissionMetadata, incoming: IncomingSubmission) -> str:
    """The identity of a submission that the site makes itself; it changes with the versions of the judges."""
    return _identity(metadata, incoming, judges=",".join(sorted(JUDGE_VERSIONS.values())))


def _identity(metadata: SubmissionMetadata, incoming: IncomingSubmission, judges: str) -> str:
    tracks = ",".join(sorted(track.slug for track in metadata.tracks))
    text = f"{metadata.entrant.pk}|{metadata.release.pk}|{tracks}|{incoming.digest}|{judges}"
    return hashlib.sha256(text.encode()).hexdigest()


def twin(identity: str) -> Submission | None:
    """The stored submission of this identity that was not cancelled."""
    return Submission.objects.exclude(state=SubmissionState.CANCELLED).filter(identity=identity).first()


def store_blobs(samples: Iterable[IncomingSample]) -> dict[bytes, str]:
    """Store the records of valid samples; returns each record's sha256."""
    store = blobs.store()
    return {content: store.put(content) for content in {one.record for one in samples if not one.invalid_reason}}


def store_samples(
    user: Any, metadata: SubmissionMetadata, incoming: IncomingSubmission, identity: str, stored: Mapping[bytes, str]
) -> tuple[Submission, list[Sample]]:
    """Store the submission and its samples inside the caller's transaction; locks the entrant until it ends."""
    count.hold(metadata.entrant.pk)
    problems = {problem.task_id: problem for problem in metadata.release.problems.defer("record")}
    submission = Submission.objects.create(
        entrant=metadata.entrant,
        release=metadata.release,
        is_full=incoming.full,
        name=incoming.name[:200],
        note=metadata.note[:500],
        licence=metadata.licence[:100],
        digest=incoming.digest,
        identity=identity,
        asks_to_count=incoming.full and metadata.asks_to_count,
        n_samples_per_problem=max((one.index + 1 for one in incoming.samples), default=0),
        submitted_by=user if getattr(user, "is_authenticated", False) else None,
        submitted_through=metadata.through,
        generation=incoming.declared.generation,
        tokens_per_sample=incoming.declared.tokens_per_sample,
        usd_per_sample=incoming.declared.usd_per_sample,
        priority=metadata.priority or _priority(incoming),
    )
    submission.tracks.set(metadata.tracks)
    samples = with_first_replies(submission, _samples(submission, incoming, problems, stored))
    Sample.objects.bulk_create(samples, batch_size=BATCH)
    return submission, samples


def _priority(incoming: IncomingSubmission) -> int:
    """Typed code goes first: its author waits for it. A part of a pack takes its turn."""
    return TYPED_CODE_PRIORITY if not incoming.full and len(incoming.samples) == 1 else 0


def _samples(
    submission: Submission, incoming: IncomingSubmission, problems: Mapping[str, Problem], stored: Mapping[bytes, str]
) -> list[Sample]:
    return [
        Sample(
            submission=submission,
            problem=problems[one.task_id],
            index=one.index,
            solution_sha256="" if one.invalid_reason else stored[one.record],
            solution_bytes=len(one.record),
            invalid_reason=one.invalid_reason[:500],
            language=one.language,
        )
        for one in incoming.samples
    ]
