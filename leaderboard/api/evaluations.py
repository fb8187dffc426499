"""GET /api/v1/evaluations/<id>: verdict and why, measurements, flags and provenance, each to whom it may be shown."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.site.base import ApiView, found, not_found
from leaderboard.models import Evaluation, Flag, Measurement, Result, Submission
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.results.first_failure import FirstFailures
from leaderboard.results.headline import counted_of, headline_of
from leaderboard.results.measurements import held_out_of
from leaderboard.results.reproduce import ReproductionRecipe, recipe_of
from leaderboard.results.shown_cases import shown_cases, shown_measurements
from leaderboard.site.numerals import milliseconds
from leaderboard.standings.absent import AbsentSamples
from leaderboard.visibility import (
    SubmissionView,
    shown_reason,
    view_of,
    visible_evaluations,
)
from runners.wire.protocol import BUILD_STEP, Clock, Role, Witness


class MeasurementSerializer(serializers.ModelSerializer[Measurement]):
    """`runs_ms` has one median per process, in milliseconds, in the order they ran; `device` is what was seen of the
    device meanwhile; `shown` is the time as pages write it, with the decimals that its interval supports."""

    shown = serializers.SerializerMethodField()

    def get_shown(self, one: Measurement) -> str:
        return milliseconds(one.median_ms, one.ci_low_ms, one.ci_high_ms)

    class Meta:
        model = Measurement
        fields: ClassVar = [
            "role", "case", "median_ms", "ci_low_ms", "ci_high_ms", "shown", "runs_ms", "clock", "work_checked",
            "witness", "ranks", "device", "measured_at",
        ]  # fmt: skip


class PairSerializer(MeasurementSerializer):
    """A candidate's time with the baseline it was held against."""

    baseline = MeasurementSerializer(allow_null=True)

    class Meta(MeasurementSerializer.Meta):
        fields: ClassVar = [*MeasurementSerializer.Meta.fields, "baseline"]


class FlagSerializer(serializers.ModelSerializer[Flag]):
    ruling = serializers.SerializerMethodField(help_text="upheld, dismissed, or null while nobody has decided.")
    public_reason = serializers.SerializerMethodField()

    class Meta:
        model = Flag
        fields: ClassVar = ["code", "scope", "detail", "created_at", "ruling", "public_reason"]

    def get_ruling(self, flag: Flag) -> str | None:
        latest = next(iter(flag.decisions.all()), None)
        return latest.kind.removeprefix("flag_") if latest else None

    def get_public_reason(self, flag: Flag) -> str:
        latest = next(iter(flag.decisions.all()), None)
        return latest.public_reason if latest else ""


class CaseSerializer(serializers.Serializer[Any]):
    """One case of the problem, with the fields that you may read."""

    name = serializers.CharField()
    verdict = serializers.CharField()
    facts = serializers.DictField()


class HeldOutSerializer(serializers.Serializer[Any]):
    """Speedups over the held-out cases and over the others; the cases themselves are not shown."""

    n_cases = serializers.IntegerField()
    speedup = serializers.FloatField()
    public_speedup = serializers.FloatField()
    gap = serializers.FloatField(help_text="speedup ÷ public_speedup")


def facts_of(evaluation: Evaluation, result: Result, view: SubmissionView) -> dict[str, Any]:
    """The facts of a result that this asker may read: no problem content, no code, no logs."""
    timed, cases = [one for one in result.measurements.all() if one.role == Role.CANDIDATE], result.cases.all()
    counted = counted_of(result, timed, cases, evaluation.problem.on_tracks.all(), evaluation.track_id)
    headline = headline_of(result, timed, cases)
    return {
        "verdict": result.verdict,
        "reason": shown_reason(view, result.verdict, result.reason),
        "witness": result.witness,
        "speedup": result.speedup,
        "speedup_low": headline.low,
        "speedup_high": headline.high,
        "speedup_shown": headline.text if result.speedup is not None else "",
        "n_speedup_cases": counted.n if counted else None,
        "n_timed_cases": counted.n_timed if counted else None,
        "self_reported": any(one.clock == Clock.SELF for one in timed),
        "origin": result.origin,
        "cases": CaseSerializer(shown_cases(view, cases), many=True).data,
        "measurements": PairSerializer(shown_measurements(view, timed), many=True).data,
        "held_out": HeldOutSerializer(held_out).data if (held_out := held_out_of(timed)) else None,
        "flags": FlagSerializer(result.flags.all(), many=True).data,
        "provenance": result.provenance,
        "created_at": result.created_at.isoformat(),
    }


def facts_of_absent(one: AbsentSamples, submission: Submission, view: SubmissionView) -> dict[str, Any]:
    """The same of a sample that the submission lacks."""
    return {
        "verdict": one.verdict.value,
        "reason": shown_reason(view, one.verdict, one.reason),
        "witness": Witness.UNAVAILABLE.value,
        "speedup": None,
        "speedup_low": None,
        "speedup_high": None,
        "speedup_shown": "",
        "n_speedup_cases": None,
        "n_timed_cases": None,
        "self_reported": False,
        "origin": ResultOrigin.SITE.value,
        "cases": [],
        "measurements": [],
        "held_out": None,
        "flags": [],
        "provenance": {},
        "created_at": submission.created_at.isoformat(),
    }


def with_facts(rows: QuerySet[Evaluation]) -> QuerySet[Evaluation]:
    """Everything `facts_of` and its callers read, in a constant number of queries."""
    return (
        rows.select_related("track", "problem", "sample", "current_result")
        .defer("problem__record")
        .prefetch_related(
            "current_result__measurements__baseline",
            "current_result__flags__decisions",
            "current_result__cases",
            "problem__on_tracks",
        )
    )


class ResultSerializer(serializers.Serializer[Any]):
    verdict = serializers.CharField()
    reason = serializers.CharField(help_text="Empty for strangers unless the problem was skipped.")
    witness = serializers.CharField()
    speedup = serializers.FloatField(allow_null=True)
    speedup_low = serializers.FloatField(allow_null=True, help_text="The ends of its 95 % interval; null without one.")
    speedup_high = serializers.FloatField(allow_null=True)
    speedup_shown = serializers.CharField(
        help_text="As pages write it, with the decimals that the interval supports; empty without one."
    )
    n_speedup_cases = serializers.IntegerField(
        allow_null=True, help_text="The cases that the speedup is over; null if it is not known which count."
    )
    n_timed_cases = serializers.IntegerField(
        allow_null=True, help_text="The cases that are timed for everybody on the track. Of fewer a part is missing."
    )
    self_reported = serializers.BooleanField(
        help_text="Whether the program printed its own time. Such a time and its speedup never rank."
    )
    origin = serializers.CharField()
    cases = CaseSerializer(many=True)
    measurements = PairSerializer(many=True)
    held_out = HeldOutSerializer(allow_null=True)
    flags = FlagSerializer(many=True)
    provenance = serializers.DictField()
    created_at = serializers.DateTimeField()


class StepSerializer(serializers.Serializer[Any]):
    """A command as it was run. `log` is null where you may not read it."""

    name = serializers.CharField()
    exit_code = serializers.IntegerField(allow_null=True)
    signal = serializers.IntegerField(allow_null=True)
    timed_out = serializers.BooleanField()
    memory_exceeded = serializers.BooleanField()
    wall_ms = serializers.FloatField()
    cpu_ms = serializers.FloatField()
    peak_memory_bytes = serializers.IntegerField()
    cached = serializers.BooleanField()
    log = serializers.CharField(allow_null=True)


class FirstFailureSerializer(serializers.Serializer[Any]):
    """The first test or case that failed."""

    where = serializers.CharField(help_text="As `Build`, `Test test_sums` or `Case large`; empty if it is not known.")
    message = serializers.CharField(help_text="What it said, at most 600 characters.")


class RecipeSerializer(serializers.Serializer[Any]):
    """How to run the sample again; digests in lower-case hex."""

    command = serializers.CharField(help_text="Of `podium evaluate`, with both packs in the present folder.")
    reproduce = serializers.CharField(help_text="Of `podium reproduce`, which fetches what it needs.")
    problems_file = serializers.CharField()
    solutions_file = serializers.CharField(help_text="`<evaluation's page>/solutions.tar.gz`.")
    digests = serializers.DictField(child=serializers.CharField())
    record_md5 = serializers.CharField(help_text="Of the problem's record; empty for a question.")
    grading_digest = serializers.CharField(help_text="Of what grading depends on; empty for a question.")
    solution_sha256 = serializers.CharField(help_text="Of the sample's record; empty for a question.")
    timed_cases = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="As fixed on the track; null if they are not."
    )
    machine = serializers.SerializerMethodField(help_text="What ran it, by label.")

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_machine(self, recipe: ReproductionRecipe) -> dict[str, str]:
        return dict(recipe.machine)


class EvaluationSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    submission = serializers.IntegerField()
    release = serializers.CharField()
    task_id = serializers.CharField()
    problem = serializers.CharField(help_text="The problem's slug.")
    sample = serializers.IntegerField(help_text="Counted from 0.")
    track = serializers.CharField()
    judge_version = serializers.CharField()
    state = serializers.CharField()
    queued_at = serializers.DateTimeField()
    done_at = serializers.DateTimeField(allow_null=True)
    result = ResultSerializer(allow_null=True, help_text="The current result; null until there is one.")
    first_failure = FirstFailureSerializer(
        allow_null=True, help_text="For the team, as the release allows; null where nothing failed or may be read."
    )
    steps = StepSerializer(many=True)
    reproduce = RecipeSerializer(allow_null=True, help_text="Null where nothing was judged.")
    sealed_until = serializers.DateTimeField(
        allow_null=True, help_text="When the outcome of a sealed question is told; null where it is."
    )
    n_results = serializers.IntegerField(help_text="All results, the current one included.")


STEP_FACTS = (
    "name", "exit_code", "signal", "timed_out", "memory_exceeded", "wall_ms", "cpu_ms", "peak_memory_bytes", "cached",
)  # fmt: skip


def _steps(result: Result | None, view: SubmissionView) -> list[dict[str, Any]]:
    """How each step ended (the team's and the organisers'), with the logs that the asker may read."""
    if result is None or view.run_log == "none":
        return []
    return [_step(step, view) for step in result.steps]


def _step(step: dict[str, Any], view: SubmissionView) -> dict[str, Any]:
    readable = view.build_log if step.get("name") == BUILD_STEP else view.run_log == "full"
    return {
        **{name: step.get(name) for name in STEP_FACTS},
        "log": (step.get("log") or {}).get("text", "") if readable else None,
    }


class EvaluationDetail(ApiView):
    @extend_schema(tags=["submissions"], responses=EvaluationSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """One evaluation with its current result."""
        seen = visible_evaluations(request.user).select_related("submission__entrant", "submission__release")
        rows = with_facts(seen)
        one = found(rows, "evaluation", pk=pk)
        view = view_of(request.user, one.submission)
        if not view.is_visible:
            raise not_found("evaluation", pk)
        return Response(_rendered(view.hide(one), view))


def first_failure_of(
    one: Evaluation, result: Result, view: SubmissionView, failures: FirstFailures
) -> dict[str, str] | None:
    """Where it failed first and what was said. The evaluation's problem has its release."""
    found = failures.of(result, one.problem, shown_cases(view, result.cases.all()))
    return {"where": found.where, "message": found.message} if found else None


def _rendered(one: Evaluation, view: SubmissionView) -> dict[str, Any]:
    result = one.current_result if view.results else None
    one.problem.release = one.submission.release
    return {
        "id": one.pk,
        "submission": one.submission_id,
        "release": one.submission.release.slug,
        "task_id": one.problem.task_id,
        "problem": one.problem.slug,
        "sample": one.sample.index,
        "track": one.track.slug,
        "judge_version": one.judge_version,
        "state": one.state,
        "queued_at": one.queued_at,
        "done_at": one.done_at,
        "result": facts_of(one, result, view) if result else None,
        "first_failure": first_failure_of(one, result, view, FirstFailures(view, n_blobs=1)) if result else None,
        "steps": _steps(result, view),
        "reproduce": RecipeSerializer(recipe).data if result and (recipe := recipe_of(one, result, view)) else None,
        "sealed_until": one.submission.release.reveals_at if one.is_sealed else None,
        "n_results": one.results.count(),
    }
