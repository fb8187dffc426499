"""Trials: send one solution to be tried on one track before it is submitted, and read what came of it."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import ScopedRateThrottle

from leaderboard.actions.intake.try_solution import try_solution
from leaderboard.api import intake
from leaderboard.api.evaluations import STEP_FACTS, CaseSerializer, StepSerializer
from leaderboard.api.releases import FileSerializer
from leaderboard.api.site.base import ApiView, found
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Track, Trial
from leaderboard.results.logs import SHOWN_BYTES, log_text
from leaderboard.results.shown_cases import shown_trial_cases
from leaderboard.visibility import visible_trials
from problems.formats.submission import single_solution
from problems.models import Problem, Release
from problems.spec.solution import SourceFile


class TrialOrderSerializer(serializers.Serializer[Any]):
    release = serializers.CharField(help_text="A release's slug.")
    task_id = serializers.CharField()
    track = serializers.CharField(help_text="A track's slug.")
    files = FileSerializer(many=True, allow_empty=False)
    sizes = serializers.DictField(
        child=serializers.IntegerField(min_value=-(2**53), max_value=2**53), required=False,
        help_text="Of a function: lengths by the name of a whole-number scalar; the others are the smallest case's.",
    )  # fmt: skip


class TrialSerializer(serializers.Serializer[Any]):
    """A trial. It builds, and runs the problem's visible tests where it has such; it is forgotten after a day."""

    id = serializers.IntegerField()
    release = serializers.CharField()
    task_id = serializers.CharField()
    track = serializers.CharField()
    sizes = serializers.DictField(child=serializers.IntegerField(), help_text="Own sizes; empty for the smallest case.")
    state = serializers.ChoiceField(["queued", "leased", "done"])
    verdict = serializers.CharField(help_text="Empty until it is done.")
    reason = serializers.CharField()
    ran_tests = serializers.BooleanField(help_text="Whether visible tests are run; otherwise it only builds.")
    steps = StepSerializer(many=True)
    cases = CaseSerializer(many=True)
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


def _rendered(user: Any, trial: Trial) -> dict[str, Any]:
    outcome = trial.outcome or {}
    answer = {
        "id": trial.pk,
        "release": trial.problem.release.slug,
        "task_id": trial.problem.task_id,
        "track": trial.track.slug,
        "sizes": trial.sizes,
        "state": trial.state,
        "verdict": outcome.get("verdict", ""),
        "reason": outcome.get("reason", ""),
        "ran_tests": trial.problem.spec.trial_runs_tests,
        "steps": [_step(step) for step in outcome.get("steps", ())],
        "cases": shown_trial_cases(user, outcome.get("cases", ())),
        "created_at": trial.created_at,
        "ended_at": trial.ended_at,
    }
    return dict(TrialSerializer(answer).data)


def _step(step: dict[str, Any]) -> dict[str, Any]:
    """Every log of a trial is its user's to read: its runs are given no held-out file."""
    facts = {name: step.get(name) for name in STEP_FACTS}
    return {**facts, "log": log_text(step.get("log") or {}, SHOWN_BYTES)}


class TrialList(ApiView):
    throttle_classes = [ScopedRateThrottle]
    throttle_scope = "submit"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse what is too large before a byte of it is parsed."""
        intake.check_size(request)
        super().initial(request, *args, **kwargs)

    @extend_schema(tags=["trials"], request=TrialOrderSerializer, responses={201: TrialSerializer})
    def post(self, request: Request) -> Response:
        """Try one solution: it is built, and run with the problem's visible tests where it has such."""
        form = TrialOrderSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said = form.validated_data
        release = found(Release.objects.visible_to(request.user), "release", pointer="/release", slug=said["release"])
        problems = Problem.objects.filter(release=release).select_related("release")
        problem = found(problems, "problem", pointer="/task_id", task_id=said["task_id"])
        track = found(Track.objects.all(), "track", pointer="/track", slug=said["track"])
        files = [SourceFile(path=file["path"], content=file["content"]) for file in said["files"]]
        incoming = single_solution(problem.task_id, files, catalogue_of(release))
        trial = try_solution(request.user, problem, track, incoming.samples[0], said.get("sizes"))
        return Response(_rendered(request.user, trial), status.HTTP_201_CREATED)


class TrialDetail(ApiView):
    @extend_schema(tags=["trials"], responses=TrialSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """One of your trials: its state, and what came of it."""
        rows = visible_trials(request.user).select_related("problem__release", "track")
        return Response(_rendered(request.user, found(rows, "trial", pk=pk)))
