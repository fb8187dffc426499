"""Figures in the metric that ranks a board, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.columns import Column, Row, ranking_metric
from leaderboard.boards.written import margin, written
from leaderboard.models import Standing
from leaderboard.site.numerals import MISSING


@dataclass(frozen=True)
class Leader:
    """The first of a board, as its page leads with it."""

    name: str
    title: str
    """The metric's."""
    score: str
    interval: str
    n_others: int
    """Others that share the first rank."""


def leader_of(columns: Sequence[Column], rows: Sequence[Row]) -> Leader | None:
    """None if none of these rows has the first rank, or the column that ranks is not shown."""
    first = [row for row in rows if row["rank"] == 1]
    column = next((one for one in columns if one.ranks), None)
    if not first or column is None:
        return None
    cell = column.cell(first[0])
    score = f"{cell.text} %" if column.unit == "%" else cell.text
    return Leader(first[0]["entrant__name"], column.title, score, cell.margin, len(first) - 1)


def primary_score(row: Standing) -> str:
    """`Speedup ≥ 1 3.6× (2.7–4.5)`; a dash without a figure."""
    metric = ranking_metric(row.release.primary_metric)
    value, low, high = row.figure(metric.name) if metric else (None, None, None)
    if metric is None or value is None:
        return MISSING
    unit = " %" if metric.unit == "%" else ""
    interval = margin(metric, value, low, high)
    return f"{metric.title} {written(metric, value, low, high)}{unit}{f' ({interval})' if interval else ''}"
