"""A submission's progress: counts per state, verdict and stage, and its places in the queues."""

from collections import Counter
from typing import Any

from django.db.models import Count
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.site.base import ApiView
from leaderboard.api.submissions import seen_submission
from leaderboard.models import Evaluation, EvaluationState, Submission
from leaderboard.standings.absent import absent_verdicts
from leaderboard.visibility import SubmissionView, view_of
from runners.fleet.queue.queue_place import queue_places, running_stages


class QueuePlaceSerializer(serializers.Serializer[Any]):
    track = serializers.CharField()
    stage = serializers.CharField()
    ahead = serializers.IntegerField(help_text="Jobs ahead of this submission's next one.")


class ProgressSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField()
    state = serializers.CharField()
    total = serializers.IntegerField()
    done = serializers.IntegerField(help_text="Evaluations that are done or cancelled, and absent samples.")
    states = serializers.DictField(child=serializers.IntegerField())
    verdicts = serializers.DictField(
        child=serializers.IntegerField(), help_text="Null while results are hidden.", allow_null=True
    )
    stages = serializers.DictField(child=serializers.IntegerField(), help_text="Number of running attempts by stage.")
    queue = QueuePlaceSerializer(many=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


def progress(submission: Submission, view: SubmissionView) -> dict[str, Any]:
    """Counts over all tracks, absent samples included. A few queries, and two more for each queue in which it waits."""
    evaluations = Evaluation.objects.live().filter(submission=submission)
    absent = absent_verdicts(submission)
    states = Counter(dict(evaluations.values_list("state").annotate(Count("pk"))))
    states += Counter({EvaluationState.DONE.value: absent.total()})
    judged = view.told(evaluations.exclude(current_result=None)).values_list("told")
    verdicts = Counter(dict(judged.annotate(Count("pk")))) + absent
    return {
        "submission": submission.pk,
        "state": submission.state,
        "total": states.total(),
        "done": states[EvaluationState.DONE] + states[EvaluationState.CANCELLED],
        "states": _in_order(states),
        "verdicts": _in_order(verdicts) if view.results else None,
        "stages": running_stages(submission),
        "queue": queue_places(submission),
        "created_at": submission.created_at,
        "finished_at": submission.finished_at,
    }


def _in_order(counts: Counter[str]) -> dict[str, int]:
    return {str(key): number for key, number in sorted(counts.items())}


class SubmissionProgress(ApiView):
    @extend_schema(tags=["submissions"], responses=ProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Counts per state, verdict and stage, and the place in the queue."""
        submission = seen_submission(request, pk)
        view = view_of(request.user, submission)
        return Response(ProgressSerializer(progress(submission, view)).data)
