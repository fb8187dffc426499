"""Score against declared cost on a logarithmic axis, and the best score that each cost has bought."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from leaderboard.charts.chart import (
    BoardRow,
    Spec,
    Table,
    as_figure,
    axis,
    figured,
    headed,
    hovered,
    layout,
    margins,
    titled,
)
from leaderboard.charts.labels import label_sides
from leaderboard.charts.scales import plain_number
from leaderboard.charts.scatter import dotted_line, entrant_point, faint, named_points, pareto_front
from leaderboard.site.numerals import MISSING, dollars
from scoring.metrics import PASS_AT_1, Metric

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = (
    "Good and cheap is {} left. The line is the best score up to each cost (Pareto front). Costs are declared by the"
    " entrants. A cost of 0 is in the table only."
)
HEADROOM, FOOTROOM = 0.1, 0.04
"""Room above the best score and below 0, as shares of the best, so that points and names are whole."""
MAX_TICKS = 5
TICK_EDGE = 0.03
"""No tick so near an end of the axis, as a share of it: its label would not be whole."""


def _known(rows: Sequence[BoardRow]) -> list[tuple[BoardRow, float, float]]:
    """Row, cost and score of each entrant that has both."""
    return [
        (row, row.usd_per_sample, row.primary[0])
        for row in rows
        if row.usd_per_sample is not None and row.primary[0] is not None
    ]


def _placed(rows: Sequence[BoardRow]) -> list[tuple[BoardRow, float, float]]:
    """Points that a logarithmic axis has a place for."""
    return [one for one in _known(rows) if one[1] > 0]


def has_points(rows: Sequence[BoardRow]) -> bool:
    return bool(_placed(rows))


def caption(rows: Sequence[BoardRow]) -> str:
    return CAPTION.format("bottom" if _metric(rows).better == "down" else "top")


def _metric(rows: Sequence[BoardRow]) -> Metric:
    return rows[0].metric if rows else PASS_AT_1


def _front(points: Sequence[tuple[float, float]], metric: Metric) -> list[tuple[float, float]]:
    """The (cost, score) that no other point reaches or beats on both axes, the cheapest first."""
    sign = -1.0 if metric.better == "down" else 1.0
    front = pareto_front([(-cost, sign * score) for cost, score in points])
    return [(-x, sign * y) for x, y in reversed(front)]


def spec(rows: Sequence[BoardRow]) -> Spec:
    placed = _placed(rows)
    if not placed:
        return {"data": [], "layout": layout(axis(""), axis(""))}
    metric, costs = placed[0][0].metric, [cost for _, cost, _ in placed]
    left, right = _cost_range(costs)
    best = 1.0 if metric.unit == "%" else max(_upper_end(row) for row, _, _ in placed) or 1.0
    low, high = -FOOTROOM * best, (1 + HEADROOM) * best

    def place(cost: float, score: float) -> tuple[float, float]:
        return (math.log10(cost) - left) / (right - left), (score - low) / (high - low)

    corners = _corners([(cost, score) for _, cost, score in placed], 10**right, metric)
    places = [place(cost, score) for _, cost, score in placed]
    named = named_points([(cost, score) for _, cost, score in placed], corners)
    shown = [n for n, one in enumerate(named) if one]
    bars = [(place(cost, low), place(cost, high)) for row, cost, _ in placed for low, high in _ends(row)]
    sides = label_sides(
        [placed[n][0].name for n in shown], [places[n] for n in shown], [place(*corner) for corner in corners], bars
    )
    side_of = dict(zip(shown, sides, strict=True))
    points = [_point(*one, side_of.get(n, "top left"), named[n]) for n, one in enumerate(placed)]
    return {
        "data": [dotted_line("Pareto front", corners), *points],
        "layout": layout(_cost_axis(left, right), _score_axis(placed[0][0], low, high)),
    }


def _ends(row: BoardRow) -> list[tuple[float, float]]:
    _, low, high = row.primary
    return [] if low is None or high is None else [(low, high)]


def _upper_end(row: BoardRow) -> float:
    return max(one for one in row.primary if one is not None)


def _cost_range(costs: Sequence[float]) -> tuple[float, float]:
    """The ends of the axis as powers of ten."""
    low, high = math.log10(min(costs)), math.log10(max(costs))
    room = max(0.12 * (high - low), 0.35)
    return low - room, high + room


def _cost_axis(left: float, right: float) -> Spec:
    ticks = cost_ticks(left, right)
    return axis(
        "Cost per sample (US$, declared)",
        type="log",
        range=[left, right],
        tickvals=ticks,
        ticktext=[plain_number(tick) for tick in ticks],
    )


def cost_ticks(left: float, right: float) -> list[float]:
    """At most `MAX_TICKS`: 1, 2 and 5 of each decade where they fit, else 1 and 3, else powers of ten."""
    edge = TICK_EDGE * (right - left)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        powers = range(math.floor(left), math.ceil(right) + 1)
        ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
        inside = [tick for tick in ticks if left + edge <= math.log10(tick) <= right - edge]
        if len(inside) <= MAX_TICKS:
            return inside
    return inside[:: -(-len(inside) // MAX_TICKS)]


def _score_axis(row: BoardRow, low: float, high: float) -> Spec:
    shares = {"tickformat": ".0%"} if row.metric.unit == "%" else {}
    return axis(titled(row.metric), range=[low, high], **shares)


def _point(row: BoardRow, cost: float, score: float, side: str, named: bool) -> Spec:
    _, low, high = row.primary
    return entrant_point(
        row,
        cost,
        score,
        side,
        named=named,
        hover=f"{row.metric.title} {hovered(row.metric)}<br>US$ %{{x:.3~g}} per sample",
        error_y=margins([score], [low], [high], faint(row)),
    )


def _corners(points: Sequence[tuple[float, float]], end: float, metric: Metric) -> list[tuple[float, float]]:
    """Corners of the steps from each entrant of the front to the next, and from the last to the end of the axis."""
    front = _front(points, metric)
    steps = [corner for (_, low), (cost, high) in pairwise(front) for corner in ((cost, low), (cost, high))]
    return [front[0], *steps, (end, front[-1][1])]


def figure(rows: Sequence[BoardRow]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[BoardRow]) -> Table:
    known, metric = _known(rows), _metric(rows)
    front = set(_front([(cost, score) for _, cost, score in known], metric))
    header = ["Model", headed(metric), "95 % interval", "Cost per sample (US$)", "On the Pareto front"]
    lines = [
        [row.name, figured(metric, score), interval_of(row), dollars(cost), "yes" if (cost, score) in front else "no"]
        for row, cost, score in known
    ]
    return Table(header, lines)


def interval_of(row: BoardRow) -> str:
    """The interval of the primary figure, under a heading that has its unit."""
    _, low, high = row.primary
    return MISSING if low is None or high is None else f"{figured(row.metric, low)}–{figured(row.metric, high)}"
