"""The distribution of each entrant's speedups over problems, as boxes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leaderboard.charts.chart import GREY, Spec, Table, as_figure, axis, layout, lines_height, names_axis, plain
from leaderboard.charts.colours import colour_of
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


def spec(rows: Sequence[SpeedupBox]) -> Spec:
    if not rows:
        return {"data": [], "layout": layout(axis(""), axis(""))}
    boxes = [_box(row, place) for place, row in enumerate(rows)]
    low = math.log10(min(1.0, *(row.marks[0] for row in rows)))
    high = math.log10(max(1.0, *(row.marks[4] for row in rows)))
    room = 0.05 * max(high - low, 0.3)
    x = axis(
        "Speedup of passes (×, logarithmic)", type="log", range=[low - room, high + room], nticks=6,
        **({"dtick": 1} if high - low > 1.5 else {"tickvals": _steps(low - room, high + room)}),
    )  # fmt: skip
    base = {"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "line": {"dash": "dot", "color": GREY}}
    more = {"shapes": [base], "height": lines_height(len(rows), 32)}
    return {"data": boxes, "layout": layout(x, names_axis([row.name for row in rows]), **more)}


def _steps(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each decade between two powers of ten."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    return [digit * 10.0**power for power in powers for digit in (1, 2, 5) if low <= math.log10(digit) + power <= high]


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


def figure(rows: Sequence[SpeedupBox]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[SpeedupBox]) -> Table:
    header = ["Model", "Slowest", "Lower quartile", "Median", "Upper quartile", "Fastest", "Problems"]
    return Table(header, [[row.name, *map(ratio, row.marks), str(row.n_problems)] for row in rows])
