"""pass@1 against speedup: who is right, who is fast, and the Pareto front that nobody beats on both."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from leaderboard.charts.chart import BoardRow, Spec, Table, as_figure, axis, layout, margins, vary
from leaderboard.charts.labels import Stroke, label_sides
from leaderboard.charts.scales import WIDE, log_axis
from leaderboard.charts.scatter import dotted_line, entrant_point, faint, named_points, pareto_front
from leaderboard.site.numerals import percent, ratio
from scoring.metrics import SPEEDUP

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = "Right and fast is top right."
FRONT_CAPTION = f"{CAPTION} The line joins the entrants that no other beats on both axes (Pareto front)."
RANGE = (-0.05, 1.08)
"""The ends of the axis of pass@1: a point at 0 and its name are whole."""


def _placed(rows: Sequence[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if (row.figure(SPEEDUP)[0] or 0.0) > 0 and row.pass_at(1)[0] is not None]


def has_points(rows: Sequence[BoardRow]) -> bool:
    """False where all entrants have the same pass@1: the bars of speedups then say as much."""
    placed = _placed(rows)
    return len(placed) == 1 or vary(row.pass_at(1)[0] for row in placed)


def caption(rows: Sequence[BoardRow]) -> str:
    """The front is spoken of only where a line is drawn: it takes two entrants."""
    return FRONT_CAPTION if _has_line(_placed(rows)) else CAPTION


def _point(row: BoardRow, side: str, named: bool) -> Spec:
    (value, low, high), (speedup, slowest, fastest) = row.pass_at(1), row.figure(SPEEDUP)
    colour = faint(row)
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

    def place(speedup: float, share: float) -> tuple[float, float]:
        across = ((math.log10(speedup) if scale == "log" else speedup) - left) / (right - left)
        return across, (share - RANGE[0]) / (RANGE[1] - RANGE[0])

    named = named_points([_place(row) for row in placed], _front(placed))
    shown = [row for row, is_named in zip(placed, named, strict=True) if is_named]
    bars = [bar for row in shown for bar in _bars(row, place)]
    sides = label_sides([row.name for row in shown], [place(*_place(row)) for row in shown], bars=bars)
    side_of = dict(zip([row.entrant_id for row in shown], sides, strict=True))
    points = [_point(row, side_of.get(row.entrant_id, "top left"), one) for row, one in zip(placed, named, strict=True)]
    line = [dotted_line("Pareto front", _front(placed))] if _has_line(placed) else []
    title = f"{SPEEDUP.title} (×): failing and slower samples count 1×"
    x = log_axis(title, left, right) if scale == "log" else axis(title, range=[left, right])
    y = axis("pass@1", tickformat=".0%", range=list(RANGE), tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return {"data": [*line, *points], "layout": layout(x, y)}


def _bars(row: BoardRow, place: Callable[[float, float], tuple[float, float]]) -> list[Stroke]:
    """The whiskers of both axes."""
    speedup, share = _place(row)
    (_, slowest, fastest), (_, low, high) = row.figure(SPEEDUP), row.pass_at(1)
    found = []
    if slowest and fastest:
        found.append((place(slowest, share), place(fastest, share)))
    if low is not None and high is not None:
        found.append((place(speedup, low), place(speedup, high)))
    return found


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
