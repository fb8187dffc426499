"""pass@k against k: what more samples of the same entrant are worth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.charts.boards.fast_p import DASHES
from leaderboard.charts.boards.pass_at_k_bars import shown_ks
from leaderboard.charts.boards.pass_at_k_bars import table as table_of
from leaderboard.charts.chart import MAX_ENTRANTS, BoardRow, Spec, Table, as_figure, axis, layout, plain, vary
from leaderboard.charts.colours import colour_of

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = "The chance that at least one of k samples of a problem passes, averaged over problems."


def _points(row: BoardRow) -> list[tuple[int, float]]:
    return [(k, value) for k in row.ks if (value := row.pass_at(k)[0]) is not None]


def _curves(rows: Sequence[BoardRow]) -> list[BoardRow]:
    return [row for row in rows if len(_points(row)) > 1]


def has_curves(rows: Sequence[BoardRow]) -> bool:
    return vary(value for row in _curves(rows) for _, value in _points(row))


def _trace(row: BoardRow, place: int) -> Spec:
    points = _points(row)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(row.name),
        "x": [k for k, _ in points],
        "y": [value for _, value in points],
        "line": {"color": colour_of(row.entrant_id), "dash": DASHES[place % len(DASHES)]},
        "marker": {"size": 7},
        "cliponaxis": False,
        "hovertemplate": f"{plain(row.name)}<br>pass@%{{x}} %{{y:.1%}}<extra></extra>",
    }


def spec(rows: Sequence[BoardRow]) -> Spec:
    shown = _curves(rows)[:MAX_ENTRANTS]
    traces = [_trace(row, place) for place, row in enumerate(shown)]
    ticks = shown_ks(shown)
    x = axis("k (samples)", type="log", tickvals=ticks, ticktext=[str(k) for k in ticks])
    y = axis("pass@k", tickformat=".0%", range=[-0.02, 1.05], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return {"data": traces, "layout": layout(x, y, showlegend=True)}


def figure(rows: Sequence[BoardRow]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[BoardRow]) -> Table:
    return table_of(_curves(rows))
