"""GET /api/v1/releases/<slug>/board: the standings on one track as the page shows them, as plain numbers."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.site.base import PAGING, ApiView, Pages, found
from leaderboard.boards import export
from leaderboard.boards.asked import check
from leaderboard.boards.columns import Column
from leaderboard.boards.problem_choice import ReleaseProblems
from leaderboard.boards.query import OPENNESS, BoardQuery, parse
from leaderboard.boards.source import source_of
from leaderboard.boards.table import imported_words, load_all
from leaderboard.boards.timed_work import counts_of
from leaderboard.models import Track
from leaderboard.standings.rankable import ranking_error
from leaderboard.standings.reference_noise.noise import references_of
from problems.models import Release


class ColumnSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField(help_text="Of the page; rows carry shares of 1 where it says %.")
    better = serializers.CharField(help_text="up, down or empty.")
    definition = serializers.CharField()
    no_interval = serializers.CharField(help_text="Why an estimate has no interval; else empty.")
    trap = serializers.CharField(help_text="The mistake that another benchmark's figure invites; empty for our own.")


class NoisySerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    day = serializers.DateField(help_text="UTC.")
    ratio = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class ReferencesSerializer(serializers.Serializer[Any]):
    ratio = serializers.FloatField(help_text="Geometric mean of the references' speedups over themselves.")
    low = serializers.FloatField(allow_null=True, help_text="The lowest end of the intervals.")
    high = serializers.FloatField(allow_null=True)
    nodes_and_days = serializers.IntegerField()
    n_noisy = serializers.IntegerField(help_text="Nodes and days whose times do not rank.")
    noisy = NoisySerializer(many=True, help_text="The latest of them.")


class BoardSerializer(serializers.Serializer[Any]):
    release = serializers.CharField()
    revision = serializers.IntegerField()
    digest = serializers.CharField(help_text="sha256 of the release's problems.jsonl.")
    metric = serializers.CharField(help_text="The same as `primary_metric`, as exports name it.")
    timing_policy = serializers.CharField()
    rules = serializers.IntegerField(help_text="The version of the rules by which it is ranked.")
    track = serializers.CharField(help_text="Empty while the release is offered on none.")
    tracks = serializers.ListField(child=serializers.CharField())
    k = serializers.IntegerField()
    ks = serializers.ListField(child=serializers.IntegerField())
    primary_metric = serializers.CharField(help_text="What ranks follow, whatever the sort.")
    ranking_error = serializers.CharField(
        help_text="Why the track cannot be ranked now; the rows are then those of the last ranking. Else empty."
    )
    hidden_until = serializers.DateTimeField(allow_null=True, help_text="Until then only your own rows are shown.")
    questions_from = serializers.DateTimeField(
        allow_null=True, help_text="From when figures that rest on sealed questions are told; null if they are."
    )
    imported = serializers.CharField(
        help_text="Where and when, if all results on the track were measured elsewhere and imported; else empty."
    )
    timed_work = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Number of timed problems by whether the timed work is checked, unchecked or self_reported.",
    )
    references = ReferencesSerializer(allow_null=True, help_text="Null before any of them has a time.")
    problems = serializers.IntegerField(help_text="Problems over which it is ranked.")
    problems_of_release = serializers.IntegerField()
    groups = serializers.ListField(child=serializers.CharField(), help_text="To which it is narrowed; empty: all.")
    tags = serializers.ListField(child=serializers.CharField())
    difficulties = serializers.ListField(child=serializers.CharField())
    as_of = serializers.DateField(allow_null=True, help_text="The day at whose end it stood so; null: now.")
    ranked_at = serializers.DateTimeField(allow_null=True, help_text="When the newest ranking was made.")
    not_ranked = serializers.CharField(help_text="Why there is no ranking of these problems or that day; else empty.")
    columns = ColumnSerializer(many=True)
    count = serializers.IntegerField()
    standings = serializers.ListField(
        child=serializers.DictField(),
        help_text="Baselines first, then by rank. A column's figure stands under its key, its interval under key_low "
        "and key_high; a missing figure is null, never 0, and columns of missing figures alone are left out. "
        "Ranks are null for baselines and incomplete standings.",
    )


PARAMETERS = [
    OpenApiParameter("track", str, description="A track's slug; the first when left out. Boards never mix tracks."),
    OpenApiParameter("k", int, description="The k of pass@k, of those the release offers."),
    OpenApiParameter("group", str, description="Adds the columns of one group of problems, or of all with *."),
    OpenApiParameter("groups", str, many=True, description="Rank anew over the problems of these groups."),
    OpenApiParameter("tags", str, many=True, description="Rank anew over problems with one of these tags."),
    OpenApiParameter("difficulty", str, many=True, description="Rank anew over problems of these difficulties."),
    OpenApiParameter("as_of", OpenApiTypes.DATE, description="Rank the submissions finished by the end of that day."),
    OpenApiParameter("hide", str, many=True, description="Keys of columns to leave out."),
    OpenApiParameter("theirs", str, enum=["1"], description="Also other benchmarks' scores, which never rank."),
    OpenApiParameter("sort", str, description="A column's key, with - before it for falling."),
    OpenApiParameter("q", str, description="Words in the entrant's name or organisation."),
    OpenApiParameter("org", str, description="Only entrants of this organisation."),
    OpenApiParameter("weights", str, enum=OPENNESS, description="Only models whose weights are so."),
    OpenApiParameter("verified", str, enum=["1"], description="Only verified entrants."),
    OpenApiParameter("nobase", str, enum=["1"], description="Without baselines."),
    *PAGING,
]


class Board(ApiView):
    parameters = PARAMETERS

    @extend_schema(tags=["releases"], parameters=PARAMETERS, responses=BoardSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The board of a release on one track."""
        release = found(Release.objects.visible_to(request.user), "release", slug=slug)
        tracks = list(Track.objects.filter(on_releases__release=release))
        problems = ReleaseProblems.of(release)
        check(request.query_params, release, tracks, problems)
        query = parse(request.query_params, release, tracks, problems)
        source = source_of(request.user, release, query, problems)
        columns, rows = load_all(source.rows, query, problems.groups_of(query.choice))
        pages = Pages()
        page = pages.paginate_queryset(rows, request, view=self) or []
        facts = _facts(release, tracks, query, columns) | export.ranking_facts(query, source)
        facts |= {"timed_work": counts_of(problems), "imported": imported_words(rows), "count": len(rows)}
        return Response({**facts, "standings": export.records(columns, page)})


def _facts(release: Release, tracks: list[Track], query: BoardQuery, columns: list[Column]) -> dict[str, Any]:
    references = references_of(release, query.track, query.as_of)
    return {
        **export.release_facts(release, query),
        "tracks": [one.slug for one in tracks],
        "k": query.k,
        "ks": release.offered_ks,
        "primary_metric": release.primary_metric,
        "ranking_error": ranking_error(release, query.track),
        "hidden_until": release.hidden_until if release.results_are_hidden else None,
        "questions_from": query.questions_from,
        "references": references and ReferencesSerializer(references.facts).data,
        "columns": [ColumnSerializer(export.column_facts(column)).data for column in columns],
    }
