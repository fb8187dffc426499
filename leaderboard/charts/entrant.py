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
    days_axis,
    figured,
    headed,
    hovered,
    layout,
    lines_height,
    margins,
    names_axis,
    plain,
    titled,
    vary,
)
from leaderboard.charts.colours import colour_of
from leaderboard.charts.scales import metric_axis
from leaderboard.models.boards.estimates import Triple
from leaderboard.site.numerals import MISSING
from problems.spec.numbered import numbered
from scoring.metrics import PASS_AT_1, Metric

MAX_COMPARED = 100
"""Ranked entrants of a board, by rank, whose mean stands beside an entrant's bar."""


@dataclass(frozen=True)
class BoardResult:
    """A metric on one board, as value and ends of its interval."""

    entrant_id: int
    release: str
    track: str
    figure: Triple
    rank: int | None
    metric: Metric = PASS_AT_1
    ranks: bool = True
    """Whether the board ranks by the metric."""


@dataclass(frozen=True)
class GroupShare:
    """A metric over the problems of a group; `others` is the mean of the board's first `n_others` ranked entrants."""

    entrant_id: int
    group: str
    share: float | None
    others: float | None
    n_others: int
    solved: int
    problems: int
    metric: Metric = PASS_AT_1


@dataclass(frozen=True)
class PastResult:
    """A metric of one finished submission on one board."""

    entrant_id: int
    board: str
    submission_id: int
    at: datetime
    share: float
    is_counted: bool
    metric: Metric = PASS_AT_1


def results_spec(rows: Sequence[BoardResult]) -> Spec:
    metric = _metric(rows)
    values, lows, highs = ([row.figure[part] for row in rows] for part in range(3))
    points = {
        "type": "scatter",
        "mode": "markers",
        "name": metric.title,
        "x": values,
        "y": list(range(len(rows))),
        "customdata": [plain(f"{row.release}, {row.track}") for row in rows],
        "error_x": margins(values, lows, highs),
        "marker": {"size": 11, "color": [colour_of(row.entrant_id) for row in rows]},
        "hovertemplate": f"%{{customdata}}<br>{metric.title} {hovered(metric, 'x')}<extra></extra>",
    }
    known = [end for row in rows for end in row.figure if end is not None]
    names = names_axis([f"{row.release}\n{row.track}" for row in rows])
    shown = layout(metric_axis(metric, titled(metric), known), names, height=lines_height(len(rows), 40))
    return {"data": [points] if rows else [], "layout": shown}


def results_table(rows: Sequence[BoardResult]) -> Table:
    return Table(
        ["Release", "Track", headed(_metric(rows)), "95 % interval", "Rank"],
        [
            [row.release, row.track, figured(row.metric, row.figure[0]), _interval(row), str(row.rank or MISSING)]
            for row in rows
        ],
    )  # fmt: skip


def _interval(row: BoardResult) -> str:
    _, low, high = row.figure
    return MISSING if low is None or high is None else f"{figured(row.metric, low)}–{figured(row.metric, high)}"


def _metric(rows: Sequence[BoardResult | GroupShare | PastResult]) -> Metric:
    return rows[0].metric if rows else PASS_AT_1


def groups_spec(rows: Sequence[GroupShare]) -> Spec:
    places, names = list(range(len(rows))), [plain(row.group) for row in rows]
    metric, known = _metric(rows), [one for row in rows for one in (row.share, row.others) if one is not None]
    own = {
        "type": "bar",
        "orientation": "h",
        "name": "This entrant",
        "x": [row.share for row in rows],
        "y": places,
        "customdata": names,
        "marker": {"color": colour_of(rows[0].entrant_id) if rows else GREY},
        "hovertemplate": f"%{{customdata}}<br>{metric.title} {hovered(metric, 'x')}<extra></extra>",
    }
    others = {
        "type": "scatter",
        "mode": "markers",
        "name": _mean_of(rows),
        "x": [row.others for row in rows],
        "y": places,
        "customdata": names,
        "marker": {"size": 11, "symbol": "diamond", "color": GREY, "line": {"width": 1.5, "color": "#ffffff"}},
        "cliponaxis": False,
        "hovertemplate": f"%{{customdata}}<br>mean of the others {hovered(metric, 'x')}<extra></extra>",
    }
    more = {"height": lines_height(len(rows)), "showlegend": True}
    shown = layout(metric_axis(metric, titled(metric), known), names_axis([row.group for row in rows]), **more)
    return {"data": [own, others] if rows else [], "layout": shown}


def groups_table(rows: Sequence[GroupShare]) -> Table:
    metric = _metric(rows)
    lines = [
        [row.group, figured(metric, row.share), figured(metric, row.others), f"{row.solved}/{row.problems}"]
        for row in rows
    ]
    return Table(["Group", headed(metric), _mean_of(rows), "Solved"], lines)


def _mean_of(rows: Sequence[GroupShare]) -> str:
    n = rows[0].n_others if rows else 0
    return f"Mean of {numbered(n, 'ranked entrant')}"


def history_spec(rows: Sequence[PastResult]) -> Spec:
    boards = list(dict.fromkeys(row.board for row in rows))
    traces = [_line([row for row in rows if row.board == board], place) for place, board in enumerate(boards)]
    x, metric = days_axis([row.at for row in rows]), _metric(rows)
    y = metric_axis(metric, titled(metric), [row.share for row in rows])
    return {"data": traces, "layout": layout(x, y, showlegend=len(boards) > 1)}


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
        "hovertemplate": (
            f"%{{text}}<br>{rows[0].metric.title} {hovered(rows[0].metric)}<br>%{{x|%Y-%m-%d}}"
            "<extra>%{fullData.name}</extra>"
        ),
    }  # fmt: skip


def history_table(rows: Sequence[PastResult]) -> Table:
    """The newest first."""
    newest = sorted(rows, key=lambda row: (row.at, row.submission_id), reverse=True)
    lines = [
        [
            f"{row.at:%Y-%m-%d}",
            row.board,
            f"#{row.submission_id}",
            figured(row.metric, row.share),
            "yes" if row.is_counted else "no",
        ]
        for row in newest
    ]
    return Table(["Day (UTC)", "Board", "Submission", headed(_metric(rows)), "Counted"], lines)


def _several(rows: Sequence[object]) -> bool:
    return len(rows) > 1


def _several_results(rows: Sequence[BoardResult]) -> bool:
    """A metric that ranks none of the boards and is the same on all says nothing."""
    return len(rows) > 1 and (any(row.ranks for row in rows) or vary(row.figure[0] for row in rows))


def _has_groups(rows: Sequence[GroupShare]) -> bool:
    return vary(one for row in rows for one in (row.share, row.others))


RESULTS = Chart(
    "results", lambda rows: f"{_metric(rows).title} on every board",
    "Whiskers are 95 % intervals over problems. Releases differ in difficulty.",
    results_spec, results_table, _several_results,
)  # fmt: skip
GROUPS = Chart(
    "groups", "Strengths by group",
    lambda rows: f"{_metric(rows).title} over the problems of each group. Diamonds are the mean of the board's"
    f" ranked entrants, of the first {MAX_COMPARED} where there are more: a group that is hard for all is no weakness"
    " of this one.",
    groups_spec, groups_table, _has_groups,
)  # fmt: skip
HISTORY = Chart(
    "history", lambda rows: "History" if _metric(rows) == PASS_AT_1 else f"History of {_metric(rows).title}",
    lambda rows: f"{_metric(rows).title} of each finished full submission, the newest 20. Full circles are those that"
    " count on a board.",
    history_spec, history_table, _several,
)  # fmt: skip
