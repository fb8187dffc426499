"""pass@1 against speedup: who is right, who is fast, and the Pareto front that nobody beats on both."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.board.numerals import percent, ratio
from leaderboard.charts.chart import GREY, BoardRow, Spec, Table, as_figure, axis, layout, margins, plain
from leaderboard.charts.colours import colour_of
from leaderboard.charts.labels import label_sides

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = "Right and fast is top right. The line joins the entrants that no other beats on both axes (Pareto front)."
TOP = 1.08
"""The end of the axis of pass@1."""
MAX_LABELS = 25
"""Beyond this many names the points are named on hover only."""


def _placed(rows: Sequence[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if row.speedup is not None and _pass_1(row)[0] is not None]


def has_points(rows: Sequence[BoardRow]) -> bool:
    return bool(_placed(rows))


def _pass_1(row: BoardRow) -> list[float | None]:
    return row.pass_at_k.get("1", [None, None, None])


def pareto_front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The (x, y) that no other point reaches or beats on both axes, from left to right."""
    front: list[tuple[float, float]] = []
    for x, y in sorted(set(points), reverse=True):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front[::-1]


def _point(row: BoardRow, side: str, named: bool) -> Spec:
    value, low, high = _pass_1(row)
    colour = colour_of(row.entrant_id)
    return {
        "type": "scatter",
        "mode": "markers+text" if named else "markers",
        "name": plain(row.name),
        "x": [row.speedup],
        "y": [value],
        "text": [plain(row.name)],
        "textposition": side,
        "error_x": margins([row.speedup], [row.speedup_low], [row.speedup_high], colour),
        "error_y": margins([value], [low], [high], colour),
        "marker": {"size": 11, "color": colour, "symbol": "diamond" if row.is_baseline else "circle"},
        "hovertemplate": "%{text}<br>pass@1 %{y:.1%}<br>speedup %{x:.2f}×<extra></extra>",
    }


def _front(rows: Sequence[BoardRow]) -> Spec:
    front = pareto_front([(row.speedup or 0.0, _pass_1(row)[0] or 0.0) for row in rows])
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "Pareto front",
        "x": [x for x, _ in front],
        "y": [y for _, y in front],
        "line": {"dash": "dot", "width": 1.5, "color": GREY},
        "hoverinfo": "skip",
    }


def spec(rows: Sequence[BoardRow]) -> Spec:
    placed = _placed(rows)
    widest = 1.1 * max((row.speedup_high or row.speedup or 1.0 for row in placed), default=1.0)
    places = [((row.speedup or 0.0) / widest, (_pass_1(row)[0] or 0.0) / TOP) for row in placed]
    sides = label_sides([row.name for row in placed], places)
    points = [_point(row, side, len(placed) <= MAX_LABELS) for row, side in zip(placed, sides, strict=True)]
    traces = [_front(placed), *points] if placed else []
    x = axis("Speedup (×, failing samples count 1×)", rangemode="tozero")
    return {"data": traces, "layout": layout(x, axis("pass@1", tickformat=".0%", range=[0, TOP]))}


def figure(rows: Sequence[BoardRow]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[BoardRow]) -> Table:
    placed = _placed(rows)
    front = set(pareto_front([(row.speedup or 0.0, _pass_1(row)[0] or 0.0) for row in placed]))
    lines = [
        [
            row.name,
            percent(_pass_1(row)[0]),
            ratio(row.speedup),
            "yes" if (row.speedup, _pass_1(row)[0]) in front else "no",
        ]
        for row in placed
    ]
    return Table(["Model", "pass@1 (%)", "Speedup", "On the Pareto front"], lines)
