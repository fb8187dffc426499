"""The figures of a comparison in the metric that ranks: by group, as a forest plot, and speedups against each other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.boards.compare import BoardComparison
from leaderboard.charts.boards import forest
from leaderboard.charts.chart import (
    GREY,
    Spec,
    Table,
    figured,
    hovered,
    layout,
    lines_height,
    names_axis,
    plain,
    titled,
    vary,
)
from leaderboard.charts.colours import colour_of
from leaderboard.charts.scales import is_wide, log_axis, metric_axis, ratio_range
from leaderboard.models import Standing
from leaderboard.site.numerals import ratio
from scoring.metrics import PASS_AT_1, SPEEDUP, Metric

SPEEDUPS_CAPTION = (
    "Speedups of each problem: the first entrant across, the others up. Above the line the other is faster."
)


def differences_of(found: BoardComparison) -> list[forest.Difference]:
    """Each other entrant against the first, in the metric that ranks."""
    first = found.entrants[0].entrant.name
    return [
        forest.Difference(pair.other.entrant_id, pair.other.entrant.name, first, pair.primary, found.metric)
        for pair in found.pairs
    ]


def pass_differences_of(found: BoardComparison) -> list[forest.Difference]:
    """The same in pass@1; none where pass@1 ranks, or is the same for all of them."""
    if found.metric == PASS_AT_1 or not vary(one.pass_at_1 for one in found.entrants):
        return []
    first = found.entrants[0].entrant.name
    return [
        forest.Difference(pair.other.entrant_id, pair.other.entrant.name, first, pair.passes) for pair in found.pairs
    ]


@dataclass(frozen=True)
class GroupBars:
    """A metric of each entrant by group."""

    metric: Metric
    entrants: Sequence[Standing]
    values: Mapping[str, Sequence[float | None]]


def group_bars(found: BoardComparison) -> GroupBars:
    return GroupBars(found.metric, found.entrants, found.scores)


def pass_group_bars(found: BoardComparison) -> GroupBars:
    """None of a group where pass@1 ranks, or is the same for all of them in all groups."""
    values = {group: [value for value, _ in cells] for group, cells in found.groups.items()}
    says_more = found.metric != PASS_AT_1 and vary(value for cells in values.values() for value in cells)
    return GroupBars(PASS_AT_1, found.entrants, values if says_more else {})


def groups_spec(found: GroupBars) -> Spec:
    names = [plain(group) for group in found.values]
    known = [value for cells in found.values.values() for value in cells if value is not None]
    points = found.metric.unit != "%" and is_wide(known)  # a bar on a logarithmic axis has no foot
    look: Spec = {"type": "scatter", "mode": "markers"} if points else {"type": "bar", "orientation": "h"}
    bars = [
        {
            **look,
            "name": plain(one.entrant.name),
            "x": [cells[n] for cells in found.values.values()],
            "y": list(range(len(names))),
            "customdata": names,
            "marker": {"color": colour_of(one.entrant_id), **({"size": 11} if points else {})},
            "hovertemplate": f"%{{customdata}}<br>%{{fullData.name}} {hovered(found.metric, 'x')}<extra></extra>",
        }
        for n, one in enumerate(found.entrants)
    ]
    height = lines_height(len(names), 14 + 12 * len(bars))
    x = metric_axis(found.metric, titled(found.metric), known)
    shown = layout(x, names_axis(list(found.values)), barmode="group", height=height)
    return {"data": bars, "layout": shown | {"showlegend": True}}


def groups_table(found: GroupBars) -> Table:
    unit = f" ({found.metric.unit})" if found.metric.unit else ""
    header = ["Group", *(f"{one.entrant.name}{unit}" for one in found.entrants)]
    lines = [[group, *(figured(found.metric, value) for value in cells)] for group, cells in found.values.items()]
    return Table(header, lines)


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
    low, high = ratio_range(known)
    equal = {
        "type": "scatter", "mode": "lines", "name": "equal", "x": [10**low, 10**high], "y": [10**low, 10**high],
        "hoverinfo": "skip", "line": {"dash": "dot", "width": 1.5, "color": GREY}, "showlegend": False,
    }  # fmt: skip
    x = log_axis(f"{SPEEDUP.title} of {plain(found.entrants[0].entrant.name)} (×)", low, high)
    shown = layout(x, log_axis(f"{SPEEDUP.title} of the other (×)", low, high, is_upright=True))
    return {"data": [equal, *others], "layout": shown | {"showlegend": True}}


def speedups_table(found: BoardComparison) -> Table:
    header = ["Problem", *(f"{one.entrant.name}" for one in found.entrants)]
    return Table(header, [[problem.task_id, *map(ratio, values)] for problem, values in found.speedups])


Made = tuple[str, str, Spec, Table]
"""Title, caption, drawing and table."""


def _forest(title: str, rows: Sequence[forest.Difference]) -> Made | None:
    return (title, forest.caption(rows), forest.spec(rows), forest.table(rows)) if rows else None


def _groups(made: GroupBars) -> Made | None:
    if not made.values:
        return None
    caption = f"{made.metric.title} over the problems of each group."
    return f"{made.metric.title} by group", caption, groups_spec(made), groups_table(made)


def _speedups(found: BoardComparison) -> Made | None:
    if not found.speedups:
        return None
    return "Speedups", SPEEDUPS_CAPTION, speedups_spec(found), speedups_table(found)


FIGURES: Mapping[str, Callable[[BoardComparison], Made | None]] = {
    "differences": lambda found: _forest("Differences", differences_of(found)),
    "groups": lambda found: _groups(group_bars(found)),
    "speedups": _speedups,
    "pass-differences": lambda found: _forest("Differences in pass@1", pass_differences_of(found)),
    "pass-groups": lambda found: _groups(pass_group_bars(found)),
}
"""Figures by name; None where one would say nothing."""
