"""The figures of a comparison: pass@1 by group, paired differences as a forest plot, speedups against each other."""

from collections.abc import Callable, Mapping

from leaderboard.boards.compare import BoardComparison
from leaderboard.charts.boards import forest
from leaderboard.charts.chart import GREY, Spec, Table, axis, layout, lines_height, names_axis, plain
from leaderboard.charts.colours import colour_of
from leaderboard.site.numerals import percent, ratio
from scoring.metrics import SPEEDUP

GROUPS_CAPTION = "Mean of pass@1 over the problems of each group."
FOREST_CAPTION = "pass@1 of each entrant less that of the first, over the problems that count for both; 95 % intervals."
SPEEDUPS_CAPTION = (
    "Speedups of each problem: the first entrant across, the others up. Above the line the other is faster."
)


def groups_spec(found: BoardComparison) -> Spec:
    names = [plain(group) for group in found.groups]
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": plain(one.entrant.name),
            "x": [cells[n][0] for cells in found.groups.values()],
            "y": list(range(len(names))),
            "customdata": names,
            "marker": {"color": colour_of(one.entrant_id)},
            "hovertemplate": "%{customdata}<br>%{fullData.name} %{x:.1%}<extra></extra>",
        }
        for n, one in enumerate(found.entrants)
    ]
    x = axis("pass@1", tickformat=".0%", range=[0, 1.05])
    height = lines_height(len(names), 14 + 12 * len(bars))
    shown = layout(x, names_axis(list(found.groups)), barmode="group", height=height)
    return {"data": bars, "layout": shown | {"showlegend": True}}


def groups_table(found: BoardComparison) -> Table:
    header = ["Group", *(f"{one.entrant.name} (%)" for one in found.entrants), "Problems"]
    return Table(
        header,
        [
            [group, *(percent(value) for value, _ in cells), str(max(n for _, n in cells))]
            for group, cells in found.groups.items()
        ],
    )


def forest_spec(found: BoardComparison) -> Spec:
    return forest.spec(_differences(found))


def _differences(found: BoardComparison) -> list[forest.Difference]:
    first = found.entrants[0].entrant.name
    return [
        forest.Difference(pair.other.entrant_id, pair.other.entrant.name, first, pair.passes) for pair in found.pairs
    ]


def forest_table(found: BoardComparison) -> Table:
    made = forest.table(_differences(found))
    rows = [[*cells, ratio(pair.speedup[0])] for cells, pair in zip(made.rows, found.pairs, strict=True)]
    return Table([*made.header, f"{SPEEDUP.title}, ratio"], rows)


def speedups_spec(found: BoardComparison) -> Spec:
    others = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": plain(one.entrant.name),
            "x": [values[0] for _, values in found.speedups],
            "y": [values[n] for _, values in found.speedups],
            "text": [plain(problem.task_id) for problem, _ in found.speedups],
            "marker": {"size": 8, "color": colour_of(one.entrant_id), "opacity": 0.8},
            "hovertemplate": "%{text}<br>%{x:.3g}× against %{y:.3g}×<extra>%{fullData.name}</extra>",
        }
        for n, one in enumerate(found.entrants)
        if n
    ]
    known = [value for _, values in found.speedups for value in values if value]
    top = max(known, default=1.0) * 1.1
    equal = {
        "type": "scatter", "mode": "lines", "name": "equal", "x": [1, top], "y": [1, top], "hoverinfo": "skip",
        "line": {"dash": "dot", "width": 1.5, "color": GREY}, "showlegend": False,
    }  # fmt: skip
    x = axis(f"{SPEEDUP.title} of {plain(found.entrants[0].entrant.name)}", type="log")
    shown = layout(x, axis(f"{SPEEDUP.title} of the other", type="log"))
    return {"data": [equal, *others], "layout": shown | {"showlegend": True}}


def speedups_table(found: BoardComparison) -> Table:
    header = ["Problem", *(f"{one.entrant.name}" for one in found.entrants)]
    return Table(header, [[problem.task_id, *map(ratio, values)] for problem, values in found.speedups])


FIGURES: Mapping[str, tuple[str, str, Callable[[BoardComparison], Spec], Callable[[BoardComparison], Table]]] = {
    "differences": ("Differences", FOREST_CAPTION, forest_spec, forest_table),
    "groups": ("pass@1 by group", GROUPS_CAPTION, groups_spec, groups_table),
    "speedups": ("Speedups", SPEEDUPS_CAPTION, speedups_spec, speedups_table),
}
"""Figures by name: title, caption, drawing and table."""
