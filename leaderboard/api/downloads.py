"""Downloads: a release's starter kit, one sample as a pack, and all samples of one's own."""

from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request

from leaderboard import blobs
from leaderboard.api.site.base import ApiView, found, not_found
from leaderboard.api.site.permissions import HasScope
from leaderboard.errors import Conflict, NotAllowed
from leaderboard.intake.starter_kit import open_kit
from leaderboard.results.reproduce import solutions_file
from leaderboard.submissions.own_samples import sample_lines, samples_of
from leaderboard.submissions.sample_packs import pack_of
from leaderboard.visibility import may_see_statements, view_of, visible_evaluations, why_unreadable
from problems.models import Release


class StarterKit(ApiView):
    @extend_schema(
        operation_id="releases_starter_kit",
        tags=["releases"],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str) -> FileResponse:
        """Statements, visible files and starter code of a release, and a solutions pack that it accepts, as a zip."""
        release = found(Release.objects.visible_to(request.user), "release", slug=slug)
        if not may_see_statements(request.user, release):
            raise not_found("release", slug)
        name = f"{release.slug}-starter-kit.zip"
        return FileResponse(open_kit(release), as_attachment=True, filename=name, content_type="application/zip")


class EvaluationSolution(ApiView):
    @extend_schema(
        operation_id="evaluations_solution",
        tags=["submissions"],
        responses={(200, "application/gzip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, pk: int) -> HttpResponse:
        """The sample of an evaluation as a solutions pack, if you may read it."""
        rows = visible_evaluations(request.user)
        one = found(
            rows.select_related("sample", "problem", "submission__entrant", "submission__release"), "evaluation", pk=pk
        )
        view = view_of(request.user, one.submission)
        if not view.is_visible:
            raise not_found("evaluation", pk)
        if why := why_unreadable(one, view):
            raise NotAllowed("solution_private", why)
        try:
            content = pack_of(one.submission.release, [one.sample.solution_sha256], view)
        except blobs.BlobMissing:
            raise Conflict("solution_lost", f"The site no longer keeps the code of evaluation {pk}.") from None
        name = solutions_file(one)
        return HttpResponse(
            content, content_type="application/gzip", headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )


class _Asked(serializers.Serializer[object]):
    entrant = serializers.CharField(required=False, default="")
    release = serializers.CharField(required=False, default="")
    after = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**63 - 1)


class OwnSamples(ApiView):
    permission_classes = [IsAuthenticated, HasScope]
    parameters = (
        OpenApiParameter("entrant", str, description="Only this entrant's; a slug."),
        OpenApiParameter("release", str, description="Only those of this release; a slug."),
        OpenApiParameter("after", int, description="Begin after the sample with this id."),
    )

    @extend_schema(
        operation_id="samples_list",
        tags=["submissions"],
        parameters=[*parameters],
        responses={(200, "application/x-ndjson"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """All samples of your entrants with their verdicts, one JSON line each. If there are more than 50,000, the last
        line is `{"more": "?after=…"}`."""
        asked = _Asked(data=request.query_params)
        asked.is_valid(raise_exception=True)
        rows = samples_of(request.user, **asked.validated_data)
        answer = StreamingHttpResponse(sample_lines(request.user, rows), content_type="application/x-ndjson")
        answer["Content-Disposition"] = 'attachment; filename="my-samples.jsonl"'
        return answer
