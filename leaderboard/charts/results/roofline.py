"""A problem under its track's roofline: each entrant's best time as a rate, below what it was measured to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.charts.chart import GREY, Spec, Table, as_figure, axis, layout, plain
from leaderboard.charts.colours import colour_of
from leaderboard.site.numerals import milliseconds, percent, significant

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = (
    "Both axes are logarithmic. The roof is what the track's hardware was measured to do: its copy bandwidth on the"
    " slope, its matrix products on the flat. The problem's declared work decides where it stands; above the roof lies"
    " what the cache served."
)
_SIDES = ("middle right", "middle left")
"""All points stand above one another; neighbours' names go to different sides."""
MAX_LABELS = 10
"""Beyond this many names the points are named on hover only."""
REACH = 8.0
"""The factor by which the roof is drawn beyond the outermost point."""


@dataclass(frozen=True)
class Roof:
    """A device's measured peaks in one data type."""

    peak_gflops: float
    peak_gbps: float
    dtype: str

    @property
    def ridge(self) -> float:
        """The intensity at which arithmetic becomes the bound."""
        return self.peak_gflops / self.peak_gbps

    def at(self, intensity: float) -> float:
        return min(self.peak_gflops, intensity * self.peak_gbps)


@dataclass(frozen=True)
class Point:
    """One case in an entrant's best sample, or in the reference (entrant_id None)."""

    entrant_id: int | None
    name: str
    best_ms: float
    gflops: float
    gbps: float
    roofline: float
    """Share of what the roof allows."""
    intensity: float
    """Floating-point operations a byte, as the case declares them."""


def spec(roofs: Sequence[Roof], points: Sequence[Point]) -> Spec:
    x = axis("Floating-point operations a byte", type="log", dtick=1)
    y = axis(f"GFLOPS ({', '.join(roof.dtype for roof in roofs)})", type="log", dtick=1)
    named = len(points) <= MAX_LABELS
    drawn = [_point(one, _SIDES[n % len(_SIDES)] if named else "") for n, one in enumerate(points)]
    return {"data": [*(_roof(roof, points, roofs) for roof in roofs), *drawn], "layout": layout(x, y)}


def _roof(roof: Roof, points: Sequence[Point], roofs: Sequence[Roof]) -> Spec:
    shown = [*(one.intensity for one in points), *(one.ridge for one in roofs)]
    places = sorted({min(shown) / REACH, roof.ridge, max(shown) * REACH})
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"Roofline ({roof.dtype})" if len(roofs) > 1 else "Roofline",
        "x": places,
        "y": [roof.at(place) for place in places],
        "line": {"width": 2, "color": GREY},
        "hovertemplate": "roof: %{y:.4g} GFLOPS at %{x:.3g}<extra></extra>",
    }


def _point(one: Point, side: str) -> Spec:
    """`side`: where its name stands; empty where it is named on hover only."""
    reference = one.entrant_id is None
    colour = GREY if one.entrant_id is None else colour_of(one.entrant_id)
    return {
        "type": "scatter",
        "mode": "markers+text" if side else "markers",
        "name": plain(one.name),
        "x": [one.intensity],
        "y": [one.gflops],
        "text": [plain(one.name)],
        "textposition": side or "middle right",
        "marker": {"size": 11, "color": colour, "symbol": "diamond" if reference else "circle"},
        "hovertemplate": f"%{{text}}<br>%{{y:.4g}} GFLOPS<br>{percent(one.roofline)} % of the roofline<extra></extra>",
    }


def figure(roofs: Sequence[Roof], points: Sequence[Point]) -> "Figure":
    return as_figure(spec(roofs, points))


def table(points: Sequence[Point]) -> Table:
    rows = [
        [one.name, milliseconds(one.best_ms), significant(one.gflops), significant(one.gbps), percent(one.roofline)]
        for one in points
    ]
    return Table(["Model", "Best time", "GFLOPS", "GB/s", "Of the roofline (%)"], rows)
