"""A metric of each entrant by group of problems, as a heat map: where each is strong, and which groups are hard."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from leaderboard.charts.chart import (
    MAX_ENTRANTS,
    BoardRow,
    Spec,
    Table,
    as_figure,
    axis,
    figured,
    headed,
    layout,
    lines_height,
    names_axis,
    plain,
    vary,
)
from leaderboard.charts.colours import channels, contrast
from leaderboard.site.numerals import significant
from problems.spec.natural import natural_key
from scoring.metrics import PASS_AT_1, Average, Metric

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

SCALE = ((0.0, "#f4e9d8"), (0.25, "#bfd8c9"), (0.5, "#6fb3a9"), (0.75, "#2f7f86"), (1.0, "#123f5c"))
"""From sand to deep blue: falls evenly in lightness, so that it is read without colour too."""
INKS = ("#000000", "#ffffff")
"""The colours of figures in light and in dark cells. Any colour contrasts with one of them by 4.5 to 1."""

MAX_LETTERS = 28
"""Limit of a group's name below its column; the page's script cuts longer ones."""
_LETTER_PX = 6
"""Height that a letter of a slanted name adds."""


def title(rows: Sequence[BoardRow]) -> str:
    return f"{_metric(rows).title} by group"


def caption(rows: Sequence[BoardRow]) -> str:
    metric = _metric(rows)
    times = " × stands for times as fast as the baseline: 2 is twice as fast." if metric.unit == "×" else ""
    return f"{headed(metric)} by group of problems.{times} A cell is empty if no problem of the group counts."


def _metric(rows: Sequence[BoardRow]) -> Metric:
    return rows[0].metric if rows else PASS_AT_1


def _groups(rows: Sequence[BoardRow]) -> list[str]:
    return sorted({group for row in rows for group in row.groups}, key=natural_key)


def has_cells(rows: Sequence[BoardRow]) -> bool:
    """One group would be the board's column once more, and cells that are all alike would say nothing."""
    return len(_groups(rows)) > 1 and vary(value for row in rows for value in row.groups.values())


def spec(rows: Sequence[BoardRow]) -> Spec:
    shown = rows[:MAX_ENTRANTS]
    groups = _groups(shown)
    if len(groups) < 2:
        return {"data": [], "layout": layout(axis(""), axis(""))}
    shares = [[row.groups.get(group) for group in groups] for row in shown]
    metric = _metric(shown)
    known = [share for line in shares for share in line if share is not None]
    most = 1.0 if metric.unit == "%" else max([_depth(metric, one) for one in known], default=1.0) or 1.0
    traces = []
    for ink in INKS:  # a trace has one colour of text
        own = [[None if one is None or _ink(_depth(metric, one) / most) != ink else one for one in line]
               for line in shares]  # fmt: skip
        traces.append(_cells(shown, groups, own, most) | {"textfont": {"color": ink}})
    x = axis("", tickvals=traces[0]["x"], ticktext=[plain(group) for group in groups], showgrid=False, tickangle=-45)
    height = lines_height(len(shown)) + _LETTER_PX * min(MAX_LETTERS, max(map(len, groups)))
    return {"data": traces, "layout": layout(x, names_axis([row.name for row in shown]), height=height)}


def _cells(
    shown: Sequence[BoardRow], groups: Sequence[str], shares: Sequence[Sequence[float | None]], most: float
) -> Spec:
    metric = _metric(shown)
    return {
        "type": "heatmap",
        "x": list(range(len(groups))),
        "y": list(range(len(shown))),
        "z": [[None if share is None else _depth(metric, share) for share in line] for line in shares],
        "text": [["" if share is None else _text(metric, share) for share in line] for line in shares],
        "texttemplate": "%{text}",
        "customdata": [[f"{plain(row.name)}, {plain(group)}" for group in groups] for row in shown],
        "hovertemplate": f"%{{customdata}}<br>{metric.title} %{{text}}{metric.unit}<extra></extra>",
        "hoverongaps": False,
        "colorscale": SCALE,
        "zmin": 0,
        "zmax": most,
        "xgap": 2,
        "ygap": 2,
        "showscale": False,
    }


def _ink(place: float) -> str:
    """The colour of text with the higher contrast at a place of the scale, 0 to 1."""
    return max(INKS, key=lambda ink: contrast(colour_at(place), channels(ink)))


def colour_at(place: float) -> tuple[float, ...]:
    """Red, green and blue at a place of the scale, 0 to 1."""
    (start, low), (end, high) = next(pair for pair in pairwise(SCALE) if place <= pair[1][0])
    part = (place - start) / (end - start)
    return tuple(a + part * (b - a) for a, b in zip(channels(low), channels(high), strict=True))


def _depth(metric: Metric, value: float) -> float:
    """The place of a value on the scale of colours: ratios by their logarithm, with 1× at its start."""
    return max(0.0, math.log10(value)) if metric.average is Average.GEOMETRIC and value > 0 else value


def _text(metric: Metric, value: float) -> str:
    return f"{100 * value:.0f}" if metric.unit == "%" else significant(value)


def figure(rows: Sequence[BoardRow]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[BoardRow]) -> Table:
    groups = _groups(rows)
    metric = _metric(rows)
    lines = [[row.name, *(figured(metric, row.groups.get(group)) for group in groups)] for row in rows]
    unit = f" ({metric.unit})" if metric.unit else ""
    return Table(["Model", *(f"{group}{unit}" for group in groups)], lines)
