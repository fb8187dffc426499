"""The best score over time: every counted result by its day, and the line of the best so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from leaderboard.charts.chart import (
    GREY,
    Spec,
    Table,
    as_figure,
    axis,
    days_axis,
    figured,
    headed,
    hovered,
    layout,
    plain,
    titled,
)
from leaderboard.charts.colours import colour_of
from leaderboard.charts.labels import label_sides
from leaderboard.charts.scales import is_wide, log_axis, ratio_range
from leaderboard.charts.scatter import MAX_LABELS
from scoring.metrics import Metric

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = (
    "Each point is the counted result of an entrant, at the day of its submission (of its measuring, if it was"
    " imported). The line is the best so far. Results that a later one of the same entrant replaced are not drawn."
)


@dataclass(frozen=True)
class DatedResult:
    """One entrant's counted result, in the release's primary metric."""

    entrant_id: int
    name: str
    at: datetime
    score: float
    metric: Metric


@dataclass(frozen=True)
class _Look:
    name: str
    size: int
    opacity: float


_RECORD, _OTHER = _Look("Record", 11, 1.0), _Look("Other result", 7, 0.55)


def records(rows: Sequence[DatedResult]) -> list[DatedResult]:
    """Points better than every earlier one, oldest first."""
    found: list[DatedResult] = []
    for row in sorted(rows, key=lambda one: (one.at, -one.score, one.name)):
        if not found or row.score > found[-1].score:
            found.append(row)
    return found


def spec(rows: Sequence[DatedResult]) -> Spec:
    if not rows:
        return {"data": [], "layout": layout(axis(""), axis(""))}
    best, newest = records(rows), max(row.at for row in rows)
    metric = rows[0].metric
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "Best so far",
        "x": [*(row.at.isoformat() for row in best), newest.isoformat()],
        "y": [*(row.score for row in best), best[-1].score],
        "line": {"shape": "hv", "width": 1.5, "dash": "dot", "color": GREY},
        "hoverinfo": "skip",
    }
    ahead = set(best)
    others = [row for row in rows if row not in ahead]
    x, y = days_axis([row.at for row in rows]), _scores(metric, [row.score for row in rows])
    beside = "middle right" if len(rows) <= MAX_LABELS else ""
    points = [_points(best, metric, _RECORD, _sides(best, newest, x, y)), _points(others, metric, _OTHER, beside)]
    return {"data": [line, *(one for one in points if one["x"])], "layout": layout(x, y)}


def _sides(best: Sequence[DatedResult], newest: datetime, x: Spec, y: Spec) -> list[str]:
    """Where the name of each record stands: beside the line, and inside the frame."""
    (start, end), (low, high) = map(datetime.fromisoformat, x["range"]), y["range"]

    def place(at: datetime, score: float) -> tuple[float, float]:
        height = math.log10(score) if y.get("type") == "log" else score
        return (at - start) / (end - start), (height - low) / (high - low)

    steps = [corner for old, new in pairwise(best) for corner in ((new.at, old.score), (new.at, new.score))]
    corners = [(best[0].at, best[0].score), *steps, (newest, best[-1].score)]
    return label_sides(
        [row.name for row in best], [place(row.at, row.score) for row in best], [place(*one) for one in corners]
    )


def _scores(metric: Metric, scores: Sequence[float]) -> Spec:
    if metric.unit != "%" and is_wide(scores):
        low, high = ratio_range(scores, room=0.1)
        return log_axis(titled(metric), low, high, is_upright=True)
    top = 1.0 if metric.unit == "%" else max(scores) or 1.0
    shares = {"tickformat": ".0%"} if metric.unit == "%" else {}
    return axis(titled(metric), range=[-0.06 * top, 1.12 * top], **shares)


def _points(rows: Sequence[DatedResult], metric: Metric, look: _Look, side: str | Sequence[str]) -> Spec:
    """Named at `side`, the same for all or one of each; where it is empty, on hover only."""
    return {
        "type": "scatter",
        "mode": "markers+text" if side else "markers",
        "name": look.name,
        "x": [row.at.isoformat() for row in rows],
        "y": [row.score for row in rows],
        "text": [plain(row.name) for row in rows],
        "textposition": side or "top left",
        "marker": {"size": look.size, "opacity": look.opacity, "color": [colour_of(row.entrant_id) for row in rows]},
        "hovertemplate": f"%{{text}}<br>{metric.title} {hovered(metric)}<br>%{{x|%Y-%m-%d}}<extra></extra>",
    }


def figure(rows: Sequence[DatedResult]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[DatedResult]) -> Table:
    """The records, the newest first."""
    if not rows:
        return Table(["Day (UTC)", "Model", "Score"], [])
    metric = rows[0].metric
    header = ["Day (UTC)", "Model", headed(metric, "Best {} so far")]
    newest_first = reversed(records(rows))
    return Table(header, [[f"{row.at:%Y-%m-%d}", row.name, figured(metric, row.score)] for row in newest_first])
