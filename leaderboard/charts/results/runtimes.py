"""How long the passing samples of a problem take: a histogram, with the reference solution's time as a line."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.charts.chart import GREY, Spec, Table, axis, layout
from leaderboard.charts.scales import decades, log_ticks, plain_number
from leaderboard.site.numerals import milliseconds, percent

TITLE = "Distribution of runtimes"
LEAST = 3
"""Fewer times are no distribution."""
MOST_BARS = 24
WIDE = 10.0
"""The ratio of times from which on the bars are equally wide on a logarithmic axis."""
FEW_SAMPLES = 10
"""Up to this many in the highest bar, every whole number has a tick: plotly.js would set ticks at halves."""
_COLOUR = "#2f7ed8"


@dataclass(frozen=True)
class Runtimes:
    """Times in ms, ascending; the reference's is None where the track has none that may rank."""

    times_ms: tuple[float, ...]
    n_entrants: int
    reference_ms: float | None


@dataclass(frozen=True)
class _Bar:
    low_ms: float
    high_ms: float
    n: int

    @property
    def label(self) -> str:
        return f"{milliseconds(self.low_ms)} to {milliseconds(self.high_ms)}"


def caption(shown: Runtimes) -> str:
    reference = ""
    if shown.reference_ms is not None:
        faster = sum(time_ms < shown.reference_ms for time_ms in shown.times_ms)
        reference = f" The dotted line is the reference solution; {faster} are faster."
    plural = "s" if shown.n_entrants > 1 else ""
    return (
        f"The times of {len(shown.times_ms)} passing samples of {shown.n_entrants} model{plural}: all whose time may"
        f" rank, of all submissions.{reference}"
    )


def _is_wide(times_ms: Sequence[float]) -> bool:
    return times_ms[-1] > WIDE * times_ms[0]


def _bars(times_ms: Sequence[float]) -> list[_Bar]:
    """Bars of one width, on the scale of the axis, from the shortest to the longest time."""
    if not times_ms:
        return []
    to, back = (math.log10, lambda x: 10.0**x) if _is_wide(times_ms) else (float, float)
    low, high = to(times_ms[0]), to(times_ms[-1])
    n_bars = min(MOST_BARS, max(5, math.ceil(math.sqrt(len(times_ms))))) if high > low else 1
    width = (high - low) / n_bars
    counts = [0] * n_bars
    for time_ms in times_ms:
        counts[min(n_bars - 1, int((to(time_ms) - low) / width)) if width else 0] += 1
    return [_Bar(back(low + n * width), back(low + (n + 1) * width), count) for n, count in enumerate(counts)]


def spec(shown: Runtimes) -> Spec:
    times_ms, bars = shown.times_ms, _bars(shown.times_ms)
    place = math.log10 if times_ms and _is_wide(times_ms) else float
    lows, highs = [place(one.low_ms) for one in bars], [place(one.high_ms) for one in bars]
    trace: Spec = {
        "type": "bar",
        "name": "samples",
        "x": [(low + high) / 2 for low, high in zip(lows, highs, strict=True)],
        "y": [one.n for one in bars],
        "width": [0.94 * (high - low) or 0.1 for low, high in zip(lows, highs, strict=True)],
        "text": [one.label for one in bars],
        "textposition": "none",
        "marker": {"color": _COLOUR},
        "hovertemplate": "%{text}: %{y} samples<extra></extra>",
    }
    ticks = _ticks([*times_ms, *([shown.reference_ms] if shown.reference_ms else [])]) if place is math.log10 else {}
    whole = {"dtick": 1} if max((one.n for one in bars), default=0) <= FEW_SAMPLES else {}
    x, y = axis("Time (ms)", **ticks), axis("Samples", rangemode="tozero", tickformat="d", **whole)
    return {"data": [trace] if bars else [], "layout": layout(x, y, bargap=0, **_reference(shown, place))}


def _ticks(times_ms: Sequence[float]) -> Spec:
    """Ticks of the axis of logarithms."""
    ticks = log_ticks(*decades(times_ms))
    return {"tickvals": [math.log10(tick) for tick in ticks], "ticktext": [plain_number(tick) for tick in ticks]}


def _reference(shown: Runtimes, place: object) -> Spec:
    if shown.reference_ms is None or not callable(place):
        return {}
    x = place(shown.reference_ms)
    line = {"color": GREY, "dash": "dot", "width": 2}
    words = {"text": "reference", "x": x, "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
    return {
        "shapes": [{"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": line}],
        "annotations": [words],
    }


def table(shown: Runtimes) -> Table:
    n, total, rows = len(shown.times_ms), 0, []
    for one in _bars(shown.times_ms):
        total += one.n
        rows.append([one.label, str(one.n), f"{percent(one.n / n)} %", f"{percent(total / n)} %"])
    if shown.reference_ms is not None:
        rows.append([f"Reference solution: {milliseconds(shown.reference_ms)}", "–", "–", "–"])
    return Table(["Time", "Samples", "Share", "This fast or faster"], rows)
