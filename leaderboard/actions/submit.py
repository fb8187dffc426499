"""Submit: one action for web, API and command line; checked whole before anything is stored."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard import blobs
from leaderboard.actions import count, scores
from leaderboard.actions.errors import Conflict, NotAllowed, Refused
from leaderboard.models import (
    Entrant,
    Evaluation,
    EvaluationState,
    ProblemTrack,
    ReleaseTrack,
    Result,
    Sample,
    Submission,
    SubmissionState,
    Track,
)
from leaderboard.models.audit import record
from leaderboard.models.evaluation import ResultOrigin
from leaderboard.signals import evaluations_queued
from problems.formats.submission import SampleDraft, SubmissionDraft
from problems.models import Problem, Release
from runners.protocol import JUDGE_VERSION, Verdict

MISSING = "missing"
TYPED_CODE_PRIORITY = 10
BATCH = 1000


@dataclass(frozen=True)
class Order:
    """All that a submission says besides its samples."""

    entrant: Entrant
    release: Release
    tracks: Sequence[Track]
    asks_to_count: bool = True
    through: str = "web"
    note: str = ""
    priority: int = 0
    verifies: bool = False
    """Made by the site for a system entrant, to verify a release; allowed on drafts."""


@dataclass(frozen=True)
class Receipt:
    """`created` is False when this very submission was here already; nothing was stored again."""

    submission: Submission
    created: bool


def submit(user: Any, order: Order, draft: SubmissionDraft) -> Receipt:
    """Store the samples and queue their evaluations. Raises NotAllowed, Refused or Conflict, storing nothing."""
    _check(user, order)
    identity = identity_of(order, draft)
    if found := twin(identity):
        return Receipt(found, created=False)
    stored = store_blobs(draft.samples)
    try:
        with transaction.atomic():
            return Receipt(_submit(user, order, draft, identity, stored), created=True)
    except IntegrityError:
        if found := twin(identity):  # another request stored the same submission between our look and our insert
            return Receipt(found, created=False)
        raise


def _check(user: Any, order: Order) -> None:
    if order.verifies:
        return
    release = order.release
    if not Entrant.objects.submittable_by(user).filter(pk=order.entrant.pk).exists():
        raise NotAllowed("not_your_entrant", f"You may not submit for {order.entrant.name}. Ask its owner to add you.")
    if not Release.objects.visible_to(user).filter(pk=release.pk).exists():
        raise NotAllowed("no_such_release", f"There is no release {release.slug!r} that you may see.")
    check_is_open(release)
    check_tracks(release, order.tracks)


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


def identity_of(order: Order, draft: SubmissionDraft) -> str:
    """The same for the same samples of the same entrant on the same release and tracks."""
    tracks = ",".join(sorted(track.slug for track in order.tracks))
    text = f"{order.entrant.pk}|{order.release.pk}|{tracks}|{draft.digest}|{JUDGE_VERSION if order.verifies else ''}"
    return hashlib.sha256(text.encode()).hexdigest()


def twin(identity: str) -> Submission | None:
    """The submission that is here already under this identity, cancelled ones aside."""
    return Submission.objects.exclude(state=SubmissionState.CANCELLED).filter(identity=identity).first()


def store_blobs(samples: Iterable[SampleDraft]) -> dict[bytes, str]:
    """Every solution's record to its sha256."""
    store = blobs.store()
    return {content: store.put(content) for content in {one.record for one in samples if not one.invalid_reason}}


def _submit(user: Any, order: Order, draft: SubmissionDraft, identity: str, stored: Mapping[bytes, str]) -> Submission:
    submission, samples = store_samples(user, order, draft, identity, stored)
    for track in order.tracks:
        _evaluate_on(submission, track, samples)
    count.settle(submission, user)
    record(user, "submit", submission, samples=len(samples), digest=draft.digest[:12])
    return submission


def store_samples(
    user: Any, order: Order, draft: SubmissionDraft, identity: str, stored: Mapping[bytes, str]
) -> tuple[Submission, list[Sample]]:
    """The submission's row and its samples', inside the caller's transaction; holds the entrant from here on."""
    count.hold(order.entrant.pk)
    problems = {problem.task_id: problem for problem in order.release.problems.defer("record")}
    submission = Submission.objects.create(
        entrant=order.entrant,
        release=order.release,
        is_full=draft.full,
        name=draft.name[:200],
        note=order.note[:500],
        digest=draft.digest,
        identity=identity,
        asks_to_count=draft.full and order.asks_to_count and not order.verifies,
        n_samples_per_problem=max((one.index + 1 for one in draft.samples), default=0),
        submitted_by=user if getattr(user, "is_authenticated", False) else None,
        submitted_through=order.through,
        priority=order.priority or _priority(draft),
    )
    submission.tracks.set(order.tracks)
    samples = _samples(submission, draft, problems, stored)
    Sample.objects.bulk_create(samples, batch_size=BATCH)
    return submission, samples


def _priority(draft: SubmissionDraft) -> int:
    """Somebody waits for typed code; a part of a pack, which may be nearly all of it, takes its turn."""
    return TYPED_CODE_PRIORITY if not draft.full and len(draft.samples) == 1 else 0


def _samples(
    submission: Submission, draft: SubmissionDraft, problems: Mapping[str, Problem], stored: Mapping[bytes, str]
) -> list[Sample]:
    rows = [
        Sample(
            submission=submission,
            problem=problems[one.task_id],
            index=one.index,
            solution_sha256="" if one.invalid_reason else stored[one.record],
            solution_bytes=len(one.record),
            invalid_reason=one.invalid_reason[:500],
        )
        for one in draft.samples
    ]
    if submission.is_full:
        rows += _absent(submission, problems.values(), {(row.problem_id, row.index) for row in rows})
    return rows


def _absent(submission: Submission, problems: Iterable[Problem], present: set[tuple[int, int]]) -> list[Sample]:
    """Every absent (problem, index) of a full submission is an invalid sample: leaving one out gains nothing."""
    return [
        Sample(submission=submission, problem=problem, index=index, invalid_reason=MISSING)
        for problem in problems
        for index in range(submission.n_samples_per_problem)
        if (problem.pk, index) not in present
    ]


def _evaluate_on(submission: Submission, track: Track, samples: Sequence[Sample]) -> None:
    evaluations = make_evaluations(submission, track, samples)
    scores.begin(submission, track)
    queued = [one.pk for one in evaluations if one.state == EvaluationState.QUEUED]
    if queued:
        evaluations_queued.send(Submission, evaluation_ids=queued, priority=submission.priority)
    else:
        scores.finish_if_done(submission)


def make_evaluations(
    submission: Submission, track: Track, samples: Sequence[Sample], judge_version: str = JUDGE_VERSION
) -> list[Evaluation]:
    """The track's evaluations: those that need no node get their result at once, the rest wait as queued."""
    skips = dict(
        ProblemTrack.objects.filter(track=track, problem__release=submission.release)
        .exclude(skip_reason="")
        .values_list("problem_id", "skip_reason")
    )
    settled = {n: _settled(sample, skips) for n, sample in enumerate(samples)}
    now = timezone.now()
    evaluations = [
        Evaluation(
            sample=sample,
            track=track,
            judge_version=judge_version,
            submission=submission,
            problem_id=sample.problem_id,
            state=EvaluationState.DONE if settled[n] else EvaluationState.QUEUED,
            done_at=now if settled[n] else None,
        )
        for n, sample in enumerate(samples)
    ]
    Evaluation.objects.bulk_create(evaluations, batch_size=BATCH)
    _settle([(one, *found) for n, one in enumerate(evaluations) if (found := settled[n])])
    return evaluations


def _settled(sample: Sample, skips: Mapping[int, str]) -> tuple[Verdict, str] | None:
    if reason := skips.get(sample.problem_id):
        return Verdict.SKIPPED, reason
    if sample.invalid_reason:
        return Verdict.INVALID, sample.invalid_reason
    return None


def _settle(done: Sequence[tuple[Evaluation, Verdict, str]]) -> None:
    results = [
        Result(evaluation=one, origin=ResultOrigin.SITE, verdict=verdict, reason=reason)
        for one, verdict, reason in done
    ]
    Result.objects.bulk_create(results, batch_size=BATCH)
    for result in results:
        result.evaluation.current_result = result
    Evaluation.objects.bulk_update([result.evaluation for result in results], ["current_result"], batch_size=200)
