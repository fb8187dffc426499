"""The rows of a submission and its samples, and its identity: the same submission is stored once."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard import blobs
from leaderboard.models import Entrant, Sample, Submission, SubmissionState, Track
from leaderboard.rows.first_replies import with_first_replies
from leaderboard.standings import count
from problems.formats.submission import SampleDraft, SubmissionDraft
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


def identity_of(metadata: SubmissionMetadata, draft: SubmissionDraft) -> str:
    """A digest of entrant, release, tracks and samples."""
    return _identity(metadata, draft, judges="")


def site_identity_of(metadata: SubmissionMetadata, draft: SubmissionDraft) -> str:
    """The identity of a submission that the site makes itself; it changes with the versions of the judges."""
    return _identity(metadata, draft, judges=",".join(sorted(JUDGE_VERSIONS.values())))


def _identity(metadata: SubmissionMetadata, draft: SubmissionDraft, judges: str) -> str:
    tracks = ",".join(sorted(track.slug for track in metadata.tracks))
    text = f"{metadata.entrant.pk}|{metadata.release.pk}|{tracks}|{draft.digest}|{judges}"
    return hashlib.sha256(text.encode()).hexdigest()


def twin(identity: str) -> Submission | None:
    """The stored submission of this identity that was not cancelled."""
    return Submission.objects.exclude(state=SubmissionState.CANCELLED).filter(identity=identity).first()


def store_blobs(samples: Iterable[SampleDraft]) -> dict[bytes, str]:
    """Store the records of valid samples; returns each record's sha256."""
    store = blobs.store()
    return {content: store.put(content) for content in {one.record for one in samples if not one.invalid_reason}}


def store_samples(
    user: Any, metadata: SubmissionMetadata, draft: SubmissionDraft, identity: str, stored: Mapping[bytes, str]
) -> tuple[Submission, list[Sample]]:
    """Store the submission and its samples inside the caller's transaction; locks the entrant until it ends."""
    count.hold(metadata.entrant.pk)
    problems = {problem.task_id: problem for problem in metadata.release.problems.defer("record")}
    submission = Submission.objects.create(
        entrant=metadata.entrant,
        release=metadata.release,
        is_full=draft.full,
        name=draft.name[:200],
        note=metadata.note[:500],
        licence=metadata.licence[:100],
        digest=draft.digest,
        identity=identity,
        asks_to_count=draft.full and metadata.asks_to_count,
        n_samples_per_problem=max((one.index + 1 for one in draft.samples), default=0),
        submitted_by=user if getattr(user, "is_authenticated", False) else None,
        submitted_through=metadata.through,
        generation=draft.declared.generation,
        tokens_per_sample=draft.declared.tokens_per_sample,
        usd_per_sample=draft.declared.usd_per_sample,
        priority=metadata.priority or _priority(draft),
    )
    submission.tracks.set(metadata.tracks)
    samples = with_first_replies(submission, _samples(submission, draft, problems, stored))
    Sample.objects.bulk_create(samples, batch_size=BATCH)
    return submission, samples


def _priority(draft: SubmissionDraft) -> int:
    """Typed code goes first: its author waits for it. A part of a pack takes its turn."""
    return TYPED_CODE_PRIORITY if not draft.full and len(draft.samples) == 1 else 0


def _samples(
    submission: Submission, draft: SubmissionDraft, problems: Mapping[str, Problem], stored: Mapping[bytes, str]
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
        for one in draft.samples
    ]
