"""Every timed run of an evaluation as a point, candidate beside baseline, with each one's median and interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.charts.chart import GREY, Spec, Table, as_figure, axis, layout, margins, plain
from leaderboard.charts.scales import decades, log_axis
from leaderboard.site.numerals import milliseconds

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

WIDE = 20.0
SHOWN_RUNS = 100
"""Limit of each measurement's runs in the table; the chart has all."""
_COLOURS = {"candidate": "#2f7ed8", "baseline": "#c98a00"}


@dataclass(frozen=True)
class Runs:
    """The runs of one measurement in ms, or every call of them."""

    role: str
    case: str
    runs_ms: list[float]
    median_ms: float
    low_ms: float | None
    high_ms: float | None
    processes_ms: tuple[float, ...] = ()
    """The median of each process, where `runs_ms` are the calls of several."""

    @property
    def label(self) -> str:
        return plain(f"{self.case}: {self.role}" if self.case else self.role)


def _points(one: Runs) -> Spec:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{one.label}, runs",
        "x": [one.label] * len(one.runs_ms),
        "y": one.runs_ms,
        "marker": {"size": 7, "opacity": 0.55, "color": _COLOURS.get(one.role, GREY)},
        "hovertemplate": "run: %{y:.4g} ms<extra></extra>",
    }


def _processes(one: Runs) -> list[Spec]:
    """The medians that the interval is over."""
    marker = {"size": 9, "symbol": "diamond-open", "color": _COLOURS.get(one.role, GREY), "line": {"width": 2}}
    trace = {
        "type": "scatter",
        "mode": "markers",
        "name": f"{one.label}, processes",
        "x": [one.label] * len(one.processes_ms),
        "y": list(one.processes_ms),
        "marker": marker,
        "hovertemplate": "median of a process: %{y:.4g} ms<extra></extra>",
    }
    return [trace] if one.processes_ms else []


def _median(one: Runs) -> Spec:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{one.label}, median",
        "x": [one.label],
        "y": [one.median_ms],
        "error_y": margins([one.median_ms], [one.low_ms], [one.high_ms]),
        "marker": {
            "size": 26,
            "symbol": "line-ew-open",
            "color": _COLOURS.get(one.role, GREY),
            "line": {"width": 3},
        },
        "hovertemplate": "median: %{y:.4g} ms<extra></extra>",
    }


def spec(rows: Sequence[Runs]) -> Spec:
    traces = [trace for one in rows for trace in (_points(one), *_processes(one), _median(one))]
    x = axis("", type="category", range=[-0.5, len(rows) - 0.5])
    return {"data": traces, "layout": layout(x, _times(rows))}


def _times(rows: Sequence[Runs]) -> Spec:
    """Logarithmic where cases of very different sizes stand side by side."""
    medians = [one.median_ms for one in rows]
    if not medians or max(medians) <= WIDE * min(medians):
        return axis("Time (ms)")
    return log_axis("Time (ms)", *decades([run_ms for one in rows for run_ms in (*one.runs_ms, one.median_ms)]))


def figure(rows: Sequence[Runs]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[Runs]) -> Table:
    return Table(["Measurement", "Median", "95 % interval", "Runs"], [_cells(one) for one in rows])


def _cells(one: Runs) -> list[str]:
    few = one.runs_ms[:SHOWN_RUNS]
    more = f" and {len(one.runs_ms) - SHOWN_RUNS} more" if len(one.runs_ms) > SHOWN_RUNS else ""
    interval = f"no interval (n = {len(one.runs_ms)})"
    if one.low_ms is not None and one.high_ms is not None:
        interval = f"{milliseconds(one.low_ms)} to {milliseconds(one.high_ms)}"
    return [one.label, milliseconds(one.median_ms), interval, ", ".join(map(milliseconds, few)) + more]
