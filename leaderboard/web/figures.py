"""A figure as a page holds it: where its drawing comes from, and its numbers as a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from leaderboard.charts.chart import Chart, Row, Table
from leaderboard.models import Track
from problems.models import Release


@dataclass(frozen=True)
class ChartFigure:
    """`name` is that of a downloaded picture."""

    title: str
    caption: str
    name: str
    url: str
    table: Table


def with_track(address: str, track: Track | None) -> str:
    return f"{address}?track={track.slug}" if track else address


def board_figure(release: Release, track: Track | None, chart: Chart[Row], rows: Sequence[Row]) -> ChartFigure:
    address = with_track(reverse("chart", args=[release.slug, chart.name]), track)
    return ChartFigure(chart.title, chart.words(rows), f"{release.slug}-{chart.name}", address, chart.table(rows))
