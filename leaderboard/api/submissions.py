"""Submissions: list, send, look at, cancel, rerun, and read the results of."""

from collections.abc import Iterator
from typing import Any, ClassVar

from django.conf import settings
from django.db.models import Prefetch, QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, parsers, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import ScopedRateThrottle

from leaderboard.actions.intake.dry_run_words import already_here
from leaderboard.actions.intake.submit import submit
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.actions.submissions.choose import choose
from leaderboard.actions.submissions.rerun import rerun
from leaderboard.api import intake
from leaderboard.api.results import result_lines
from leaderboard.api.site.base import ApiList, ApiView, found
from leaderboard.api.site.json_parser import BoundedJSONParser
from leaderboard.errors import refuse_unknown
from leaderboard.models import Counted, Evaluation, Submission, SubmissionState
from leaderboard.visibility import view_of, visible_submissions


class SubmissionSerializer(serializers.ModelSerializer[Submission]):
    entrant = serializers.CharField(source="entrant.slug")
    release = serializers.CharField(source="release.slug")
    tracks = serializers.SlugRelatedField[Any](slug_field="slug", many=True, read_only=True)
    counted_on = serializers.SerializerMethodField(help_text="Tracks on which it is the counted one.")
    page = serializers.SerializerMethodField(help_text="Its page on the site.")
    generation = serializers.DictField(
        read_only=True,
        allow_null=True,
        help_text="Declared by the entrant in the pack: model, host, parameters, versions, usage and time.",
    )

    class Meta:
        model = Submission
        fields: ClassVar = [
            "id", "entrant", "release", "tracks", "state", "is_full", "name", "note", "licence", "digest",
            "asks_to_count", "counted_on", "n_samples_per_problem", "submitted_through", "generation",
            "tokens_per_sample", "usd_per_sample", "created_at", "finished_at", "page",
        ]  # fmt: skip

    def get_counted_on(self, submission: Submission) -> list[str]:
        return sorted(place.track.slug for place in submission.counted_on.all())

    def get_page(self, submission: Submission) -> str:
        return f"{settings.SITE_URL}{submission.get_absolute_url()}"


def _rendering(rows: QuerySet[Submission]) -> QuerySet[Submission]:
    counted = Prefetch("counted_on", Counted.objects.select_related("track"))
    return rows.select_related("entrant", "release").prefetch_related("tracks", counted)


def seen_submission(request: Request, pk: int) -> Submission:
    """The submission, if the asker may see it; raises NotFound."""
    rows = Submission.objects.visible_to(request.user)
    return found(rows.select_related("entrant", "release"), "submission", pk=pk)


def _rendered(submission: Submission) -> dict[str, Any]:
    row = _rendering(Submission.objects.filter(pk=submission.pk)).get()
    return dict(SubmissionSerializer(row).data)


class SubmitThrottle(ScopedRateThrottle):
    """Bounds sending only; reading the list is free."""

    scope_attr = "submit_scope"


class SubmissionList(ApiList):
    serializer_class = SubmissionSerializer
    parameters = (
        OpenApiParameter("mine", bool, description="Only those that you sent."),
        OpenApiParameter("release", str, description="A release's slug."),
        OpenApiParameter("entrant", str, description="An entrant's slug."),
        OpenApiParameter("state", str, enum=["accepted", "done", "cancelled"]),
    )
    parser_classes = [parsers.MultiPartParser, BoundedJSONParser]
    submit_scope = "submit"

    def get_throttles(self) -> list[Any]:
        return [SubmitThrottle()] if self.request.method == "POST" else []

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse what is too large before a byte of it is parsed."""
        intake.check_size(request)
        super().initial(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Submission]:
        asked = self.request.query_params
        rows = _rendering(visible_submissions(self.request.user))
        if "mine" in asked:
            if not self.request.user.is_authenticated:
                raise exceptions.NotAuthenticated
            rows = rows.filter(submitted_by=self.request.user)
        refuse_unknown("state", asked.get("state", ""), SubmissionState.values)
        names = {"release": "release__slug", "entrant": "entrant__slug", "state": "state"}
        return rows.filter(**{field: asked[name] for name, field in names.items() if name in asked})

    @extend_schema(
        tags=["submissions"],
        parameters=[*parameters],
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Submissions that you may see, newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        tags=["submissions"],
        request={"multipart/form-data": intake.UploadSerializer, "application/json": intake.TypedSerializer},
        responses={201: SubmissionSerializer, 200: SubmissionSerializer},
    )
    def post(self, request: Request) -> Response:
        """Send a solutions pack, a zip of folders, or typed code. 201 when it is new, 200 when it is here already."""
        order = intake.order(request)
        incoming = order.incoming()
        receipt = submit(request.user, order.metadata, incoming)
        twin = [] if receipt.created else [already_here(request.user, receipt.submission)]
        answer = {**_rendered(receipt.submission), "notices": [*twin, *intake.notices(incoming)]}
        return Response(answer, status.HTTP_201_CREATED if receipt.created else status.HTTP_200_OK)


class SubmissionDetail(ApiView):
    @extend_schema(tags=["submissions"], responses=SubmissionSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """One submission."""
        return Response(_rendered(seen_submission(request, pk)))


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(allow_blank=True, default="")


class CountSerializer(serializers.Serializer[Any]):
    evaluations = serializers.IntegerField()


class SubmissionCancel(ApiView):
    @extend_schema(tags=["submissions"], request=ReasonSerializer, responses=CountSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Withdraw what is queued and stop what is running; what is done stays."""
        wanted = _valid(ReasonSerializer, request)
        return Response({"evaluations": cancel(request.user, seen_submission(request, pk), wanted["reason"])})


class ChooseSerializer(serializers.Serializer[Any]):
    tracks = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Slugs of its tracks; all of them when left out."
    )


class SubmissionChoose(ApiView):
    @extend_schema(tags=["submissions"], request=ChooseSerializer, responses=SubmissionSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Make it the one that counts: a finished full submission of yours, until the release closes."""
        wanted = _valid(ChooseSerializer, request)
        submission = seen_submission(request, pk)
        tracks = intake.tracks_named(wanted["tracks"]) if "tracks" in wanted else list(submission.tracks.all())
        choose(request.user, submission, tracks)
        return Response(_rendered(submission))


class RerunSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(help_text="Kept with the rerun and shown.")
    evaluations = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        required=False,
        help_text="Ids; all of the submission's when left out.",
    )


class SubmissionRerun(ApiView):
    @extend_schema(tags=["submissions"], request=RerunSerializer, responses=CountSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Queue finished evaluations again; old results stay current until new ones land."""
        wanted = _valid(RerunSerializer, request)
        submission = seen_submission(request, pk)
        return Response({"evaluations": rerun(request.user, _to_rerun(submission, wanted), wanted["reason"])})


def _to_rerun(submission: Submission, wanted: dict[str, Any]) -> list[Evaluation]:
    rows = (
        Evaluation.objects.live().filter(submission=submission).select_related("submission__entrant", "current_result")
    )
    if "evaluations" not in wanted:
        return list(rows)
    named = set(wanted["evaluations"])
    chosen = list(rows.filter(pk__in=named))
    if missing := named - {one.pk for one in chosen}:
        listed = ", ".join(map(str, sorted(missing)[:20]))
        raise exceptions.ValidationError({"evaluations": f"Submission #{submission.pk} has no evaluation {listed}."})
    return chosen


def _valid(form: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    wanted = form(data=request.data)
    wanted.is_valid(raise_exception=True)
    return dict(wanted.validated_data)


class SubmissionResults(ApiView):
    parameters = (OpenApiParameter("track", str, description="Only this track."),)

    @extend_schema(
        operation_id="submissions_results",
        tags=["submissions"],
        parameters=[*parameters],
        responses={(200, "application/x-ndjson"): OpenApiTypes.STR},
    )
    def get(self, request: Request, pk: int) -> StreamingHttpResponse:
        """One JSON line per evaluation: verdict, times, flags, provenance; no problem content and no code."""
        submission = seen_submission(request, pk)
        asked = request.query_params.get("track")
        if asked:
            refuse_unknown("track", asked, submission.tracks.values_list("slug", flat=True))
        lines: Iterator[bytes] = result_lines(submission, view_of(request.user, submission), asked or None)
        answer = StreamingHttpResponse(lines, content_type="application/x-ndjson")
        answer["Content-Disposition"] = f'attachment; filename="submission-{submission.pk}-results.jsonl"'
        return answer
