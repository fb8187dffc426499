"""Carry results over to a release's next revision. A result holds if its problem's grading digest is the same."""

import hashlib
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from leaderboard import blobs
from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import (
    Counted,
    Evaluation,
    EvaluationState,
    Result,
    Sample,
    Submission,
)
from leaderboard.models.audit import record
from leaderboard.rows.copied_results import copy_result
from leaderboard.rows.evaluations import make_evaluations, queue_evaluations
from leaderboard.rows.measurements import is_provisional
from leaderboard.rows.submissions import SubmissionMetadata, site_identity_of, store_blobs, store_samples, twin
from leaderboard.standings import count
from leaderboard.standings.absent import MISSING
from problems.formats.drafts import Declared, SampleDraft, SubmissionDraft
from problems.models import Problem, Release


def carry(user: Any, release: Release) -> list[Submission]:
    """Store every counted submission of the previous revision anew; results that hold are reused, the rest queued.

    Checks that the user is an organiser and that there is a previous revision. Membership and the release's dates are
    not checked: each submitter asked for the submission to count, in time. Raises NotAllowed or Refused.
    """
    if not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser carries results over.")
    if release.previous is None:
        raise Refused("first_revision", f"{release.slug} is its release's first revision; there is nothing to carry.")
    counted = Counted.objects.filter(release=release.previous).select_related("submission__entrant")
    made = [_carry_one(user, release, one) for one in dict.fromkeys(entry.submission for entry in counted)]
    record(user, "carry", release, submissions=[one.pk for one in made], previous=release.previous.slug)
    return made


@transaction.atomic
def _carry_one(user: Any, release: Release, old: Submission) -> Submission:
    draft = _draft(old, release)
    tracks = list(old.tracks.filter(on_releases__release=release))
    metadata = SubmissionMetadata(
        old.entrant, release, tracks, old.asks_to_count, through="site", note=f"Carried from #{old.pk}",
        licence=old.licence,
    )  # fmt: skip
    identity = site_identity_of(metadata, draft)
    stored = store_blobs(draft.samples)
    count.hold(old.entrant_id)  # of two organisers who carry at once, the second finds what the first stored
    if found := twin(identity):
        return found
    submission, samples = store_samples(user, metadata, draft, identity, stored)
    for track in tracks:
        make_evaluations(submission, track, samples)
    n_reused = _reuse(submission, old)
    queue_evaluations(submission)
    count.settle(submission, user)
    record(user, "carry", submission, previous=old.pk, reused=n_reused)
    return submission


def _draft(old: Submission, release: Release) -> SubmissionDraft:
    """The old samples, read from their blobs, of the tasks that the new revision has."""
    kept = set(release.problems.values_list("task_id", flat=True))
    related = old.samples.select_related("problem")
    samples = [_sample(one) for one in related if one.problem.task_id in kept and one.invalid_reason != MISSING]
    declared = Declared(old.generation, old.tokens_per_sample, old.usd_per_sample)
    return SubmissionDraft(name=old.name, full=old.is_full, samples=tuple(samples), declared=declared)


def _sample(one: Sample) -> SampleDraft:
    record = b"" if one.invalid_reason else blobs.read(one.solution_sha256)
    digest = hashlib.sha256(record).hexdigest()
    return SampleDraft(one.problem.task_id, one.index, 0, record, digest, one.invalid_reason, one.language)


def _reuse(new: Submission, old: Submission) -> int:
    """Copy the old current result to each evaluation whose problem is graded the same; returns how many were copied."""
    holding = _holding(new.release, old.release)
    queued = (
        Evaluation.objects.live()
        .filter(submission=new, state=EvaluationState.QUEUED)
        .select_related("sample", "problem__release")
    )
    return sum(one.problem_id in holding and _reuse_one(one, old, holding[one.problem_id]) for one in queued)


def _holding(release: Release, previous: Release) -> Mapping[int, Problem]:
    """The old problem with the same task and grading digest, by new problem id."""
    old = {(one.task_id, one.grading_digest): one for one in previous.problems.defer("record")}
    return {
        one.pk: match
        for one in release.problems.defer("record")
        if (match := old.get((one.task_id, one.grading_digest)))
    }


def _reuse_one(evaluation: Evaluation, old: Submission, problem: Problem) -> bool:
    source = _source(evaluation, old, problem)
    if source is None or source.current_result is None or _has_provisional_times(source.current_result, evaluation):
        return False
    result = copy_result(source.current_result, evaluation)
    moved = Evaluation.objects.filter(pk=evaluation.pk, state=EvaluationState.QUEUED)
    return bool(moved.update(state=EvaluationState.DONE, current_result=result, done_at=result.created_at))


def _source(evaluation: Evaluation, old: Submission, problem: Problem) -> Evaluation | None:
    """The finished old evaluation of the same sample on the same track, by the same version of the judge."""
    done = Evaluation.objects.live().filter(submission=old, state=EvaluationState.DONE, track=evaluation.track)
    same = done.filter(problem=problem, sample__index=evaluation.sample.index, judge_version=evaluation.judge_version)
    return same.select_related("current_result").first()


def _has_provisional_times(result: Result, evaluation: Evaluation) -> bool:
    """Whether the times do not suffice for the timing policy that the new revision promises."""
    measured_under = str(result.provenance.get("timing_policy", ""))
    promised = evaluation.problem.release.timing_policy
    return is_provisional(measured_under, promised) and result.measurements.exists()
