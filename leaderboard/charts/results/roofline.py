"""A problem under its track's roofline: each entrant's best time as a rate, below what it was measured to do."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.charts.chart import GREY, Spec, Table, as_figure, layout, plain
from leaderboard.charts.colours import SYMBOLS, colour_of
from leaderboard.charts.scales import log_axis
from leaderboard.site.numerals import milliseconds, percent, significant

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = (
    "Both axes are logarithmic. The roof is what the track's hardware was measured to do: its copy bandwidth on the"
    " slope, its matrix products on the flat. The problem's declared work decides where it stands; above the roof lies"
    " what the cache served. Each entrant has a colour and each case a shape."
)
FRAME_PX, NAME_PX, LINE_PX = 420, 18, 34
"""Heights of the frame and of a name, and the length of the line from a point to its name."""
WIDE_PX, LETTER_PX, MAX_LETTERS = 1050, 7, 44
"""The frame's width and a letter's on a wide page, and the letters to which the page's script cuts a name."""
MAX_NAMED = 10
"""More points than these have no name beside them: the legend names colours and shapes."""
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
    entrant: str = ""
    """The name without that of the case."""
    case: str = ""


def spec(roofs: Sequence[Roof], points: Sequence[Point]) -> Spec:
    """Each point is named beside it, and the axis leaves room for that; of more, the legend has entrants and cases."""
    drawn = [one for one in points if one.gflops > 0 and one.intensity > 0]
    lines = [_roof(roof, drawn, roofs) for roof in roofs]
    places = [math.log10(x) for line in lines for x in line["x"]] + [math.log10(one.intensity) for one in drawn]
    rates = [math.log10(y) for line in lines for y in line["y"]] + [math.log10(one.gflops) for one in drawn]
    low, high = min(rates) - 0.15, max(rates) + 0.25
    y = log_axis(f"GFLOPS ({', '.join(roof.dtype for roof in roofs)})", low, high, is_upright=True)
    symbols = _symbols(drawn)
    if len(drawn) <= MAX_NAMED:
        names, marks = _names(drawn, low, high), [_marks([one], one.name, symbols) for one in drawn]
    else:
        names, marks = [], [*_by_entrant(drawn, symbols), *_cases(symbols)]
    x = log_axis("Floating-point operations a byte", *_with_room(min(places), max(places), names))
    more = {"annotations": names, "height": FRAME_PX + _AROUND_PX, "showlegend": not names}
    return {"data": [*lines, *marks], "layout": layout(x, y, **more)}


def _with_room(low: float, high: float, names: Sequence[Spec]) -> tuple[float, float]:
    """The ends of the axis with room for the longest name on each side."""
    left, right = (
        max((LINE_PX + LETTER_PX * min(MAX_LETTERS, len(one["text"])) for one in names if one["xanchor"] == side),
            default=0) / WIDE_PX
        for side in ("right", "left")
    )  # fmt: skip
    whole = (high - low) / (1 - left - right)
    return low - left * whole, high + right * whole


def _symbols(points: Sequence[Point]) -> dict[str, str]:
    """A shape for each case, by rising intensity."""
    cases = dict.fromkeys(one.case for one in sorted(points, key=lambda one: one.intensity))
    return {case: SYMBOLS[n % len(SYMBOLS)] for n, case in enumerate(cases)}


def _names(points: Sequence[Point], low: float, high: float) -> list[Spec]:
    """Every point's name with a line to it, left and right by turns, each at a height of its own."""
    rising = sorted(points, key=lambda one: one.gflops)
    wanted = [FRAME_PX * (math.log10(one.gflops) - low) / (high - low) for one in rising]
    placed = zip(rising, wanted, spread_out(wanted, NAME_PX, FRAME_PX), strict=True)
    return [_name(one, (-1, 1)[n % 2], at_px - name_px) for n, (one, at_px, name_px) in enumerate(placed)]


def _name(one: Point, side: int, down_px: float) -> Spec:
    """`side`: 1 right of the point, -1 left of it."""
    return {
        "x": math.log10(one.intensity), "y": math.log10(one.gflops), "text": plain(one.name),
        "ax": side * LINE_PX, "ay": down_px, "xanchor": "left" if side > 0 else "right", "yanchor": "middle",
        "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": GREY, "standoff": 6,
    }  # fmt: skip


def _by_entrant(points: Sequence[Point], symbols: Mapping[str, str]) -> list[Spec]:
    found: dict[str, list[Point]] = {}
    for one in points:
        found.setdefault(one.entrant or one.name, []).append(one)
    return [_marks(own, name, symbols) for name, own in found.items()]


def _cases(symbols: Mapping[str, str]) -> list[Spec]:
    """Entries of the legend that name the shapes; nothing is drawn for them."""
    return [
        {
            "type": "scatter", "mode": "markers", "name": plain(case), "x": [None], "y": [None], "meta": "key",
            "marker": {"size": 11, "color": GREY, "symbol": symbol},
        }
        for case, symbol in symbols.items()
        if len(symbols) > 1
    ]  # fmt: skip


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


def _marks(points: Sequence[Point], name: str, symbols: Mapping[str, str]) -> Spec:
    entrant_id = points[0].entrant_id
    colour = GREY if entrant_id is None else colour_of(entrant_id)
    shapes = [symbols[one.case] for one in points]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(name),
        "x": [one.intensity for one in points],
        "y": [one.gflops for one in points],
        "text": [plain(one.name) for one in points],
        "customdata": [f"{percent(one.roofline)} % of the roofline" for one in points],
        "marker": {"size": 11, "color": colour, "symbol": shapes if len(shapes) > 1 else shapes[0]},
        "hovertemplate": "%{text}<br>%{y:.4g} GFLOPS<br>%{customdata}<extra></extra>",
    }


def figure(roofs: Sequence[Roof], points: Sequence[Point]) -> "Figure":
    return as_figure(spec(roofs, points))


def table(points: Sequence[Point]) -> Table:
    rows = [
        [one.name, milliseconds(one.best_ms), significant(one.gflops), significant(one.gbps), percent(one.roofline)]
        for one in points
    ]
    return Table(["Model", "Best time", "GFLOPS", "GB/s", "Of the roofline (%)"], rows)
