"""A figure as a page holds it: where its drawing comes from, and its numbers as a table."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from leaderboard.charts.chart import Chart, Row, Table
from leaderboard.models import Track
from problems.models import Release


@dataclass(frozen=True)
class FigureChoice:
    """A reader's choice for one figure of a page: a list in a form of its own."""

    name: str
    """The parameter of the address."""
    label: str
    options: Mapping[str, str]
    """Value → words."""
    chosen: str
    kept: Mapping[str, str]
    """The page's other parameters, which the form sends too."""


@dataclass(frozen=True)
class ChartFigure:
    """`name` is that of a downloaded picture."""

    title: str
    caption: str
    name: str
    url: str
    table: Table
    choice: FigureChoice | None = None
    facts: Mapping[str, str | int] = field(default_factory=dict)
    """The source of its numbers, which downloads carry."""

    @property
    def facts_json(self) -> str:
        return json.dumps(self.facts) if self.facts else ""

    @property
    def table_rows(self) -> SafeString:
        """The table's rows as HTML, written in one go: a template tag per cell would cost more than the page."""
        return mark_safe("".join(_row(cells) for cells in self.table.rows))  # noqa: S308 - every cell is escaped


def _row(cells: Sequence[str]) -> str:
    """The first cell is the row's heading."""
    head, *rest = map(escape, cells)
    return f'<tr><th scope="row">{head}</th>{"".join(f"""<td class="num">{cell}</td>""" for cell in rest)}</tr>'


def facts_of(release: Release, track: Track | None, metric: str = "") -> dict[str, str | int]:
    """The board that a figure is of, the metric that ranks it, and today's date (UTC)."""
    return {
        "release": release.slug, "revision": release.revision, "track": track.slug if track else "",
        **facts_of_day(metric or release.primary_metric),
    }  # fmt: skip


def facts_of_day(metric: str) -> dict[str, str | int]:
    """The facts of a figure of several boards."""
    return {"metric": metric, "as_of": f"{datetime.now(UTC):%Y-%m-%d}"}


def with_track(address: str, track: Track | None) -> str:
    return f"{address}?track={track.slug}" if track else address


def board_figure(
    release: Release, track: Track | None, chart: Chart[Row], rows: Sequence[Row], choice: FigureChoice | None = None
) -> ChartFigure:
    address = reverse("chart", args=[release.slug, chart.name])
    if choice:
        address = f"{address}?{urlencode({**choice.kept, choice.name: choice.chosen})}"
    else:
        address = with_track(address, track)
    name = f"{release.slug}-{chart.name}"
    return ChartFigure(
        chart.heading(rows), chart.words(rows), name, address, chart.table(rows), choice, facts_of(release, track)
    )
