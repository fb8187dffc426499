"""A problem under its track's roofline: each entrant's best time as a rate, below what it was measured to do."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.charts.chart import GREY, Spec, Table, as_figure, layout, plain
from leaderboard.charts.colours import colour_of
from leaderboard.charts.scales import log_axis
from leaderboard.site.numerals import milliseconds, percent, significant

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = (
    "Both axes are logarithmic. The roof is what the track's hardware was measured to do: its copy bandwidth on the"
    " slope, its matrix products on the flat. The problem's declared work decides where it stands; above the roof lies"
    " what the cache served."
)
LEAST_FRAME_PX, NAME_PX, LINE_PX = 340, 18, 34
"""The frame's least height, the height that a name takes, and the length of the line from a point to its name."""
_AROUND_PX = 110
"""Height of a figure beyond its frame."""
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
    lines = [_roof(roof, points, roofs) for roof in roofs]
    places = [math.log10(x) for line in lines for x in line["x"]] + [math.log10(one.intensity) for one in points]
    rates = [math.log10(y) for line in lines for y in line["y"]] + [math.log10(one.gflops) for one in points]
    x = log_axis("Floating-point operations a byte", min(places), max(places))
    low, high = min(rates) - 0.15, max(rates) + 0.15
    y = log_axis(f"GFLOPS ({', '.join(roof.dtype for roof in roofs)})", low, high)
    frame_px = max(LEAST_FRAME_PX, NAME_PX * (len(points) // 2 + 2))
    more = {"annotations": _names(points, low, high, frame_px), "height": frame_px + _AROUND_PX}
    return {"data": [*lines, *map(_point, points)], "layout": layout(x, y, **more)}


def _names(points: Sequence[Point], low: float, high: float, frame_px: float) -> list[Spec]:
    """Every point's name with a line to it, left and right by turns, so far apart that none lies on another."""
    by_height = sorted(points, key=lambda one: one.gflops)
    return [
        note
        for side in (0, 1)
        for note in _column(by_height[side::2], ("right", -LINE_PX) if side else ("left", LINE_PX), low, high, frame_px)
    ]


def _column(points: Sequence[Point], side: tuple[str, int], low: float, high: float, frame_px: float) -> Iterator[Spec]:
    anchor, across_px = side
    wanted = [frame_px * (math.log10(one.gflops) - low) / (high - low) for one in points]
    for one, at_px, name_px in zip(points, wanted, spread_out(wanted, NAME_PX, frame_px), strict=True):
        yield {
            "x": math.log10(one.intensity), "y": math.log10(one.gflops), "text": plain(one.name),
            "ax": across_px, "ay": at_px - name_px, "xanchor": anchor, "yanchor": "middle",
            "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": GREY, "standoff": 6,
        }  # fmt: skip


def spread_out(wanted: Sequence[float], gap: float, end: float) -> list[float]:
    """Rising places from 0 to `end`, each near the wanted one and at least `gap` above the one before."""
    places: list[float] = []
    for one in wanted:
        places.append(max(one, places[-1] + gap if places else gap / 2))
    limit = end - gap / 2
    for n in reversed(range(len(places))):
        places[n] = min(places[n], limit)
        limit = places[n] - gap
    return places


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


def _point(one: Point) -> Spec:
    reference = one.entrant_id is None
    colour = GREY if one.entrant_id is None else colour_of(one.entrant_id)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(one.name),
        "x": [one.intensity],
        "y": [one.gflops],
        "text": [plain(one.name)],
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
