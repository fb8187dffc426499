"""A node's golden times: how far each run's median lies from those before it, one line for each GPU and part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from leaderboard.charts.chart import GREY, Spec, Table, as_figure, axis, layout, plain
from leaderboard.charts.colours import PALETTE
from leaderboard.site.numerals import milliseconds

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = (
    "The golden program is the same every hour: six times a fixed computation and six times a fixed copy of memory. "
    "Each point is a median of six, against the median of the 20 before it. A node is drained when two in a row lie "
    "outside the grey lines at ±2 %."
)
TOLERANCE_PERCENT = 2.0


@dataclass(frozen=True)
class GoldenPoint:
    """One part of one run; `drift` is None while too few runs are known."""

    gpu: str
    name: str
    ran_at: datetime
    median_ms: float
    low_ms: float
    high_ms: float
    drift: float | None

    @property
    def line(self) -> str:
        return f"{self.gpu}: {self.name}"


def percent(drift: float | None) -> str:
    """0.0123 → `+1.23 %`."""
    return "–" if drift is None else f"{100 * drift:+.2f} %"


def _lines(rows: Sequence[GoldenPoint]) -> Iterator[tuple[str, list[GoldenPoint]]]:
    in_order = sorted((row for row in rows if row.drift is not None), key=lambda row: (row.line, row.ran_at))
    for line, points in groupby(in_order, key=lambda row: row.line):
        yield line, list(points)


def _limit(percent_off: float) -> Spec:
    place = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": percent_off, "y1": percent_off}
    return {**place, "line": {"color": GREY, "width": 1, "dash": "dot"}}


def spec(rows: Sequence[GoldenPoint]) -> Spec:
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": plain(line),
            "x": [point.ran_at.isoformat() for point in points],
            "y": [100 * (point.drift or 0) for point in points],
            "customdata": [milliseconds(point.median_ms) for point in points],
            "line": {"color": PALETTE[n % len(PALETTE)], "width": 1.5},
            "marker": {"size": 5},
            "hovertemplate": "%{y:+.2f} %, %{customdata}, %{x}<extra>" + plain(line) + "</extra>",
        }
        for n, (line, points) in enumerate(_lines(rows))
    ]
    limits = [_limit(-TOLERANCE_PERCENT), _limit(TOLERANCE_PERCENT)]
    x, y = axis("When (UTC)", type="date"), axis("Off (%)", rangemode="tozero")
    return {"data": traces, "layout": layout(x, y, shapes=limits, showlegend=len(traces) > 1)}


def figure(rows: Sequence[GoldenPoint]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[GoldenPoint]) -> Table:
    """Newest first; the first runs too, of which nothing can be said yet."""
    newest = sorted(rows, key=lambda row: (row.ran_at, row.line), reverse=True)
    header = ["When (UTC)", "GPU", "Part", "Median", "Lowest", "Highest", "Off"]
    return Table(header, [_cells(row) for row in newest])


def _cells(row: GoldenPoint) -> list[str]:
    times = [milliseconds(one) for one in (row.median_ms, row.low_ms, row.high_ms)]
    return [f"{row.ran_at:%Y-%m-%d %H:%M:%S}", row.gpu, row.name, *times, percent(row.drift)]
