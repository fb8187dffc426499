"""The figures of one entrant's page: its results on every board, its strengths by group, and its history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from leaderboard.charts.boards.fast_p import DASHES
from leaderboard.charts.chart import (
    GREY,
    Chart,
    Spec,
    Table,
    axis,
    days_axis,
    layout,
    lines_height,
    margins,
    names_axis,
    plain,
)
from leaderboard.charts.colours import colour_of
from leaderboard.models.boards.estimates import Triple
from leaderboard.site.numerals import MISSING, percent

MAX_COMPARED = 100
"""Ranked entrants of a board, by rank, whose mean stands beside an entrant's bar."""
SHARES = {"tickformat": ".0%", "range": [-0.02, 1.05]}


@dataclass(frozen=True)
class BoardResult:
    """pass@1 on one board, as value and ends of its interval."""

    entrant_id: int
    release: str
    track: str
    pass_at_1: Triple
    rank: int | None


@dataclass(frozen=True)
class GroupShare:
    """pass@1 over the problems of a group; `others` is the mean of the board's first entrants."""

    entrant_id: int
    group: str
    share: float | None
    others: float | None
    solved: int
    problems: int


@dataclass(frozen=True)
class PastResult:
    """pass@1 of one finished submission on one board."""

    entrant_id: int
    board: str
    submission_id: int
    at: datetime
    share: float
    is_counted: bool


def results_spec(rows: Sequence[BoardResult]) -> Spec:
    values, lows, highs = ([row.pass_at_1[part] for row in rows] for part in range(3))
    points = {
        "type": "scatter",
        "mode": "markers",
        "name": "pass@1",
        "x": values,
        "y": list(range(len(rows))),
        "customdata": [plain(f"{row.release}, {row.track}") for row in rows],
        "error_x": margins(values, lows, highs),
        "marker": {"size": 11, "color": [colour_of(row.entrant_id) for row in rows]},
        "hovertemplate": "%{customdata}<br>pass@1 %{x:.1%}<extra></extra>",
    }
    names = names_axis([f"{row.release}\n{row.track}" for row in rows])
    shown = layout(axis("pass@1", **SHARES), names, height=lines_height(len(rows), 40))
    return {"data": [points] if rows else [], "layout": shown}


def results_table(rows: Sequence[BoardResult]) -> Table:
    return Table(
        ["Release", "Track", "pass@1 (%)", "95 % interval", "Rank"],
        [
            [row.release, row.track, percent(row.pass_at_1[0]), _interval(row.pass_at_1), str(row.rank or MISSING)]
            for row in rows
        ],
    )  # fmt: skip


def _interval(found: Triple) -> str:
    _, low, high = found
    return MISSING if low is None or high is None else f"{percent(low)}–{percent(high)}"


def groups_spec(rows: Sequence[GroupShare]) -> Spec:
    places, names = list(range(len(rows))), [plain(row.group) for row in rows]
    own = {
        "type": "bar",
        "orientation": "h",
        "name": "This entrant",
        "x": [row.share for row in rows],
        "y": places,
        "customdata": names,
        "marker": {"color": colour_of(rows[0].entrant_id) if rows else GREY},
        "hovertemplate": "%{customdata}<br>pass@1 %{x:.1%}<extra></extra>",
    }
    others = {
        "type": "scatter",
        "mode": "markers",
        "name": f"Mean of the board's first {MAX_COMPARED}",
        "x": [row.others for row in rows],
        "y": places,
        "customdata": names,
        "marker": {"size": 11, "symbol": "diamond", "color": GREY, "line": {"width": 1.5, "color": "#ffffff"}},
        "cliponaxis": False,
        "hovertemplate": "%{customdata}<br>mean of the others %{x:.1%}<extra></extra>",
    }
    more = {"height": lines_height(len(rows)), "showlegend": True}
    shown = layout(axis("pass@1", tickformat=".0%", range=[0, 1.05]), names_axis([row.group for row in rows]), **more)
    return {"data": [own, others] if rows else [], "layout": shown}


def groups_table(rows: Sequence[GroupShare]) -> Table:
    lines = [[row.group, percent(row.share), percent(row.others), f"{row.solved}/{row.problems}"] for row in rows]
    return Table(["Group", "pass@1 (%)", f"Mean of the first {MAX_COMPARED} (%)", "Solved"], lines)


def history_spec(rows: Sequence[PastResult]) -> Spec:
    boards = list(dict.fromkeys(row.board for row in rows))
    traces = [_line([row for row in rows if row.board == board], place) for place, board in enumerate(boards)]
    x = days_axis([row.at for row in rows])
    return {"data": traces, "layout": layout(x, axis("pass@1", **SHARES), showlegend=len(boards) > 1)}


def _line(rows: Sequence[PastResult], place: int) -> Spec:
    in_order = sorted(rows, key=lambda row: (row.at, row.submission_id))
    colour = colour_of(rows[0].entrant_id)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(rows[0].board),
        "x": [row.at.isoformat() for row in in_order],
        "y": [row.share for row in in_order],
        "text": [f"#{row.submission_id}{', counted' if row.is_counted else ''}" for row in in_order],
        "line": {"color": colour, "dash": DASHES[place % len(DASHES)], "width": 1.5},
        "marker": {
            "size": 10, "color": colour, "symbol": ["circle" if row.is_counted else "circle-open" for row in in_order],
        },
        "cliponaxis": False,
        "hovertemplate": "%{text}<br>pass@1 %{y:.1%}<br>%{x|%Y-%m-%d}<extra>%{fullData.name}</extra>",
    }  # fmt: skip


def history_table(rows: Sequence[PastResult]) -> Table:
    """The newest first."""
    newest = sorted(rows, key=lambda row: (row.at, row.submission_id), reverse=True)
    lines = [
        [
            f"{row.at:%Y-%m-%d}",
            row.board,
            f"#{row.submission_id}",
            percent(row.share),
            "yes" if row.is_counted else "no",
        ]
        for row in newest
    ]
    return Table(["Day (UTC)", "Board", "Submission", "pass@1 (%)", "Counted"], lines)


def _several(rows: Sequence[object]) -> bool:
    return len(rows) > 1


RESULTS = Chart(
    "results", "pass@1 on every board", "Whiskers are 95 % intervals over problems. Releases differ in difficulty.",
    results_spec, results_table, _several,
)  # fmt: skip
GROUPS = Chart(
    "groups", "Strengths by group",
    f"pass@1 over the problems of each group. Diamonds are the mean of the first {MAX_COMPARED} ranked entrants of the"
    " board: a group that is hard for all is no weakness of this one.",
    groups_spec, groups_table,
)  # fmt: skip
HISTORY = Chart(
    "history", "History",
    "pass@1 of each finished full submission, the newest 20. Full circles are those that count on a board.",
    history_spec, history_table, _several,
)  # fmt: skip
