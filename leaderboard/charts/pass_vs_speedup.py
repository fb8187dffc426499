"""pass@1 against speedup: who is right, who is fast, and the Pareto front that nobody beats on both."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.board.numerals import percent, ratio
from leaderboard.charts.chart import BoardRow, Spec, Table, as_figure, axis, layout, margins
from leaderboard.charts.colours import colour_of
from leaderboard.charts.labels import label_sides
from leaderboard.charts.scatter import MAX_LABELS, dotted_line, entrant_point, pareto_front

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = "Right and fast is top right. The line joins the entrants that no other beats on both axes (Pareto front)."
TOP = 1.08
"""The end of the axis of pass@1."""


def _placed(rows: Sequence[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if row.speedup is not None and _pass_1(row)[0] is not None]


def has_points(rows: Sequence[BoardRow]) -> bool:
    return bool(_placed(rows))


def _pass_1(row: BoardRow) -> list[float | None]:
    return row.pass_at_k.get("1", [None, None, None])


def _point(row: BoardRow, side: str, named: bool) -> Spec:
    value, low, high = _pass_1(row)
    colour = colour_of(row.entrant_id)
    return entrant_point(
        row,
        row.speedup,
        value,
        side,
        named=named,
        hover="pass@1 %{y:.1%}<br>speedup %{x:.2f}×",
        error_x=margins([row.speedup], [row.speedup_low], [row.speedup_high], colour),
        error_y=margins([value], [low], [high], colour),
    )


def _front(rows: Sequence[BoardRow]) -> Spec:
    points = [(row.speedup or 0.0, _pass_1(row)[0] or 0.0) for row in rows]
    return dotted_line("Pareto front", pareto_front(points))


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
