"""The rows of a submission's evaluations on its tracks, and their way into the queue."""

from collections.abc import Mapping, Sequence

from django.utils import timezone

from leaderboard.models import Evaluation, EvaluationState, ProblemTrack, Result, Sample, Submission, Track
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.rows.current import make_newest_current
from leaderboard.signals import evaluations_queued
from leaderboard.standings import scores
from problems.models import Problem
from problems.spec.kinds import Kind
from runners.wire.protocol import JUDGE_VERSIONS, Verdict

BATCH = 1000


def make_evaluations(
    submission: Submission, track: Track, samples: Sequence[Sample], judge_version: str | None = None
) -> None:
    """Store one evaluation per sample on the track. Skipped and invalid ones get their result; the rest wait as queued.

    `judge_version` is set for results judged elsewhere; otherwise it is the present one of the problem's kind.
    """
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
            judge_version=_version_for(sample.problem) if judge_version is None else judge_version,
            submission=submission,
            problem_id=sample.problem_id,
            state=EvaluationState.DONE if settled[n] else EvaluationState.QUEUED,
            done_at=now if settled[n] else None,
        )
        for n, sample in enumerate(samples)
    ]
    Evaluation.objects.bulk_create(evaluations, batch_size=BATCH)
    _settle([(one, *found) for n, one in enumerate(evaluations) if (found := settled[n])])


def queue_evaluations(submission: Submission) -> None:
    """Score the new submission and queue its evaluations that wait for a node; if none waits, it is done."""
    for track in submission.tracks.all():
        scores.rescore(submission, track)
    queued = Evaluation.objects.live().filter(submission=submission, state=EvaluationState.QUEUED)
    if ids := list(queued.values_list("pk", flat=True)):
        evaluations_queued.send(Submission, evaluation_ids=ids, priority=submission.priority)
    else:
        scores.finish_if_done(submission)


def _version_for(problem: Problem) -> str:
    return JUDGE_VERSIONS[Kind(problem.kind)]


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
    make_newest_current([one.pk for one, _, _ in done])
