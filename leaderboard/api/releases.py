"""Releases and their problems: statements and visible files for those who may read them."""

from typing import Any, ClassVar

from django.db.models import Count, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard import visibility
from leaderboard.api.site.base import ApiList, ApiView, found
from leaderboard.curation.public_record import COLUMNS, public_record, undisclosed
from leaderboard.errors import NotAllowed
from problems.models import Problem, Release


class FileSerializer(serializers.Serializer[Any]):
    path = serializers.CharField()
    content = serializers.CharField(trim_whitespace=False)


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    n_problems = serializers.IntegerField()
    tracks = serializers.SerializerMethodField(help_text="Tracks that it is offered on.")
    ks = serializers.ListField(
        child=serializers.IntegerField(), source="offered_ks", help_text="The k of pass@k that its boards offer."
    )
    previous = serializers.SlugRelatedField[Release](slug_field="slug", read_only=True)
    questions_are_sealed = serializers.BooleanField(
        help_text="Whether nothing that rests on its questions is told before `reveals_at`."
    )
    why_closed = serializers.CharField(help_text="Why it takes no submissions now; empty when it does.")

    class Meta:
        model = Release
        fields: ClassVar = [
            "slug", "datapack_release", "revision", "digest", "profile", "previous", "title", "description", "state",
            "is_public", "results_are_public", "shows_first_failure", "transcripts_are_public",
            "licence", "authors", "dataset_card",
            "primary_metric", "timing_policy", "ks", "weights", "weights_note", "case_weights", "max_samples",
            "one_command", "separate_harness", "correction", "unverified_reason", "tracks", "n_problems",
            "why_closed", "opens_at", "closes_at", "hidden_until", "published_at", "frozen_at",
            "question_policy", "question_samples", "questions_are_sealed", "reveals_at",
        ]  # fmt: skip

    def get_tracks(self, release: Release) -> list[str]:
        return sorted(place.track.slug for place in release.on_tracks.all())


def visible_releases(user: Any) -> QuerySet[Release]:
    rows = Release.objects.visible_to(user).annotate(n_problems=Count("problems"))
    return rows.select_related("previous").prefetch_related("on_tracks__track")


@extend_schema(tags=["releases"])
class ReleaseList(ApiList):
    """All releases that you may see, newest first."""

    serializer_class = ReleaseSerializer

    def get_queryset(self) -> QuerySet[Release]:
        return visible_releases(self.request.user)


class ReleaseDetail(ApiView):
    @extend_schema(tags=["releases"], responses=ReleaseSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """One release."""
        return Response(ReleaseSerializer(found(visible_releases(request.user), "release", slug=slug)).data)


class ProblemSerializer(serializers.ModelSerializer[Problem]):
    class Meta:
        model = Problem
        fields: ClassVar = [*COLUMNS]

    def to_representation(self, problem: Problem) -> dict[str, Any]:
        """Without held-out cases, and without a question's digests."""
        return super().to_representation(problem) | undisclosed(problem)


@extend_schema(tags=["releases"])
class ProblemList(ApiList):
    """The release's problems in their order."""

    serializer_class = ProblemSerializer

    def get_queryset(self) -> QuerySet[Problem]:
        release = found(Release.objects.visible_to(self.request.user), "release", slug=self.kwargs["slug"])
        return release.problems.defer("record").order_by("position")


class ProblemDetailSerializer(ProblemSerializer):
    """A problem with what its solver may read; held-out files are named, never shown.

    A command problem has commands and requirements, a function problem what follows from `languages` on.
    """

    statement = serializers.CharField()
    build_command = serializers.CharField(allow_null=True, required=False)
    test_command = serializers.CharField(required=False)
    benchmark_command = serializers.CharField(allow_null=True, required=False)
    timeout_seconds = serializers.FloatField(allow_null=True, required=False)
    min_cuda_toolkit = serializers.CharField(allow_null=True, required=False)
    compute_capability = serializers.CharField(allow_null=True, required=False)
    requires_datacenter_gpu = serializers.BooleanField(required=False)
    required_names = serializers.CharField(
        required=False, help_text="Names that the sources must hold, in words; empty where none is asked for."
    )
    source_references = serializers.DictField(
        allow_null=True, required=False, help_text="The same as lists: `all` and `any`."
    )
    timing_mode = serializers.DictField(required=False, help_text="How the benchmark is timed.")
    visible_test_command = serializers.CharField(
        allow_null=True, required=False, help_text="The command that a trial runs; null where it only builds."
    )
    limits = serializers.DictField(required=False, help_text="Bounds on a command; those left out are the site's.")
    languages = serializers.ListField(child=serializers.CharField(), required=False)
    device = serializers.CharField(required=False, help_text="`cpu` or `gpu`.")
    time_limit_seconds = serializers.FloatField(required=False)
    signatures = serializers.DictField(child=serializers.CharField(), required=False, help_text="By language.")
    manifest = serializers.DictField(
        required=False, help_text="Parameters, accuracy, and the shapes of all cases but held-out ones."
    )
    choices = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Of a question: the texts of A, B, C …"
    )
    grading = serializers.CharField(required=False, help_text="Of a question: how replies are read.")
    final_line = serializers.CharField(required=False, help_text="Of a question: the line that declares the answer.")
    explanation = serializers.CharField(
        required=False, help_text="Of a question, once the release is closed: why the answer is right."
    )
    starters = serializers.DictField(
        child=FileSerializer(many=True), help_text="Where a solution may begin, by language."
    )
    context_files = FileSerializer(many=True)
    starter_files = FileSerializer(many=True, help_text="Where a solution may begin.")
    visible_test_files = FileSerializer(many=True)
    held_out_paths = serializers.ListField(child=serializers.CharField(), help_text="Test files that you may not read.")

    class Meta(ProblemSerializer.Meta):
        fields: ClassVar = [
            *ProblemSerializer.Meta.fields, "statement", "build_command", "test_command", "benchmark_command",
            "timeout_seconds", "min_cuda_toolkit", "compute_capability", "requires_datacenter_gpu", "required_names",
            "source_references", "timing_mode", "visible_test_command", "limits",
            "languages", "device", "time_limit_seconds", "signatures", "manifest", "choices", "grading",
            "final_line", "explanation", "starters", "context_files", "starter_files",
            "visible_test_files", "held_out_paths",
        ]  # fmt: skip


class ProblemDetail(ApiView):
    @extend_schema(tags=["releases"], responses=ProblemDetailSerializer)
    def get(self, request: Request, slug: str, problem: str) -> Response:
        """One problem: statement, commands and visible files."""
        release = found(Release.objects.visible_to(request.user), "release", slug=slug)
        row = found(Problem.objects.filter(release=release).select_related("release"), "problem", slug=problem)
        if not visibility.may_see_statement(request.user, row):
            raise NotAllowed("statement_private", f"You may not read the statement of {row.task_id}.")
        return Response(public_record(request.user, row))
