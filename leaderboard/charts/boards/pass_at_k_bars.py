"""pass@k of each entrant as bars with 95 % intervals, one shade for each k."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.charts.chart import (
    MAX_ENTRANTS,
    BoardRow,
    Spec,
    Table,
    as_figure,
    axis,
    layout,
    lines_height,
    margins,
    names_axis,
    plain,
    ranks_by_passes,
    vary,
)
from leaderboard.charts.colours import colour_of
from leaderboard.site.numerals import MISSING, percent
from scoring.metrics import PASS_AT_1

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

MOST_WRITTEN = 40
"""Up to so many bars, each has its figure beside it."""
_GROUP = 0.8
"""Height of an entrant's bars, in lines."""


def caption(rows: Sequence[BoardRow]) -> str:
    metric = rows[0].metric if rows else PASS_AT_1
    told = f"{metric.title} is the metric that ranks." if metric.k else f"It does not rank here: {metric.title} does."
    return f"pass@k of each entrant, fainter for larger k; whiskers are 95 % intervals over problems. {told}"


def shown_ks(rows: Sequence[BoardRow]) -> list[int]:
    """Each k of which an entrant has a figure."""
    return sorted({k for row in rows for k in row.ks})


def has_bars(rows: Sequence[BoardRow]) -> bool:
    """Bars that are all alike say something only where they rank."""
    return bool(rows) and (ranks_by_passes(rows) or vary(row.pass_at(k)[0] for row in rows for k in row.ks))


def _bars(rows: Sequence[BoardRow], k: int, place: int, of: int) -> Spec:
    """The bars of the k at this place among the others; they stay there if a reader hides others."""
    values, lows, highs = ([row.pass_at(k)[part] for row in rows] for part in range(3))
    return {
        "type": "bar",
        "name": f"pass@{k}",
        "legendgroup": f"pass@{k}",
        "orientation": "h",
        "offset": _GROUP * (place / of - 0.5),
        "width": _GROUP / of,
        "x": values,
        "y": list(range(len(rows))),
        "customdata": [plain(row.name) for row in rows],
        "error_x": margins(values, lows, highs),
        "marker": {
            "color": [colour_of(row.entrant_id) for row in rows], "opacity": 1.0 - 0.55 * place / max(1, of - 1),
        },
        "hovertemplate": f"%{{customdata}}<br>pass@{k} %{{x:.1%}}<extra></extra>",
    }  # fmt: skip


def _words_beside(rows: Sequence[BoardRow], k: int, place: int, of: int) -> Spec:
    """Each bar's figure, right of its whisker."""
    known = [(n, *row.pass_at(k)) for n, row in enumerate(rows) if row.pass_at(k)[0] is not None]
    return {
        "type": "scatter",
        "mode": "text",
        "name": f"pass@{k} in words",
        "legendgroup": f"pass@{k}",
        "showlegend": False,
        "x": [value if high is None else high for _, value, _, high in known],
        "y": [n + _GROUP * ((place + 0.5) / of - 0.5) for n, *_ in known],
        "text": [f"\u00a0{percent(value)} %" for _, value, _, _ in known],
        "textposition": "middle right",
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def spec(rows: Sequence[BoardRow]) -> Spec:
    shown = rows[:MAX_ENTRANTS]
    ks = shown_ks(shown)
    is_written = len(shown) * len(ks) <= MOST_WRITTEN
    traces = [_bars(shown, k, place, len(ks)) for place, k in enumerate(ks)]
    traces += [_words_beside(shown, k, place, len(ks)) for place, k in enumerate(ks) if is_written]
    room = 0.36 if is_written else 0.05
    x = axis("pass@k", tickformat=".0%", range=[0, 1 + room], tickvals=[0, 0.5, 1])
    height = lines_height(len(shown), 12 + (22 if is_written else 14) * len(ks))
    more = {"barmode": "overlay", "showlegend": len(ks) > 1, "height": height}
    return {"data": traces, "layout": layout(x, names_axis([row.name for row in shown]), **more)}


def figure(rows: Sequence[BoardRow]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[BoardRow]) -> Table:
    """pass@k and its interval, for each k."""
    ks = shown_ks(rows)
    header = ["Model", *(text for k in ks for text in (f"pass@{k} (%)", "95 % interval"))]
    return Table(header, [[row.name, *(text for k in ks for text in _words(row, k))] for row in rows])


def _words(row: BoardRow, k: int) -> tuple[str, str]:
    value, low, high = row.pass_at(k)
    return percent(value), f"{percent(low)}–{percent(high)}" if low is not None else MISSING
