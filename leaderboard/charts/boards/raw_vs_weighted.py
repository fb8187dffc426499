"""Raw against weighted score of coding problems: what the weights of groups change for each entrant."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.charts.chart import BoardRow, Spec, Table, as_figure, axis, layout, margins
from leaderboard.charts.labels import label_sides
from leaderboard.charts.scatter import MAX_LABELS, dotted_line, entrant_point, faint
from leaderboard.site.numerals import MISSING, percent
from scoring.metrics import CODING, WEIGHTED

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = "Passes lie in easy groups below the line, in hard ones above it. Whiskers are 95 % intervals over problems."
RANGE = (-0.04, 1.08)


def _placed(rows: Sequence[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if row.figure(CODING)[0] is not None and row.figure(WEIGHTED)[0] is not None]


def has_points(rows: Sequence[BoardRow]) -> bool:
    return bool(_placed(rows))


def _point(row: BoardRow, side: str, named: bool) -> Spec:
    (raw, raw_low, raw_high), (weighted, low, high) = row.figure(CODING), row.figure(WEIGHTED)
    return entrant_point(
        row,
        raw,
        weighted,
        side,
        named=named,
        hover="raw %{x:.1%}<br>weighted %{y:.1%}",
        error_x=margins([raw], [raw_low], [raw_high], faint(row)),
        error_y=margins([weighted], [low], [high], faint(row)),
    )


def _in_frame(share: float | None) -> float:
    """A share as a place on its axis, 0 to 1."""
    return ((share or 0.0) - RANGE[0]) / (RANGE[1] - RANGE[0])


_EQUAL = dotted_line("Raw = weighted", [(0, 0), (1, 1)])


def spec(rows: Sequence[BoardRow]) -> Spec:
    placed = _placed(rows)
    places = [(_in_frame(row.figure(CODING)[0]), _in_frame(row.figure(WEIGHTED)[0])) for row in placed]
    sides = label_sides([row.name for row in placed], places)
    points = [_point(row, side, len(placed) <= MAX_LABELS) for row, side in zip(placed, sides, strict=True)]
    x, y = (axis(f"{name} score", tickformat=".0%", range=list(RANGE)) for name in ("Raw", "Weighted"))
    return {"data": [_EQUAL, *points] if points else [], "layout": layout(x, y)}


def figure(rows: Sequence[BoardRow]) -> "Figure":
    return as_figure(spec(rows))


def _interval(low: float | None, high: float | None) -> str:
    return MISSING if low is None or high is None else f"{percent(low)}–{percent(high)}"


def table(rows: Sequence[BoardRow]) -> Table:
    header = ["Model", "Raw (%)", "95 % interval", "Weighted (%)", "95 % interval", "Weighted − raw"]
    return Table(header, [_line(row) for row in _placed(rows)])


def _line(row: BoardRow) -> list[str]:
    (raw, raw_low, raw_high), (weighted, low, high) = row.figure(CODING), row.figure(WEIGHTED)
    change = f"{100 * ((weighted or 0.0) - (raw or 0.0)):+.1f}".replace("-", "−")
    return [row.name, percent(raw), _interval(raw_low, raw_high), percent(weighted), _interval(low, high), change]
