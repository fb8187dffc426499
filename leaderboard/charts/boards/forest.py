"""Paired differences of pass@1 as a forest plot: one line for each entrant, with its interval, beside a line at 0."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.charts.chart import (
    GREY,
    MAX_ENTRANTS,
    Spec,
    Table,
    as_figure,
    axis,
    layout,
    lines_height,
    margins,
    names_axis,
    plain,
)
from leaderboard.charts.colours import colour_of
from leaderboard.site.numerals import MISSING
from scoring.paired import PairedDifference

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

_FEW_LINES = 6
"""A figure of more lines has them closer together."""


@dataclass(frozen=True)
class Difference:
    """An entrant's pass@1 less that of the reference, in shares."""

    entrant_id: int
    name: str
    reference: str
    passes: PairedDifference


def caption(rows: Sequence[Difference]) -> str:
    reference = rows[0].reference if rows else "the reference"
    if rows and not any(row.passes.problems for row in rows):
        return f"No problem counts both for {reference} and for another ranked entrant, so there is nothing to compare."
    compared = "each ranked entrant" if len(rows) < MAX_ENTRANTS else f"the first {MAX_ENTRANTS} other entrants by rank"
    return (
        f"pass@1 of {compared} less that of {reference}, over the problems that count for both, with a 95 %"
        f" interval. An entrant to the right of the line at 0 passes more than {reference}. An interval that reaches"
        " the line leaves open which of the two is better."
    )


def spec(rows: Sequence[Difference]) -> Spec:
    """The lines in the order of the rows; those without a difference are left out."""
    known = [row for row in rows if row.passes.problems]
    marks = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": plain(row.name),
            "x": [row.passes.value],
            "y": [place],
            "error_x": margins([row.passes.value], [_known(row.passes.low)], [_known(row.passes.high)]),
            "marker": {"size": 11, "color": colour_of(row.entrant_id)},
            "hovertemplate": "%{fullData.name} %{x:+.1%}<extra></extra>",
        }
        for place, row in enumerate(known)
    ]
    names = names_axis([row.name for row in known])
    title = f"pass@1 less that of {plain(known[0].reference)}" if known else ""
    x = axis(title, tickformat="+.0%", range=_range(known))
    zero = {"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper", "line": {"dash": "dot", "color": GREY}}
    height = lines_height(len(known), 36 if len(known) <= _FEW_LINES else 26)
    return {"data": marks, "layout": layout(x, names, shapes=[zero], height=height)}


def _range(rows: Sequence[Difference]) -> list[float]:
    """The axis's range: all intervals and the line at 0, with room on both sides."""
    ends = [end for row in rows for end in (row.passes.value, row.passes.low, row.passes.high) if not math.isnan(end)]
    least, most = min([0.0, *ends]), max([0.0, *ends])
    room = 0.06 * (most - least) or 0.05
    return [least - room, most + room]


def figure(rows: Sequence[Difference]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[Difference]) -> Table:
    header = ["Model", "Difference (points)", "95 % interval", "Better on", "Worse on", "Alike on"]
    return Table(
        header,
        [
            [
                row.name, points(row.passes.value), interval(row.passes), str(row.passes.wins), str(row.passes.losses),
                str(row.passes.ties),
            ]
            for row in rows
        ],
    )  # fmt: skip


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    if math.isnan(share):
        return MISSING
    rounded = round(100 * share, 1)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"


def interval(found: PairedDifference) -> str:
    return MISSING if math.isnan(found.low) else f"{points(found.low)} to {points(found.high)}"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
