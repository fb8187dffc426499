"""A standing's figure in the metric that ranks its board, in words."""

from leaderboard.boards.columns import ranking_metric
from leaderboard.boards.written import margin, written
from leaderboard.models import Standing
from leaderboard.site.numerals import MISSING


def primary_score(row: Standing) -> str:
    """`Speedup ≥ 1 3.6× (2.7–4.5)`; a dash without a figure."""
    metric = ranking_metric(row.release.primary_metric)
    value, low, high = row.figure(metric.name) if metric else (None, None, None)
    if metric is None or value is None:
        return MISSING
    unit = " %" if metric.unit == "%" else ""
    interval = margin(metric, value, low, high)
    return f"{metric.title} {written(metric, value, low, high)}{unit}{f' ({interval})' if interval else ''}"
