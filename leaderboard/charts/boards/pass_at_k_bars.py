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

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = "pass@k of each entrant, fainter for larger k; whiskers are 95 % intervals over problems."


def shown_ks(rows: Sequence[BoardRow]) -> list[int]:
    """Each k of which an entrant has a figure."""
    return sorted({k for row in rows for k in row.ks})


def has_bars(rows: Sequence[BoardRow]) -> bool:
    """Bars that are all alike say something only where they rank."""
    return bool(rows) and (ranks_by_passes(rows) or vary(row.pass_at(k)[0] for row in rows for k in row.ks))


def _trace(rows: Sequence[BoardRow], k: int, opacity: float) -> Spec:
    values, lows, highs = ([row.pass_at(k)[part] for row in rows] for part in range(3))
    return {
        "type": "bar",
        "name": f"pass@{k}",
        "orientation": "h",
        "x": values,
        "y": list(range(len(rows))),
        "customdata": [plain(row.name) for row in rows],
        "error_x": margins(values, lows, highs),
        "marker": {"color": [colour_of(row.entrant_id) for row in rows], "opacity": opacity},
        "hovertemplate": f"%{{customdata}}<br>pass@{k} %{{x:.1%}}<extra></extra>",
    }


def spec(rows: Sequence[BoardRow]) -> Spec:
    shown = rows[:MAX_ENTRANTS]
    ks = shown_ks(shown)
    traces = [_trace(shown, k, 1.0 - 0.55 * place / max(1, len(ks) - 1)) for place, k in enumerate(ks)]
    x = axis("pass@k", tickformat=".0%", range=[0, 1.05])
    height = lines_height(len(shown), 12 + 14 * len(ks))
    more = {"barmode": "group", "showlegend": len(ks) > 1, "height": height}
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
