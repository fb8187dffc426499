"""Downloads: a release's starter kit, and all samples of one's own."""

from django.http import FileResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request

from leaderboard.api.base import ApiView, found, not_found
from leaderboard.api.permissions import HasScope
from leaderboard.own_samples import sample_lines, samples_of
from leaderboard.starter_kit import open_kit
from leaderboard.visibility import may_see_statements
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


class _Asked(serializers.Serializer[object]):
    entrant = serializers.CharField(required=False, default="")
    release = serializers.CharField(required=False, default="")
    after = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**63 - 1)


class OwnSamples(ApiView):
    permission_classes = [IsAuthenticated, HasScope]

    @extend_schema(
        operation_id="samples_list",
        tags=["submissions"],
        parameters=[
            OpenApiParameter("entrant", str, description="Only this entrant's; a slug."),
            OpenApiParameter("release", str, description="Only those of this release; a slug."),
            OpenApiParameter("after", int, description="Begin after the sample with this id."),
        ],
        responses={(200, "application/x-ndjson"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """All samples of your entrants with their verdicts, one JSON line each. If there are more than 50,000, the last
        line is `{"more": "?after=…"}`."""
        asked = _Asked(data=request.query_params)
        asked.is_valid(raise_exception=True)
        rows = samples_of(request.user, **asked.validated_data)
        answer = StreamingHttpResponse(sample_lines(rows), content_type="application/x-ndjson")
        answer["Content-Disposition"] = 'attachment; filename="my-samples.jsonl"'
        return answer
