"""How far a submission is: counts per state, verdict and stage, and its place in the queue. Facts, no forecasts."""

from typing import Any

from django.db.models import Count
from rest_framework import serializers

from leaderboard.models import Evaluation, EvaluationState, Submission
from leaderboard.queue_place import queue_places, running_stages


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
    """Counts over all tracks; four queries whatever the submission's size, and two for each queue it waits in."""
    evaluations = Evaluation.objects.filter(submission=submission)
    states = _counts(evaluations.values_list("state").annotate(Count("pk")))
    verdicts = evaluations.exclude(current_result=None).values_list("current_result__verdict").annotate(Count("pk"))
    return {
        "submission": submission.pk,
        "state": submission.state,
        "total": sum(states.values()),
        "done": states.get(EvaluationState.DONE, 0) + states.get(EvaluationState.CANCELLED, 0),
        "states": states,
        "verdicts": _counts(verdicts) if with_verdicts else None,
        "stages": running_stages(submission),
        "queue": queue_places(submission),
        "created_at": submission.created_at,
        "finished_at": submission.finished_at,
    }


def _counts(rows: Any) -> dict[str, int]:
    return {str(key): number for key, number in sorted(rows)}
