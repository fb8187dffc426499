"""The median of every process at one case: each entrant's best sample and the reference, with median and interval."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.charts.chart import GREY, Spec, Table, axis, layout, margins, plain
from leaderboard.charts.colours import colour_of
from leaderboard.charts.scales import decades, log_axis
from leaderboard.site.numerals import milliseconds

TITLE = "Every process"
CAPTION = (
    "A point is the median of one process of a model's best sample; the bar is the published time with its 95 %"
    " interval: the median over all processes, on a GPU refined by device events."
)
WIDE = 20.0
"""The ratio of times from which on their axis is logarithmic."""


@dataclass(frozen=True)
class Spread:
    """One entrant's processes at a case, or the reference's (entrant_id None)."""

    entrant_id: int | None
    name: str
    medians_ms: tuple[float, ...]
    median_ms: float
    low_ms: float | None
    high_ms: float | None


def spec(spreads: Sequence[Spread]) -> Spec:
    times = [time for one in spreads for time in (*one.medians_ms, one.median_ms)]
    wide = bool(times) and max(times) > WIDE * min(times)
    y = log_axis("Time (ms)", *decades(times), is_upright=True) if wide else axis("Time (ms)")
    x = axis("", type="category", range=[-0.5, len(spreads) - 0.5], dtick=1)
    traces = [trace for one in spreads for trace in (_points(one), _median(one))]
    return {"data": traces, "layout": layout(x, y)}


def _colour(one: Spread) -> str:
    return GREY if one.entrant_id is None else colour_of(one.entrant_id)


def _points(one: Spread) -> Spec:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{plain(one.name)}, processes",
        "x": [plain(one.name)] * len(one.medians_ms),
        "y": list(one.medians_ms),
        "marker": {"size": 8, "opacity": 0.6, "color": _colour(one)},
        "hovertemplate": "process: %{y:.4g} ms<extra></extra>",
    }


def _median(one: Spread) -> Spec:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{plain(one.name)}, median",
        "x": [plain(one.name)],
        "y": [one.median_ms],
        "error_y": margins([one.median_ms], [one.low_ms], [one.high_ms], _colour(one)),
        "marker": {"size": 26, "symbol": "line-ew-open", "color": _colour(one), "line": {"width": 3}},
        "hovertemplate": "median: %{y:.4g} ms<extra></extra>",
    }


def table(spreads: Sequence[Spread]) -> Table:
    rows = [[one.name, milliseconds(one.median_ms), _interval(one), _listed(one)] for one in spreads]
    return Table(["Model", "Median", "95 % interval", "Processes"], rows)


def _interval(one: Spread) -> str:
    if one.low_ms is None or one.high_ms is None:
        return f"no interval (n = {len(one.medians_ms)})"
    return f"{milliseconds(one.low_ms)} to {milliseconds(one.high_ms)}"


def _listed(one: Spread) -> str:
    return ", ".join(milliseconds(time) for time in one.medians_ms)
