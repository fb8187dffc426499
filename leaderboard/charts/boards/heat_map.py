"""pass@1 of each entrant by group of problems, as a heat map: where each is strong, and which groups are hard."""

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
    names_axis,
    plain,
)
from leaderboard.site.numerals import percent
from problems.spec.natural import natural_key

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

CAPTION = "pass@1 (%) by group of problems. A cell is empty if no problem of the group counts for the entrant."
SCALE = [[0, "#f4e9d8"], [0.25, "#bfd8c9"], [0.5, "#6fb3a9"], [0.75, "#2f7f86"], [1, "#123f5c"]]
"""From sand to deep blue: falls evenly in lightness, so that it is read without colour too."""

MAX_LETTERS = 28
"""Limit of a group's name below its column; the page's script cuts longer ones."""
_LETTER_PX = 6
"""Height that a letter of a slanted name adds."""


def _groups(rows: Sequence[BoardRow]) -> list[str]:
    return sorted({group for row in rows for group in row.groups}, key=natural_key)


def has_cells(rows: Sequence[BoardRow]) -> bool:
    """One group would be the column pass@1 once more."""
    return len(_groups(rows)) > 1


def spec(rows: Sequence[BoardRow]) -> Spec:
    shown = rows[:MAX_ENTRANTS]
    groups = _groups(shown)
    if not has_cells(shown):
        return {"data": [], "layout": layout(axis(""), axis(""))}
    shares = [[row.groups.get(group) for group in groups] for row in shown]
    cells = {
        "type": "heatmap",
        "x": list(range(len(groups))),
        "y": list(range(len(shown))),
        "z": shares,
        "text": [["" if share is None else f"{100 * share:.0f}" for share in line] for line in shares],
        "texttemplate": "%{text}",
        "customdata": [[f"{plain(row.name)}, {plain(group)}" for group in groups] for row in shown],
        "hovertemplate": "%{customdata}<br>pass@1 %{z:.1%}<extra></extra>",
        "hoverongaps": False,
        "colorscale": SCALE,
        "zmin": 0,
        "zmax": 1,
        "xgap": 2,
        "ygap": 2,
        "showscale": False,
    }
    x = axis("", tickvals=cells["x"], ticktext=[plain(group) for group in groups], showgrid=False, tickangle=-45)
    height = lines_height(len(shown)) + _LETTER_PX * min(MAX_LETTERS, max(map(len, groups)))
    return {"data": [cells], "layout": layout(x, names_axis([row.name for row in shown]), height=height)}


def figure(rows: Sequence[BoardRow]) -> "Figure":
    return as_figure(spec(rows))


def table(rows: Sequence[BoardRow]) -> Table:
    groups = _groups(rows)
    lines = [[row.name, *(percent(row.groups.get(group)) for group in groups)] for row in rows]
    return Table(["Model", *(f"{group} (%)" for group in groups)], lines)
