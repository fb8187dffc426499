"""A node's faults: attempts that ended without a result on each day, stacked by how they ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from leaderboard.charts.chart import Spec, Table, as_figure, axis, layout
from leaderboard.charts.colours import PALETTE

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = (
    "Attempts of each day (UTC) that ended without a result. A lease is lost when the node falls silent; a platform "
    "error is a fault that the node reported itself. Attempts given back in order count against nobody."
)
KINDS = (("lost", "Lost leases"), ("faulted", "Platform errors"), ("given_back", "Given back"))

FEW = 6
"""Up to this number the axis has a tick for each attempt."""


@dataclass(frozen=True)
class FaultDay:
    day: date
    lost: int = 0
    faulted: int = 0
    given_back: int = 0


def spec(rows: Sequence[FaultDay]) -> Spec:
    traces = [
        {
            "type": "bar",
            "name": title,
            "x": [row.day.isoformat() for row in rows],
            "y": [getattr(row, kind) for row in rows],
            "marker": {"color": PALETTE[n % len(PALETTE)]},
            "hovertemplate": "%{x}: %{y}<extra>" + title + "</extra>",
        }
        for n, (kind, title) in enumerate(KINDS)
    ]
    most = max((row.lost + row.faulted + row.given_back for row in rows), default=0)
    steps = {"dtick": 1} if most <= FEW else {}
    x, y = axis("Day (UTC)", type="date"), axis("Attempts", rangemode="tozero", **steps)
    return {"data": traces, "layout": layout(x, y, barmode="stack", showlegend=True)}


def figure(rows: Sequence[FaultDay]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[FaultDay]) -> Table:
    """Newest first; days without a fault are left out."""
    newest = [row for row in reversed(rows) if row.lost or row.faulted or row.given_back]
    cells = [[f"{row.day:%Y-%m-%d}", *(str(getattr(row, kind)) for kind, _ in KINDS)] for row in newest]
    return Table(["Day (UTC)", *(title for _, title in KINDS)], cells)
