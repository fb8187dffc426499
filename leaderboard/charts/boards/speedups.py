"""The distribution of each entrant's speedups over problems, as boxes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leaderboard.charts.chart import GREY, Spec, Table, as_figure, axis, layout, lines_height, names_axis, plain
from leaderboard.charts.colours import colour_of
from leaderboard.charts.scales import log_axis, ratio_range
from leaderboard.site.numerals import ratio

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

MAX_BOXES = 10
"""Each box is made of an entrant's results on every problem, so fewer are drawn than of other charts."""
CAPTION = (
    "Speedup on each problem that the entrant solved in a time that ranks: the geometric mean of the passing samples."
    " The box holds the middle half of the problems, its line is the median, the whiskers reach the slowest and the"
    f" fastest. Left of 1× is slower than the baseline. The first {MAX_BOXES} by rank."
)


BASE = {"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "line": {"dash": "dot", "color": GREY}}
"""The line of the baseline."""


@dataclass(frozen=True)
class EntrantSpeedups:
    """One entrant's speedup on each problem that it solved in a time that ranks."""

    entrant_id: int
    name: str
    by_problem: Mapping[str, float]


@dataclass(frozen=True)
class SpeedupBox:
    """One entrant's speedups: smallest, lower quartile, median, upper quartile, largest; and of how many problems."""

    entrant_id: int
    name: str
    marks: tuple[float, float, float, float, float]
    n_problems: int


def box_of(entrant_id: int, name: str, speedups: Sequence[float]) -> SpeedupBox:
    """`speedups` holds one figure above 0 for each problem, at least one."""
    low, first, middle, third, high = np.exp(np.percentile(np.log(speedups), [0, 25, 50, 75, 100]))
    return SpeedupBox(
        entrant_id, name, (float(low), float(first), float(middle), float(third), float(high)), len(speedups)
    )


def _boxes(rows: Sequence[EntrantSpeedups]) -> list[SpeedupBox]:
    return [box_of(row.entrant_id, row.name, list(row.by_problem.values())) for row in rows]


def spec(rows: Sequence[EntrantSpeedups]) -> Spec:
    if not rows:
        return {"data": [], "layout": layout(axis(""), axis(""))}
    found = _boxes(rows)
    boxes = [_box(row, place) for place, row in enumerate(found)]
    ends = [mark for row in found for mark in (row.marks[0], row.marks[4])]
    x = log_axis("Speedup of passes (×, logarithmic)", *ratio_range(ends))
    more = {"shapes": [BASE], "height": lines_height(len(rows), 32)}
    return {"data": boxes, "layout": layout(x, names_axis([row.name for row in rows]), **more)}


def _box(row: SpeedupBox, place: int) -> Spec:
    low, first, middle, third, high = row.marks
    colour = colour_of(row.entrant_id)
    return {
        "type": "box",
        "orientation": "h",
        "name": plain(row.name),
        "y": [place],
        "lowerfence": [low],
        "q1": [first],
        "median": [middle],
        "q3": [third],
        "upperfence": [high],
        "line": {"color": colour, "width": 2},
        "fillcolor": f"{colour}40",
        "width": 0.6,
        "hoverinfo": "x+name",
    }


def figure(rows: Sequence[EntrantSpeedups]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[EntrantSpeedups]) -> Table:
    header = ["Model", "Slowest", "Lower quartile", "Median", "Upper quartile", "Fastest", "Problems"]
    return Table(header, [[row.name, *map(ratio, row.marks), str(row.n_problems)] for row in _boxes(rows)])
