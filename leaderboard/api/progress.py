"""How far a submission is: counts per state, verdict and stage, and its place in the queue. Facts, no forecasts."""

from typing import Any

from django.db.models import Count, Q
from rest_framework import serializers

from leaderboard.models import Evaluation, EvaluationState, Submission
from runners.fleet.models import Attempt, AttemptState, Job, JobState


class QueuePlaceSerializer(serializers.Serializer[Any]):
    track = serializers.CharField()
    stage = serializers.CharField()
    ahead = serializers.IntegerField(help_text="Jobs that go before this submission's next one.")


class ProgressSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField()
    state = serializers.CharField()
    total = serializers.IntegerField()
    done = serializers.IntegerField(help_text="Evaluations that are done or cancelled.")
    states = serializers.DictField(child=serializers.IntegerField())
    verdicts = serializers.DictField(
        child=serializers.IntegerField(), help_text="Null while results are hidden.", allow_null=True
    )
    stages = serializers.DictField(child=serializers.IntegerField(), help_text="What running attempts do now.")
    queue = QueuePlaceSerializer(many=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


def progress(submission: Submission, *, with_verdicts: bool) -> dict[str, Any]:
    """Counts over all tracks; four queries whatever the submission's size, and one per queue it waits in."""
    evaluations = Evaluation.objects.filter(submission=submission)
    states = _counts(evaluations.values_list("state").annotate(Count("pk")))
    verdicts = evaluations.exclude(current_result=None).values_list("current_result__verdict").annotate(Count("pk"))
    running = Attempt.objects.filter(state=AttemptState.LEASED, job__evaluation__submission=submission)
    return {
        "submission": submission.pk,
        "state": submission.state,
        "total": sum(states.values()),
        "done": states.get(EvaluationState.DONE, 0) + states.get(EvaluationState.CANCELLED, 0),
        "states": states,
        "verdicts": _counts(verdicts) if with_verdicts else None,
        "stages": _counts(running.order_by().values_list("work_stage").annotate(Count("pk"))),
        "queue": _places(submission),
        "created_at": submission.created_at,
        "finished_at": submission.finished_at,
    }


def _counts(rows: Any) -> dict[str, int]:
    return {str(key): number for key, number in sorted(rows)}


def _places(submission: Submission) -> list[dict[str, Any]]:
    """One row per queue in which the submission waits, with the jobs before its next one."""
    waiting = Job.objects.filter(evaluation__submission=submission, state=JobState.QUEUED)
    queues = waiting.order_by("track__slug", "stage").values_list("track_id", "track__slug", "stage").distinct()
    return [
        {"track": slug, "stage": stage, "ahead": _ahead(waiting.filter(track_id=pk, stage=stage))}
        for pk, slug, stage in queues
    ]


def _ahead(waiting: Any) -> int:
    first = waiting.order_by("-priority", "fair_tag", "id").first()
    if first is None:
        return 0
    before = Q(priority__gt=first.priority) | Q(priority=first.priority, fair_tag__lt=first.fair_tag)
    before |= Q(priority=first.priority, fair_tag=first.fair_tag, id__lt=first.pk)
    return Job.objects.filter(before, track=first.track_id, stage=first.stage, state=JobState.QUEUED).count()
