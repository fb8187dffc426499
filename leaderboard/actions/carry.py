"""Carry results over to a release's next revision: where the grading digest is the same, the result still holds."""

import hashlib
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from leaderboard import blobs
from leaderboard.actions import count, scores
from leaderboard.actions.errors import NotAllowed, Refused
from leaderboard.actions.submit import MISSING, Order, submit
from leaderboard.models import (
    Counted,
    Evaluation,
    EvaluationState,
    Measurement,
    ProblemTrack,
    Result,
    Sample,
    Submission,
)
from leaderboard.models.audit import record
from leaderboard.models.evaluation import ResultOrigin
from leaderboard.signals import evaluations_cancelled
from problems.formats.submission import SampleDraft, SubmissionDraft
from problems.models import Problem, Release
from runners.protocol import JUDGE_VERSION


def carry(user: Any, release: Release) -> list[Submission]:
    """Resubmit every counted submission of the previous revision; results that hold are reused, the rest queued."""
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
    order = Order(old.entrant, release, tracks, through="site", note=f"Carried from #{old.pk}", verifies=True)
    receipt = submit(user, order, draft)
    if receipt.created:
        Submission.objects.filter(pk=receipt.submission.pk).update(asks_to_count=old.asks_to_count, is_full=old.is_full)
        receipt.submission.refresh_from_db()
        _reuse(receipt.submission, old)
    return receipt.submission


def _draft(old: Submission, release: Release) -> SubmissionDraft:
    """The old samples of the tasks that the new revision still has, read back from their blobs."""
    kept = set(release.problems.values_list("task_id", flat=True))
    related = old.samples.select_related("problem")
    samples = [_sample(one) for one in related if one.problem.task_id in kept and one.invalid_reason != MISSING]
    return SubmissionDraft(name=old.name, full=old.is_full, samples=tuple(samples))


def _sample(one: Sample) -> SampleDraft:
    record = b"" if one.invalid_reason else blobs.read(one.solution_sha256)
    digest = hashlib.sha256(record).hexdigest()
    return SampleDraft(one.problem.task_id, one.index, 0, record, digest, one.invalid_reason)


def _reuse(new: Submission, old: Submission) -> None:
    """Give each queued evaluation whose problem is graded the same the old current result, marked as reused."""
    holding = _holding(new.release, old.release)
    queued = Evaluation.objects.filter(submission=new, state=EvaluationState.QUEUED).select_related("sample", "problem")
    reused = [one.pk for one in queued if one.problem_id in holding and _reuse_one(one, old, holding[one.problem_id])]
    evaluations_cancelled.send(Submission, evaluation_ids=reused)
    for track in new.tracks.all():
        scores.rescore(new, track)
    scores.finish_if_done(new)
    count.settle(new, None)


def _holding(release: Release, previous: Release) -> Mapping[int, Problem]:
    """New problem id → the old problem with the same task and grading digest."""
    old = {(one.task_id, one.grading_digest): one for one in previous.problems.defer("record")}
    return {
        one.pk: match
        for one in release.problems.defer("record")
        if (match := old.get((one.task_id, one.grading_digest)))
    }


def _reuse_one(evaluation: Evaluation, old: Submission, problem: Problem) -> bool:
    sample = Sample.objects.filter(submission=old, problem=problem, index=evaluation.sample.index).first()
    source = sample and sample.evaluations.filter(track=evaluation.track, judge_version=JUDGE_VERSION).first()
    if not source or source.current_result is None or source.state != EvaluationState.DONE:
        return False
    result = _copy(source.current_result, evaluation)
    moved = Evaluation.objects.filter(pk=evaluation.pk, state=EvaluationState.QUEUED)
    return bool(moved.update(state=EvaluationState.DONE, current_result=result, done_at=result.created_at))


def _copy(old: Result, evaluation: Evaluation) -> Result:
    result = Result.objects.create(
        evaluation=evaluation,
        origin=ResultOrigin.FLEET if old.origin == ResultOrigin.FLEET else old.origin,
        reused_from=old,
        verdict=old.verdict,
        reason=old.reason,
        witness=old.witness,
        speedup=old.speedup,
        steps=old.steps,
        provenance=old.provenance,
        profile=old.profile,
    )
    for one in old.measurements.all():
        one.pk, one.result, one.problem = None, result, evaluation.problem
        one.save(force_insert=True)
    for flag in old.flags.all():
        flag.pk, flag.result = None, result
        flag.save(force_insert=True)
    _copy_baseline_state(old, evaluation)
    return result


def _copy_baseline_state(old: Result, evaluation: Evaluation) -> None:
    before = ProblemTrack.objects.filter(problem=old.evaluation.problem, track=evaluation.track).first()
    if before and Measurement.objects.filter(result__evaluation=evaluation, baseline__isnull=False).exists():
        ProblemTrack.objects.filter(problem=evaluation.problem, track=evaluation.track).update(
            has_rankable_baseline=before.has_rankable_baseline, baseline_median_ms=before.baseline_median_ms
        )
