"""GET /api/v1/releases/<slug>/compare: two to six entrants of one board against the first of them."""

import math
from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.site.base import ApiView, found
from leaderboard.boards.compare import LEAST, MOST, BoardComparison, Pair, compare, told
from leaderboard.errors import Refused
from leaderboard.models import ReleaseTrack
from leaderboard.visibility import visible_standings
from problems.models import Release
from scoring.metrics import Average, Metric


class ComparedSerializer(serializers.Serializer[Any]):
    entrant = serializers.CharField()
    model = serializers.CharField()
    rank = serializers.IntegerField(allow_null=True)
    pass_at_1 = serializers.FloatField(allow_null=True)
    solved = serializers.IntegerField()
    problems = serializers.IntegerField()
    speedup = serializers.FloatField(allow_null=True)
    figure = serializers.FloatField(allow_null=True, help_text="In the metric that ranks, with its 95 % interval.")
    figure_low = serializers.FloatField(allow_null=True)
    figure_high = serializers.FloatField(allow_null=True)


class RankedDifferenceSerializer(serializers.Serializer[Any]):
    """An entrant against the first in the metric that ranks."""

    kind = serializers.ChoiceField(
        choices=["ratio", "difference"],
        help_text="ratio: this entrant's figure ÷ the first's, for metrics with a geometric mean; else it less that.",
    )
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="Ends of its 95 % interval over problems.")
    high = serializers.FloatField(allow_null=True)
    problems = serializers.IntegerField(help_text="Problems that count for both.")
    better = serializers.IntegerField(help_text="Of these, those with a better figure of this entrant.")
    worse = serializers.IntegerField()


class DifferenceSerializer(serializers.Serializer[Any]):
    entrant = serializers.CharField()
    ranked = RankedDifferenceSerializer()
    difference = serializers.FloatField(allow_null=True, help_text="Of pass@1: this entrant less the first, in shares.")
    low = serializers.FloatField(allow_null=True, help_text="Ends of its 95 % interval over problems.")
    high = serializers.FloatField(allow_null=True)
    problems = serializers.IntegerField(help_text="Problems that count for both.")
    better = serializers.IntegerField(help_text="Of these, those of which this entrant passed a larger share.")
    worse = serializers.IntegerField()
    speedup_ratio = serializers.FloatField(allow_null=True, help_text="This entrant's speedup ÷ the first's.")
    speedup_ratio_low = serializers.FloatField(allow_null=True)
    speedup_ratio_high = serializers.FloatField(allow_null=True)
    timed_problems = serializers.IntegerField()


class ComparisonSerializer(serializers.Serializer[Any]):
    release = serializers.CharField()
    track = serializers.CharField()
    metric = serializers.CharField(help_text="The name of the metric that ranks.")
    entrants = ComparedSerializer(many=True)
    differences = DifferenceSerializer(many=True, help_text="Each other entrant against the first.")
    groups = serializers.DictField(help_text="Group → mean of pass@1 of each entrant, in the order of `entrants`.")
    figures = serializers.DictField(
        help_text="task_id → each entrant's figure in the metric that ranks; null where it does not count."
    )
    passed = serializers.DictField(
        help_text="task_id → [passed, samples] of each entrant; null where it does not count."
    )


PARAMETERS = [
    OpenApiParameter("entrant", str, many=True, required=True, description="Two to six entrants' slugs, first the one"
                     " that the others are held against."),
    OpenApiParameter("track", str, description="A track's slug; the first when left out."),
]  # fmt: skip


class Compare(ApiView):
    parameters = PARAMETERS

    @extend_schema(tags=["releases"], parameters=PARAMETERS, responses=ComparisonSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Compare entrants of one board."""
        release = found(Release.objects.visible_to(request.user), "release", slug=slug)
        places = ReleaseTrack.objects.filter(release=release).select_related("release", "track").order_by("track__slug")
        asked = request.query_params.get("track")
        place = found(places, "board", track__slug=asked) if asked else places.first()
        slugs = list(dict.fromkeys(request.query_params.getlist("entrant")))
        if place is None or not LEAST <= len(slugs) <= MOST:
            words = f"Name {LEAST} to {MOST} entrants: ?entrant=…&entrant=…; {len(slugs)} are named."
            raise Refused("bad_comparison", words if place else f"{slug} is not offered on any track.")
        rows = visible_standings(request.user, release).filter(track=place.track).select_related("entrant")
        chosen = [found(rows, "entrant on this board", entrant__slug=one) for one in slugs]
        return Response(_told(place, compare(place, chosen, settings.BOOTSTRAP_DRAWS)))


def _told(place: ReleaseTrack, made: BoardComparison) -> dict[str, Any]:
    return {
        "release": place.release.slug,
        "track": place.track.slug,
        "metric": made.metric.name,
        "entrants": [
            {
                "entrant": one.entrant.slug, "model": one.entrant.name, "rank": one.rank, "pass_at_1": one.pass_at_1,
                "solved": one.n_solved, "problems": one.n_problems, "speedup": one.speedup,
                **dict(zip(("figure", "figure_low", "figure_high"), one.figure(made.metric.name), strict=True)),
            }
            for one in made.entrants
        ],
        "differences": [_difference(made.metric, pair) for pair in made.pairs],
        "groups": {group: [value for value, _ in cells] for group, cells in made.groups.items()},
        "figures": {row.problem.task_id: row.values for row in made.rows},
        "passed": {row.problem.task_id: row.cells for row in made.rows},
    }  # fmt: skip


def _difference(metric: Metric, pair: Pair) -> dict[str, Any]:
    passes, primary = pair.passes, pair.primary
    ratio, low, high = pair.speedup
    return {
        "entrant": pair.other.entrant.slug,
        "ranked": {
            "kind": "ratio" if metric.average is Average.GEOMETRIC else "difference",
            "value": told(metric, primary.value), "low": told(metric, primary.low), "high": told(metric, primary.high),
            "problems": primary.problems, "better": primary.wins, "worse": primary.losses,
        },
        "difference": _known(passes.value), "low": _known(passes.low), "high": _known(passes.high),
        "problems": passes.problems, "better": passes.wins, "worse": passes.losses,
        "speedup_ratio": ratio, "speedup_ratio_low": low, "speedup_ratio_high": high,
        "timed_problems": pair.n_timed,
    }  # fmt: skip


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
