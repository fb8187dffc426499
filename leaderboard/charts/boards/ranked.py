"""Each entrant's figure in the metric that ranks the release, as bars with 95 % intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.charts.boards.score_vs_cost import interval_of
from leaderboard.charts.chart import (
    GREY,
    MAX_ENTRANTS,
    BoardRow,
    Spec,
    Table,
    as_figure,
    axis,
    headed,
    hovered,
    layout,
    lines_height,
    margins,
    names_axis,
    plain,
    titled,
)
from leaderboard.charts.colours import colour_of
from leaderboard.charts.scales import is_wide, metric_axis
from leaderboard.site.numerals import percent, ratio, significant
from scoring.metrics import PASS_AT_1, Metric

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

_ROOM = 0.2
"""Right of the longest interval, as a share of the axis: the figure in words stands there."""


def title(rows: Sequence[BoardRow]) -> str:
    return f"{_metric(rows).title}, the metric that ranks"


def caption(rows: Sequence[BoardRow]) -> str:
    metric = _metric(rows)
    whiskers = "It has no interval." if metric.no_interval else "Whiskers are 95 % intervals over problems."
    base = " The dotted line is the baseline." if metric.unit == "×" else ""
    return f"{metric.definition} {whiskers}{base}"


def _metric(rows: Sequence[BoardRow]) -> Metric:
    return rows[0].metric if rows else PASS_AT_1


def _placed(rows: Sequence[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if row.primary[0] is not None][:MAX_ENTRANTS]


def _written(row: BoardRow) -> str:
    value, low, high = row.primary
    if row.metric.unit == "%":
        return f"{percent(value)} %"
    return ratio(value, low, high) if row.metric.unit == "×" else significant(value)


def spec(rows: Sequence[BoardRow]) -> Spec:
    shown = _placed(rows)
    if not shown:
        return {"data": [], "layout": layout(axis(""), axis(""))}
    metric = shown[0].metric
    ends = [end for row in shown for end in row.primary if end is not None]
    points = is_wide(ends) and metric.unit != "%"  # a bar on a logarithmic axis has no foot
    values, lows, highs = ([row.primary[part] for row in shown] for part in range(3))
    marks = {
        "name": metric.title,
        "x": values,
        "y": list(range(len(shown))),
        "customdata": [plain(row.name) for row in shown],
        "error_x": margins(values, lows, highs),
        "marker": {"color": [colour_of(row.entrant_id) for row in shown], **({"size": 12} if points else {})},
        "hovertemplate": f"%{{customdata}}<br>{metric.title} {hovered(metric, 'x')}<extra></extra>",
        **({"type": "scatter", "mode": "markers"} if points else {"type": "bar", "orientation": "h", "width": 0.62}),
    }
    words = {
        "type": "scatter",
        "mode": "text",
        "name": "In words",
        "x": [row.primary[2] if row.primary[2] is not None else row.primary[0] for row in shown],
        "y": list(range(len(shown))),
        "text": [f"\u00a0{_written(row)}" for row in shown],
        "textposition": "middle right",
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    return {"data": [marks, words], "layout": _layout(shown, metric_axis(metric, titled(metric), ends, room=_ROOM))}


def _layout(shown: Sequence[BoardRow], x: Spec) -> Spec:
    base = {"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "line": {"dash": "dot", "color": GREY}}
    shapes = [base] if shown[0].metric.unit == "×" else []
    height = lines_height(len(shown), 34 if len(shown) <= 8 else 27)
    return layout(x, names_axis([row.name for row in shown]), shapes=shapes, height=height)


def figure(rows: Sequence[BoardRow]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[BoardRow]) -> Table:
    known = [row for row in rows if row.primary[0] is not None]
    lines = [[row.name, _written(row).removesuffix(" %"), interval_of(row)] for row in known]
    return Table(["Model", headed(_metric(rows)), "95 % interval"], lines)
