"""The fast_p curve: the share of samples that pass and are more than p times as fast as the baseline."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.charts.chart import MAX_ENTRANTS, BoardRow, Spec, Table, as_figure, axis, layout, plain
from leaderboard.charts.colours import colour_of
from leaderboard.site.numerals import percent
from scoring.fast_p import THRESHOLDS

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = "At p = 0 the curve is plain correctness; at p = 1 it counts what beats the baseline."
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
"""Dashes of the lines in their order, to tell lines of similar colour apart."""


def _curves(rows: Sequence[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if len(row.fast_p) == len(THRESHOLDS) and row.fast_p[0] is not None]


def has_curves(rows: Sequence[BoardRow]) -> bool:
    return bool(_curves(rows))


def _trace(row: BoardRow, place: int) -> Spec:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(row.name),
        "x": list(THRESHOLDS),
        "y": row.fast_p,
        "line": {"color": colour_of(row.entrant_id), "dash": DASHES[place % len(DASHES)]},
        "marker": {"size": 5},
        "cliponaxis": False,
        "hovertemplate": f"{plain(row.name)}<br>faster than %{{x}}×: %{{y:.1%}}<extra></extra>",
    }


def spec(rows: Sequence[BoardRow]) -> Spec:
    traces = [_trace(row, place) for place, row in enumerate(_curves(rows)[:MAX_ENTRANTS])]
    y = axis("Share of samples", tickformat=".0%", range=[-0.02, 1.05], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1])
    # below 1 the thresholds lie close together and above it they spread out
    x = axis("p (times as fast as the baseline)", tickvals=[0, 1, 2, 3, 5, 10])
    return {"data": traces, "layout": layout(x, y, showlegend=True)}


def figure(rows: Sequence[BoardRow]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[BoardRow]) -> Table:
    header = ["Model", *(f"> {threshold:g}× (%)" if threshold else "passed (%)" for threshold in THRESHOLDS)]
    return Table(header, [[row.name, *(percent(share) for share in row.fast_p)] for row in _curves(rows)])
