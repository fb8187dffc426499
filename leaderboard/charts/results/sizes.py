"""Time by the size of a case: a line for each entrant's best sample, and one for the reference."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from leaderboard.charts.chart import GREY, Spec, Table, axis, layout, margins, plain
from leaderboard.charts.colours import colour_of
from leaderboard.charts.scales import decades, log_axis
from leaderboard.site.numerals import milliseconds

TITLE = "Time by size"
CAPTION = (
    "Both axes are logarithmic. A case's size is what the problem declares, or else the number of elements of all its"
    " arrays. Each line is the model's sample in the ranking above; bars are 95 % intervals."
)


LEAST_SPAN = 2.0
"""Sizes whose largest is less than this many times the smallest are no axis."""


@dataclass(frozen=True)
class CaseTime:
    """`size` is in the problem's own unit."""

    case: str
    size: float
    median_ms: float
    low_ms: float | None = None
    high_ms: float | None = None


@dataclass(frozen=True)
class SizeLine:
    """One model's times, or the reference's (entrant_id None), by increasing size."""

    entrant_id: int | None
    name: str
    times: tuple[CaseTime, ...]


def has_span(sizes: Collection[float]) -> bool:
    """Whether sizes above 0 differ enough to be drawn."""
    return bool(sizes) and max(sizes) >= LEAST_SPAN * min(sizes)


def spec(lines: Sequence[SizeLine]) -> Spec:
    if not lines:
        return {"data": [], "layout": layout(axis(""), axis(""))}
    x = log_axis("Size of the case", *decades([time.size for one in lines for time in one.times]))
    y = log_axis("Time (ms)", *decades([time.median_ms for one in lines for time in one.times]), is_upright=True)
    return {"data": [_line(one) for one in lines], "layout": layout(x, y, showlegend=True)}


def _line(one: SizeLine) -> Spec:
    colour = GREY if one.entrant_id is None else colour_of(one.entrant_id)
    values = [time.median_ms for time in one.times]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(one.name),
        "x": [time.size for time in one.times],
        "y": values,
        "text": [plain(time.case) for time in one.times],
        "line": {"color": colour, "width": 2, "dash": "dash" if one.entrant_id is None else "solid"},
        "marker": {"size": 8, "color": colour, "symbol": "diamond" if one.entrant_id is None else "circle"},
        "error_y": margins(values, [time.low_ms for time in one.times], [time.high_ms for time in one.times], colour),
        "hovertemplate": f"{plain(one.name)}, %{{text}}<br>%{{y:.4g}} ms<extra></extra>",
    }


def table(lines: Sequence[SizeLine]) -> Table:
    cases = {time.case: time.size for one in lines for time in one.times}
    ordered = sorted(cases, key=lambda case: (cases[case], case))
    rows = []
    for one in lines:
        by_case = {time.case: time.median_ms for time in one.times}
        rows.append([one.name, *(milliseconds(by_case.get(case)) for case in ordered)])
    return Table(["Model", *ordered], rows)
