"""pass@1 against speedup: who is right, who is fast, and the Pareto front that nobody beats on both."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.charts.chart import BoardRow, Spec, Table, as_figure, axis, layout, margins
from leaderboard.charts.colours import colour_of
from leaderboard.charts.labels import label_sides
from leaderboard.charts.scatter import MAX_LABELS, dotted_line, entrant_point, pareto_front
from leaderboard.site.numerals import percent, ratio
from scoring.metrics import SPEEDUP

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = "Right and fast is top right."
FRONT_CAPTION = f"{CAPTION} The line joins the entrants that no other beats on both axes (Pareto front)."
RANGE = (-0.05, 1.08)
"""The ends of the axis of pass@1: a point at 0 and its name are whole."""
WIDE = 20.0
"""Speedups whose largest is this many times the smallest stand on a logarithmic axis."""


def _placed(rows: Sequence[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if (row.figure(SPEEDUP)[0] or 0.0) > 0 and row.pass_at(1)[0] is not None]


def has_points(rows: Sequence[BoardRow]) -> bool:
    return bool(_placed(rows))


def caption(rows: Sequence[BoardRow]) -> str:
    """The front is spoken of only where a line is drawn: it takes two entrants."""
    return FRONT_CAPTION if _has_line(_placed(rows)) else CAPTION


def _point(row: BoardRow, side: str, named: bool) -> Spec:
    (value, low, high), (speedup, slowest, fastest) = row.pass_at(1), row.figure(SPEEDUP)
    colour = colour_of(row.entrant_id)
    return entrant_point(
        row,
        speedup,
        value,
        side,
        named=named,
        hover=f"pass@1 %{{y:.1%}}<br>speedup {ratio(speedup)}",
        error_x=margins([speedup], [slowest], [fastest], colour),
        error_y=margins([value], [low], [high], colour),
    )


def _place(row: BoardRow) -> tuple[float, float]:
    return row.figure(SPEEDUP)[0] or 0.0, row.pass_at(1)[0] or 0.0


def _front(rows: Sequence[BoardRow]) -> list[tuple[float, float]]:
    return pareto_front([_place(row) for row in rows])


def _has_line(placed: Sequence[BoardRow]) -> bool:
    return len(_front(placed)) > 1


def _scale(placed: Sequence[BoardRow]) -> tuple[str, float, float]:
    """The kind of the axis of speedups and its ends, as plotly takes them: powers of ten on a logarithmic one."""
    ends = [one for row in placed for one in row.figure(SPEEDUP) if one]
    low, high = min(ends, default=1.0), max(ends, default=1.0)
    if high > WIDE * low:
        low, high = math.log10(low), math.log10(high)
        return "log", low - 0.08 * (high - low), high + 0.08 * (high - low)
    room = 0.08 * max(high - low, 0.5, high / 100)
    return "linear", low - room, high + room


def spec(rows: Sequence[BoardRow]) -> Spec:
    placed = _placed(rows)
    scale, left, right = _scale(placed)

    def place(row: BoardRow) -> tuple[float, float]:
        speedup, share = _place(row)
        across = ((math.log10(speedup) if scale == "log" else speedup) - left) / (right - left)
        return across, (share - RANGE[0]) / (RANGE[1] - RANGE[0])

    sides = label_sides([row.name for row in placed], [place(row) for row in placed])
    points = [_point(row, side, len(placed) <= MAX_LABELS) for row, side in zip(placed, sides, strict=True)]
    line = [dotted_line("Pareto front", _front(placed))] if _has_line(placed) else []
    ticks = {"dtick": 1} if scale == "log" and right - left > 1 else {}
    x = axis(f"{SPEEDUP.title} (×): failing and slower samples count 1×", type=scale, range=[left, right], **ticks)
    y = axis("pass@1", tickformat=".0%", range=list(RANGE), tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return {"data": [*line, *points], "layout": layout(x, y)}


def figure(rows: Sequence[BoardRow]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[BoardRow]) -> Table:
    placed = _placed(rows)
    header = ["Model", "pass@1 (%)", f"{SPEEDUP.title} (×)"]
    lines = [[row.name, percent(row.pass_at(1)[0]), ratio(row.figure(SPEEDUP)[0])] for row in placed]
    if not _has_line(placed):
        return Table(header, lines)
    front = set(_front(placed))
    told = ["yes" if _place(row) in front else "no" for row in placed]
    return Table([*header, "On the Pareto front"], [[*line, word] for line, word in zip(lines, told, strict=True)])
