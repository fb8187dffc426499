"""GET /api/v1/releases/<slug>/board: the standings on one track, with intervals, as the page shows them."""

from typing import Any, ClassVar

from django.db.models import F, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import ApiView, Pages, found
from leaderboard.models import Standing, Track
from leaderboard.visibility import visible_standings
from problems.models import Release


class StandingSerializer(serializers.ModelSerializer[Standing]):
    """Ranks are null for baselines and while incomplete; a missing number is null, never 0."""

    entrant = serializers.CharField(source="entrant.slug")
    name = serializers.CharField(source="entrant.name")
    kind = serializers.CharField(source="entrant.kind")
    organisation = serializers.CharField(source="entrant.organisation")
    open_weights = serializers.BooleanField(source="entrant.open_weights", allow_null=True)
    is_verified = serializers.BooleanField(source="entrant.is_verified")
    submission = serializers.IntegerField(source="submission_id")
    pass_at_k = serializers.SerializerMethodField(
        help_text="k to [value, low, high]; the value is null where a problem has fewer than k samples."
    )

    class Meta:
        model = Standing
        fields: ClassVar = [
            "rank", "rank_low", "rank_high", "entrant", "name", "kind", "organisation", "open_weights", "is_verified",
            "submission", "is_incomplete", "incomplete_reason", "primary_value", "pass_at_1", "pass_at_1_low",
            "pass_at_1_high", "pass_at_k", "n_solved", "n_problems", "n_skipped", "n_timed_problems", "speedup",
            "speedup_low", "speedup_high", "correct_speedup", "fast_p", "gflops", "n_gflops_problems", "n_samples",
            "groups", "updated_at",
        ]  # fmt: skip

    def get_pass_at_k(self, standing: Standing) -> dict[str, list[float | None]]:
        chosen = self.context["k"]
        return {k: values for k, values in standing.pass_at_k.items() if chosen is None or int(k) == chosen}


class BoardSerializer(serializers.Serializer[Any]):
    release = serializers.CharField()
    track = serializers.CharField(allow_null=True)
    tracks = serializers.ListField(child=serializers.CharField(), help_text="Tracks that have a board.")
    primary_metric = serializers.CharField()
    ks = serializers.ListField(child=serializers.IntegerField())
    hidden_until = serializers.DateTimeField(allow_null=True, help_text="Until then only your own rows are shown.")
    count = serializers.IntegerField()
    standings = StandingSerializer(many=True)


PARAMETERS = [
    OpenApiParameter("track", str, description="A track's slug; the first when left out. Boards never mix tracks."),
    OpenApiParameter("k", int, description="Only this k of pass@k."),
    OpenApiParameter("limit", int),
    OpenApiParameter("offset", int),
]


class Board(ApiView):
    @extend_schema(tags=["releases"], parameters=PARAMETERS, responses=BoardSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The board: ranked rows first, then baselines and incomplete ones."""
        release = found(Release.objects.visible_to(request.user), "release", slug=slug)
        tracks = list(Track.objects.filter(on_releases__release=release))
        track = _chosen(tracks, request.query_params.get("track"))
        rows = _rows(request.user, release, track)
        pages = Pages()
        page = pages.paginate_queryset(rows, request, view=self)
        board = {
            "release": release.slug,
            "track": track and track.slug,
            "tracks": [one.slug for one in tracks],
            "primary_metric": release.primary_metric,
            "ks": release.ks,
            "hidden_until": release.hidden_until if release.results_are_hidden else None,
            "count": pages.count,
            "standings": page,
        }
        return Response(BoardSerializer(board, context={"k": _k(request)}).data)


def _chosen(tracks: list[Track], slug: str | None) -> Track | None:
    if slug is None:
        return tracks[0] if tracks else None
    for track in tracks:
        if track.slug == slug:
            return track
    known = ", ".join(track.slug for track in tracks) or "none yet"
    raise exceptions.NotFound(f"There is no board on track {slug!r}. Tracks with one: {known}.")


def _k(request: Request) -> int | None:
    text = request.query_params.get("k")
    if text is None:
        return None
    if not text.isascii() or not text.isdigit():
        raise exceptions.ValidationError({"k": f"{text!r} is not a whole number."})
    return int(text)


def _rows(user: Any, release: Release, track: Track | None) -> QuerySet[Standing]:
    rows = visible_standings(user, release).filter(track=track).select_related("entrant")
    return rows.order_by(F("rank").asc(nulls_last=True), F("primary_value").desc(nulls_last=True), "entrant__name")
