"""The board's columns: one place for each one's title, unit, definition, sort value, text and exported value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from leaderboard.boards.query import ALL_GROUPS, BoardQuery
from leaderboard.boards.written import interval_words, margin, written
from leaderboard.models import Standing
from leaderboard.models.boards.estimates import figure_of, figure_of_group, part_of
from leaderboard.results.measured import last_day_of
from leaderboard.site.numerals import MISSING, dollars, percent, ratio, tokens
from problems.spec.numbered import numbered
from scoring import metrics
from scoring.metrics import PASS_AT_1, Metric, Need

Row = Mapping[str, Any]
DECLARED = "Declared by the entrant."
_FEW = 10
"""Below so many problems a mean says how many it rests on."""


@dataclass(frozen=True)
class Cell:
    """One figure as shown: its text, its interval, its explanation, and the problems that it rests on where few."""

    text: str
    margin: str = ""
    note: str = ""
    basis: str = ""


@dataclass(frozen=True)
class Column:
    """`better` is `up`, `down` or empty; `value` is what is sorted by and exported (None: missing, always last)."""

    key: str
    title: str
    definition: str
    value: Callable[[Row], Any]
    cell: Callable[[Row], Cell]
    unit: str = ""
    better: str = ""
    bounds: Callable[[Row], tuple[float | None, float | None]] | None = None
    ranks: bool = False
    """Whether the release ranks by it."""

    trap: str = ""
    """The mistake that the figure of another benchmark invites; empty for our own."""
    no_interval: str = ""
    """The reason why an estimate has no interval; empty for those that have one, and for counts and facts."""
    exported: Callable[[Row], Mapping[str, Any]] = lambda _: {}
    """Further columns of exports, beside the figure and its interval."""


def _plain(value: Callable[[Row], Any], text: Callable[[Any], str] = str) -> Callable[[Row], Cell]:
    return lambda row: Cell(MISSING if value(row) is None else text(value(row)))


def _few(n: int, of: int) -> str:
    """`6 of 18` where a mean rests on few of the problems."""
    return f"{n} of {of}" if n < of and (n < _FEW or 2 * n < of) else ""


def column_of(metric: Metric) -> Column:
    """The column of a metric: its words come from the registry, its figures from the rows' estimates."""
    name, cell = metric.name, _CELLS.get(metric.name, _figure_cell)
    return Column(
        name, metric.title, metric.definition,
        lambda row: figure_of(row["estimates"], name)[0],
        lambda row: cell(metric, row),
        unit=metric.unit,
        better=metric.better,
        bounds=None if metric.no_interval else lambda row: figure_of(row["estimates"], name)[1:],
        no_interval=metric.no_interval,
        trap=metric.trap,
        exported=lambda row: {key: part_of(row["estimates"], name, part) for key, part in metric.exported.items()},
    )  # fmt: skip


def _figure_cell(metric: Metric, row: Row) -> Cell:
    """The figure, its interval, and the problems that it rests on."""
    value, low, high = figure_of(row["estimates"], metric.name)
    n, n_left_out = (part_of(row["estimates"], metric.name, part) for part in ("problems", "left_out"))
    left_out = f"; {n_left_out} left out, whose baseline is already at the bound" if n_left_out else ""
    if value is None:
        needs = f"needs {metric.k} samples" if (metric.k or 1) > 1 else ""
        return Cell(MISSING, needs, f"{metric.missing}{left_out}")
    interval = [] if metric.no_interval else [interval_words(metric, low, high)]
    words = ", ".join([*interval, *([f"over {numbered(n, 'problem')}{left_out}"] if n else [])])
    basis = _few(n, row["n_problems"]) if n else ""
    return Cell(written(metric, value, low, high), margin(metric, low, high), words, basis)


def _solved_cell(row: Row) -> Cell:
    n_skipped = row["n_skipped"]
    words = f"; {n_skipped} that the track cannot run leave the denominator" if n_skipped else ""
    basis = f"{n_skipped} skipped" if n_skipped else ""
    return Cell(
        f"{row['n_solved']}/{row['n_problems']}", note=f"{row['n_problems']} problems count{words}", basis=basis
    )


def _correct_cell(metric: Metric, row: Row) -> Cell:
    value, _, _ = figure_of(row["estimates"], metric.name)
    n = part_of(row["estimates"], metric.name, "problems")
    of = part_of(row["estimates"], metrics.SPEEDUP.name, "problems")
    if value is None:
        return Cell(MISSING, note=metric.missing)
    return Cell(
        written(metric, value),
        note=f"Over the {n} of {of} problems with a passing sample whose time may rank.",
        basis=f"{n} of {of}" if 0 < n < of else "",
    )


def _held_out_cell(metric: Metric, row: Row) -> Cell:
    """The figure, and how it compares with that of the same samples' other cases."""
    value, _, _ = figure_of(row["estimates"], metric.name)
    n, public = (part_of(row["estimates"], metric.name, part) for part in ("problems", "public"))
    if value is None or public is None:
        return Cell(MISSING, note=metric.missing)
    words = f"Over {numbered(n, 'problem')}; {ratio(public)} in the public cases of the same samples"
    return Cell(written(metric, value), f"{ratio(value / public)} of public", words)


def _day(row: Row) -> str | None:
    """The first day at whose end a board has the row: its submission had finished and was chosen. UTC."""
    finished, chosen = row["submission__finished_at"], row["chosen_at"]
    if finished is None or chosen is None:
        return None
    return f"{max(finished, chosen).astimezone(UTC):%Y-%m-%d}"


def _day_cell(row: Row) -> Cell:
    day, measured = _day(row), last_day_of(row["submission__measured_where"])
    note = "" if row["submission__measured_where"] is None else "Imported; when it was measured is not recorded."
    note = f"Imported; measured until {measured}." if measured else note
    if day is None:
        return Cell(MISSING, note=note or "Its submission is still being judged.")
    return Cell(day, note=note)


def _gflops_cell(metric: Metric, row: Row) -> Cell:
    value, _, _ = figure_of(row["estimates"], metric.name)
    if value is None:
        return Cell(MISSING, note=metric.missing)
    n, own = (part_of(row["estimates"], metric.name, part) for part in ("problems", "own"))
    others = "; the baseline counts on the others" if own < n else ""
    words = f"Over {numbered(n, 'problem')}, {own} by times of its own{others}"
    basis = f"{own} own of {n}" if own < n else _few(n, row["n_problems"])
    return Cell(written(metric, value), note=words, basis=basis)


_CELLS: Mapping[str, Callable[[Metric, Row], Cell]] = {
    metrics.CORRECT_SPEEDUP.name: _correct_cell,
    metrics.HELD_OUT_SPEEDUP.name: _held_out_cell,
    metrics.GFLOPS.name: _gflops_cell,
}
"""The metrics whose cells say more than the figure, its interval and its problems."""


def _first_figure(row: Row) -> float | None:
    figures = row["round_figures"]
    return figures["value"] if figures else None


def _first_cell(row: Row) -> Cell:
    """The primary figure and the rank before the round, and how much of the row it has measured anew."""
    figures = row["round_figures"]
    if not figures:
        return Cell(MISSING, note="It was not measured anew: its rank did not reach the first ten.")
    metric = metrics.metric_named(figures["metric"])
    text, n, of = written(metric, figures["value"]), figures["n_judged"], figures["n"]
    imported = f" {figures['n_imported']} imported passes cannot be measured anew." if figures["n_imported"] else ""
    words = f"{figures['metric']} and rank before the round. {n} of {of} passes are measured anew.{imported}"
    basis = f"{n} of {of} anew" if n < of else "" if of else "imported, not anew"
    return Cell(f"{text}{' %' if metric.unit == '%' else ''}", f"rank {figures['rank']}", words, basis)


def _unwitnessed(row: Row) -> float | None:
    return row["n_unwitnessed"] / row["n_passed"] if row["n_passed"] else None


def _unwitnessed_cell(row: Row) -> Cell:
    counts = f"{row['n_unwitnessed']} of {row['n_passed']} passing samples"
    return Cell(percent(_unwitnessed(row)), note=counts)


def _declared(key: str, title: str, definition: str, text: Callable[[float], str], unit: str = "") -> Column:
    """The column of a figure that submissions hold under the key, as their packs declare it."""

    def cell(row: Row) -> Cell:
        value = row[f"submission__{key}"]
        return Cell(MISSING, note="Not declared.") if value is None else Cell(text(value), note=DECLARED)

    return Column(key, title, definition, lambda row: row[f"submission__{key}"], cell, unit=unit, better="down")


SOLVED = Column(
    "solved", "Solved", "Problems with at least one passing sample, of the problems that count.",
    lambda row: row["n_solved"], _solved_cell, better="up",
    exported=lambda row: {"problems": row["n_problems"], "skipped": row["n_skipped"]},
)  # fmt: skip
UNWITNESSED = Column(
    "unwitnessed", "Unwitnessed",
    "Share of passing samples whose test nothing outside their process saw end. They count; their times never rank.",
    _unwitnessed, _unwitnessed_cell, unit="%", better="down",
)  # fmt: skip
TOKENS = _declared(
    "tokens_per_sample", "Tokens", "Tokens of prompts and replies per sample, declared by the entrant.", tokens
)
COST = _declared(
    "usd_per_sample", "Cost", "Cost of prompts and replies per sample, declared by the entrant.", dollars, unit="US$"
)
FIRST = Column(
    "before_round", "Before the round",
    "Primary figure and rank by the first measurements, as the round began. The rank uses the second measurements.",
    _first_figure, _first_cell, better="up",
    exported=lambda row: {"rank_before_round": (row["round_figures"] or {}).get("rank")},
)  # fmt: skip
SAMPLES = Column(
    "samples", "Samples", "Samples judged, over all problems.",
    lambda row: row["n_samples"], _plain(lambda row: row["n_samples"], "{:,}".format),
)  # fmt: skip
DATE = Column(
    "date", "Date", "Day (UTC) from whose end on the board of a date has this row: it had finished and was chosen.",
    _day, _day_cell, exported=lambda row: {"measured_until": last_day_of(row["submission__measured_where"]) or None},
)  # fmt: skip


def _group_value(row: Row, group: str, metric: Metric) -> float | None:
    return figure_of_group(row["groups"].get(group, {}), metric)


def _group_cell(row: Row, group: str, metric: Metric) -> Cell:
    value = _group_value(row, group, metric)
    if value is None:
        return Cell(MISSING, note=f"No problem of {group} counts for {metric.title} yet.")
    figures = row["groups"][group]
    return Cell(written(metric, value), f"{figures['solved']}/{figures['problems']}", f"Solved of {group}")


def group_column(group: str, metric: Metric) -> Column:
    """The metric over one group's problems."""
    return Column(
        key=f"group:{group}",
        title=group,
        unit=metric.unit,
        better=metric.better,
        definition=f"{metric.title} over the problems of group {group}, and how many of them are solved.",
        no_interval="A group has few problems.",
        value=lambda row: _group_value(row, group, metric),
        cell=lambda row: _group_cell(row, group, metric),
    )


def _sealed_questions(opens: datetime) -> Column:
    """The column of questions before it has figures."""
    words = f"Opens on {opens:%Y-%m-%d %H:%M} UTC: until then nothing is told that rests on questions."
    return replace(column_of(metrics.QUESTIONS), cell=lambda _: Cell(MISSING, f"from {opens:%Y-%m-%d}", words))


_PLAIN = (SOLVED, UNWITNESSED, TOKENS, COST, FIRST, SAMPLES, DATE)
"""The columns that are no metric's and no group's."""
_OF_PASSES = [column_of(metric) for metric in metrics.SHOWN if Need.TIMES not in metric.needs]
_OF_TIMES = [column_of(one) for one in metrics.SHOWN if Need.TIMES in one.needs and one not in metrics.THEIRS]
_THEIRS = [column_of(metric) for metric in metrics.THEIRS]
_OF_AN_EMPTY_BOARD = [column_of(one) for one in (metrics.SPEEDUP, metrics.CORRECT_SPEEDUP, metrics.FAST_1)]


def columns_for(query: BoardQuery, groups: Sequence[str], rows: Sequence[Row]) -> list[Column]:
    """The columns right of the model's name, the one that ranks first.

    None whose every figure would be missing, but the one that ranks and those of groups.
    """
    ranking = ranking_metric(query.ranked_by)
    columns, of_k = [column_of(metrics.pass_at(1))], column_of(metrics.pass_at(query.k))
    if query.k > 1:
        columns += _with_figures([of_k], rows) if rows else [of_k]
    columns += _with_figures(_OF_PASSES, rows)
    columns += [_sealed_questions(query.questions_from)] if query.questions_from else []
    columns += [group_column(group, ranking or PASS_AT_1) for group in groups if query.group in (group, ALL_GROUPS)]
    columns += [SOLVED, *(_with_figures(_OF_TIMES, rows) if rows else _OF_AN_EMPTY_BOARD)]
    columns += _with_figures(_THEIRS, rows) if query.theirs else []
    columns += [UNWITNESSED] if any(row["n_unwitnessed"] for row in rows) else []
    columns += _declared_by(rows)
    columns += [FIRST] if any(row["round_figures"] for row in rows) else []
    return _ranking_first([*columns, SAMPLES, DATE], ranking)


def ranking_metric(name: str) -> Metric | None:
    """The metric of that name; None if there is none, which a release may have stored past every check."""
    try:
        return metrics.metric_named(name)
    except metrics.UnknownMetric:
        return None


def _ranking_first(columns: Sequence[Column], metric: Metric | None) -> list[Column]:
    if metric is None:
        return list(columns)
    first = next((column for column in columns if column.key == metric.name), column_of(metric))
    return [replace(first, ranks=True), *(column for column in columns if column.key != metric.name)]


def keys_of(ks: Sequence[int], groups: Sequence[str]) -> list[str]:
    """The keys of every column that a board of these k and groups may have."""
    of_metrics = [metrics.pass_at(k).name for k in {1, *ks}] + [metric.name for metric in metrics.SHOWN]
    return [*of_metrics, *(group_column(group, PASS_AT_1).key for group in groups), *(column.key for column in _PLAIN)]


def declared_words(columns: Sequence[Column]) -> str:
    """A sentence on the columns whose figures entrants declare; empty where there are none."""
    titles = " and ".join(one.title for one in columns if one in (TOKENS, COST))
    return f"{titles}: per sample, declared by the entrant, not checked by Podium." if titles else ""


def _with_figures(columns: Sequence[Column], rows: Sequence[Row]) -> list[Column]:
    """The metrics of which a row has an estimate. One that is stored without a value has something to say about it."""
    known = {name for row in rows for name in row["estimates"]}
    return [column for column in columns if column.key in known]


def _declared_by(rows: Sequence[Row]) -> list[Column]:
    return [column for column in (TOKENS, COST) if any(column.value(row) is not None for row in rows)]


@dataclass(frozen=True)
class Leader:
    """The first of a board, as its page leads with it."""

    name: str
    title: str
    """The metric's."""
    score: str
    interval: str
    n_others: int
    """Others that share the first rank."""


def leader_of(columns: Sequence[Column], rows: Sequence[Row]) -> Leader | None:
    """None if none of these rows has the first rank, or the column that ranks is not shown."""
    first = [row for row in rows if row["rank"] == 1]
    column = next((one for one in columns if one.ranks), None)
    if not first or column is None:
        return None
    cell = column.cell(first[0])
    score = f"{cell.text} %" if column.unit == "%" else cell.text
    return Leader(first[0]["entrant__name"], column.title, score, cell.margin, len(first) - 1)


def primary_score(row: Standing) -> str:
    """`Speedup ≥ 1: 3.6× (2.7–4.5)`; a dash without a figure."""
    metric = ranking_metric(row.release.primary_metric)
    value, low, high = row.figure(metric.name) if metric else (None, None, None)
    if metric is None or value is None:
        return MISSING
    unit = " %" if metric.unit == "%" else ""
    interval = margin(metric, low, high)
    return f"{metric.title}: {written(metric, value, low, high)}{unit}{f' ({interval})' if interval else ''}"
