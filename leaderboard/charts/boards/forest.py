"""Paired differences in a metric as a forest plot: one line for each entrant, with its interval, beside that of none.

Shares and other means are subtracted. Ratios and rates are divided, on a logarithmic axis.
"""

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
from leaderboard.charts.scales import log_axis, ratio_range, signed, signed_ticks
from leaderboard.site.numerals import MISSING, ratio
from scoring.metrics import PASS_AT_1, Average, Metric
from scoring.paired import PairedDifference

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

_FEW_LINES = 6
"""A figure of more lines has them closer together."""


@dataclass(frozen=True)
class Difference:
    """An entrant against the reference, on the scale on which the metric is averaged: logarithms for ratios."""

    entrant_id: int
    name: str
    reference: str
    found: PairedDifference
    metric: Metric = PASS_AT_1

    @property
    def is_ratio(self) -> bool:
        return self.metric.average is Average.GEOMETRIC

    @property
    def shown(self) -> tuple[float, float, float]:
        """Value and ends as they are shown: a difference, or a ratio."""
        value, low, high = self.found.value, self.found.low, self.found.high
        return (math.exp(value), math.exp(low), math.exp(high)) if self.is_ratio else (value, low, high)

    @property
    def words(self) -> str:
        """`0.83×`, `−12.5` points, or a plain difference."""
        return self._written(self.shown[0])

    @property
    def interval(self) -> str:
        _, low, high = self.shown
        return MISSING if math.isnan(low) else f"{self._written(low)} to {self._written(high)}"

    def _written(self, value: float) -> str:
        if math.isnan(value):
            return MISSING
        if self.is_ratio:
            return ratio(value)
        return points(value) if self.metric.unit == "%" else signed(value)


def heading(metric: Metric) -> str:
    """The heading of a column of these differences."""
    if metric.average is Average.GEOMETRIC:
        return f"{metric.title}, ratio"
    return f"{metric.title}, difference{' (points)' if metric.unit == '%' else ''}"


def caption(rows: Sequence[Difference]) -> str:
    reference = rows[0].reference if rows else "the reference"
    if rows and not any(row.found.problems for row in rows):
        return f"No problem counts both for {reference} and for another ranked entrant, so there is nothing to compare."
    compared = "each ranked entrant" if len(rows) < MAX_ENTRANTS else f"the first {MAX_ENTRANTS} other entrants by rank"
    by, none = ("by", "1×") if rows and rows[0].is_ratio else ("less", "0")
    return (
        f"{_metric(rows).title} of {compared} {by} that of {reference}, over the problems that count for both, with a"
        f" 95 % interval. An entrant to the right of the line at {none} is better than {reference}. An interval that"
        " reaches the line leaves open which of the two is better. It holds for this pair alone; ranks"
        " hold for all at once."
    )


def _metric(rows: Sequence[Difference]) -> Metric:
    return rows[0].metric if rows else PASS_AT_1


def spec(rows: Sequence[Difference]) -> Spec:
    """The lines in the order of the rows; those without a difference are left out."""
    known = [row for row in rows if row.found.problems]
    if not known:
        return {"data": [], "layout": layout(axis(""), axis(""))}
    none = 1 if known[0].is_ratio else 0
    line = {"dash": "dot", "color": GREY}
    base = {"type": "line", "x0": none, "x1": none, "y0": 0, "y1": 1, "yref": "paper", "line": line}
    height = lines_height(len(known), 36 if len(known) <= _FEW_LINES else 26)
    names = names_axis([row.name for row in known])
    marks = [_mark(row, place) for place, row in enumerate(known)]
    return {"data": marks, "layout": layout(_axis(known), names, shapes=[base], height=height)}


def _mark(row: Difference, place: int) -> Spec:
    value, low, high = row.shown
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(row.name),
        "x": [value],
        "y": [place],
        "text": [plain(f"{row.words} ({row.interval})")],
        "error_x": margins([value], [_known(low)], [_known(high)]),
        "marker": {"size": 11, "color": colour_of(row.entrant_id)},
        "hovertemplate": "%{fullData.name} %{text}<extra></extra>",
    }


def _axis(rows: Sequence[Difference]) -> Spec:
    metric, reference = rows[0].metric, plain(rows[0].reference)
    ends = [end for row in rows for end in row.shown if not math.isnan(end)]
    if rows[0].is_ratio:
        return log_axis(f"{metric.title} by that of {reference} (×, logarithmic)", *ratio_range(ends))
    low, high = _range(ends)
    if metric.unit != "%":
        return axis(f"{metric.title} less that of {reference}", range=[low, high])
    ticks = signed_ticks(low, high)
    title = f"{metric.title} less that of {reference} (points)"
    return axis(title, range=[low, high], tickvals=[at for at, _ in ticks], ticktext=[words for _, words in ticks])


def _range(ends: Sequence[float]) -> tuple[float, float]:
    """All intervals and the line at 0, with room on both sides."""
    least, most = min([0.0, *ends]), max([0.0, *ends])
    room = 0.06 * (most - least) or 0.05
    return least - room, most + room


def figure(rows: Sequence[Difference]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[Difference]) -> Table:
    header = ["Model", heading(_metric(rows)), "95 % interval", "Better on", "Worse on", "Alike on"]
    counts = [[str(n) for n in (row.found.wins, row.found.losses, row.found.ties)] for row in rows]
    lines = [[row.name, row.words, row.interval, *told] for row, told in zip(rows, counts, strict=True)]
    return Table(header, lines)


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    if math.isnan(share):
        return MISSING
    rounded = round(100 * share, 1)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
