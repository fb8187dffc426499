"""Speedups by problem: a line for each problem, with a dot for each entrant."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leaderboard.charts.boards.speedups import BASE, EntrantSpeedups
from leaderboard.charts.chart import Spec, Table, as_figure, axis, layout, lines_height, names_axis, plain
from leaderboard.charts.colours import SYMBOLS, colour_of
from leaderboard.charts.scales import log_axis, ratio_range
from leaderboard.site.numerals import ratio
from problems.spec.natural import natural_key

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

MAX_PROBLEMS = 60


def caption(rows: Sequence[EntrantSpeedups]) -> str:
    """Says which problems are drawn where there are more."""
    n_all = len({name for row in rows for name in row.by_problem})
    some = f" Of {n_all} problems, the {MAX_PROBLEMS} on which entrants differ most." if n_all > MAX_PROBLEMS else ""
    return (
        "The speedup of each entrant that solved the problem in a time that ranks: the geometric mean of its passing"
        f" samples. Left of 1× is slower than the baseline.{some}"
    )


def _problems(rows: Sequence[EntrantSpeedups]) -> list[str]:
    """The names of the problems that are drawn, in order."""
    names = sorted({name for row in rows for name in row.by_problem}, key=natural_key)
    if len(names) <= MAX_PROBLEMS:
        return names
    found = {name: [row.by_problem[name] for row in rows if name in row.by_problem] for name in names}
    chosen = set(sorted(names, key=lambda name: -max(found[name]) / min(found[name]))[:MAX_PROBLEMS])
    return [name for name in names if name in chosen]


def has_dots(rows: Sequence[EntrantSpeedups]) -> bool:
    return any(row.by_problem for row in rows)


def spec(rows: Sequence[EntrantSpeedups]) -> Spec:
    problems = _problems(rows)
    if not problems:
        return {"data": [], "layout": layout(axis(""), axis(""))}
    place = {name: n for n, name in enumerate(problems)}
    dots = [_dots(row, n, [name for name in problems if name in row.by_problem], place) for n, row in enumerate(rows)]
    known = [row.by_problem[name] for row in rows for name in problems if name in row.by_problem]
    x = log_axis("Speedup of passes (×, logarithmic)", *ratio_range(known))
    names = {**names_axis(problems), "showgrid": True}
    more = {"shapes": [BASE], "height": lines_height(len(problems), 22), "showlegend": True}
    return {"data": dots, "layout": layout(x, names, **more)}


def _dots(row: EntrantSpeedups, n: int, names: Sequence[str], place: dict[str, int]) -> Spec:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(row.name),
        "x": [row.by_problem[name] for name in names],
        "y": [place[name] for name in names],
        "customdata": [plain(name) for name in names],
        "marker": {
            "size": 9, "opacity": 0.85, "color": colour_of(row.entrant_id), "symbol": SYMBOLS[n % len(SYMBOLS)],
        },
        "hovertemplate": "%{customdata}<br>%{fullData.name} %{x:.3g}×<extra></extra>",
    }  # fmt: skip


def figure(rows: Sequence[EntrantSpeedups]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[EntrantSpeedups]) -> Table:
    lines = [[name, *(ratio(row.by_problem.get(name)) for row in rows)] for name in _problems(rows)]
    return Table(["Problem", *(row.name for row in rows)], lines)
