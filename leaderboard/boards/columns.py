"""The board's columns: one place for each one's title, unit, definition, sort value, text and exported value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from leaderboard.boards.query import ALL_GROUPS, BoardQuery
from leaderboard.site.numerals import (
    MISSING,
    dollars,
    percent,
    percent_interval,
    ratio,
    ratio_interval,
    score_interval,
    significant,
    spread,
    supported,
    tokens,
)
from scoring import metrics
from scoring.fast_p import THRESHOLDS

Row = Mapping[str, Any]
DECLARED = "Declared by the entrant."
_FAST_1 = THRESHOLDS.index(1.0)
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


def _of(
    metric: metrics.Metric,
    value: Callable[[Row], Any],
    cell: Callable[[Row], Cell],
    bounds: Callable[[Row], tuple[float | None, float | None]] | None = None,
) -> Column:
    """The column of a metric: its words come from the registry."""
    return Column(
        metric.name, metric.title, metric.definition, value, cell, unit=metric.unit, better=metric.better, bounds=bounds
    )


def _plain(value: Callable[[Row], Any], text: Callable[[Any], str] = str) -> Callable[[Row], Cell]:
    return lambda row: Cell(MISSING if value(row) is None else text(value(row)))


def _estimate(row: Row, k: int) -> tuple[float | None, float | None, float | None]:
    value, low, high = row["pass_at_k"].get(str(k), (None, None, None))
    return value, low, high


def _share_of(metric: metrics.Metric, missing: str) -> Column:
    """The column of a share that rows hold under the metric's name; `missing` explains a dash."""
    return _of(
        metric,
        lambda row: row[metric.name],
        lambda row: _share_cell(row, metric.name, missing),
        lambda row: (row[f"{metric.name}_low"], row[f"{metric.name}_high"]),
    )


def _pass_cell(row: Row, k: int) -> Cell:
    value, low, high = _estimate(row, k)
    if value is None:
        return Cell(MISSING, f"needs {k} samples" if k > 1 else "", f"Some problem has fewer than {k} samples.")
    return Cell(percent(value), spread(value, low, high, 100), percent_interval(low, high))


def _few(n: int, of: int) -> str:
    """`6 of 18` where a mean rests on few of the problems."""
    return f"{n} of {of}" if n < of and (n < _FEW or 2 * n < of) else ""


def pass_at(k: int) -> Column:
    return _of(
        metrics.pass_at(k),
        lambda row: _estimate(row, k)[0],
        lambda row: _pass_cell(row, k),
        lambda row: _estimate(row, k)[1:],
    )


def _solved_cell(row: Row) -> Cell:
    n_skipped = row["n_skipped"]
    words = f"; {n_skipped} that the track cannot run leave the denominator" if n_skipped else ""
    basis = f"{n_skipped} skipped" if n_skipped else ""
    return Cell(
        f"{row['n_solved']}/{row['n_problems']}", note=f"{row['n_problems']} problems count{words}", basis=basis
    )


def _speedup_cell(row: Row) -> Cell:
    if row["speedup"] is None:
        return Cell(MISSING, note="No problem on this track has a baseline time that may rank.")
    low, high = row["speedup_low"], row["speedup_high"]
    words = f"{ratio_interval(low, high)}, over {row['n_timed_problems']} problems"
    basis = _few(row["n_timed_problems"], row["n_problems"])
    digits = supported(low, high)
    margin = spread(row["speedup"], low, high, digits=2 if digits is None else digits)
    return Cell(ratio(row["speedup"], low, high), margin, words, basis)


def _correct_cell(row: Row) -> Cell:
    n, of = row["n_correct_problems"], row["n_timed_problems"]
    if row["correct_speedup"] is None:
        return Cell(MISSING, note="No sample passed with a time that may rank.")
    return Cell(
        ratio(row["correct_speedup"]),
        note=f"Over the {n} of {of} problems with a passing sample whose time may rank.",
        basis=f"{n} of {of}" if 0 < n < of else "",
    )


def _held_out_cell(row: Row) -> Cell:
    """The figure, and how it compares with that of the same samples' other cases."""
    value, public = row["held_out_speedup"], row["public_speedup"]
    if value is None or public is None:
        return Cell(MISSING, note="No sample passed with times that may rank in held-out cases and in others.")
    gap = value / public
    words = f"Over {row['n_held_out_problems']} problems; {ratio(public)} in the public cases of the same samples"
    return Cell(ratio(value), f"{ratio(gap)} of public", words)


def _fast_1(row: Row) -> float | None:
    curve = row["fast_p"]
    return curve[_FAST_1] if len(curve) > _FAST_1 else None


def _day(row: Row) -> str | None:
    """The day on which the row's results were measured; None where imported results do not say."""
    where = row["submission__measured_where"]
    if where is not None:
        return str(where.get("last_day", "")) or None
    return f"{row['submission__finished_at'] or row['submission__created_at']:%Y-%m-%d}"


def _day_cell(row: Row) -> Cell:
    day = _day(row)
    if day is None:
        return Cell(MISSING, note="Imported; when its results were measured is not recorded.")
    imported = f"Imported on {row['submission__created_at']:%Y-%m-%d}" if row["submission__measured_where"] else ""
    return Cell(day, note=imported)


def _gflops_cell(row: Row) -> Cell:
    if row["gflops"] is None:
        return Cell(MISSING, note="No problem counts here that declares work and has a baseline time that may rank.")
    n, own = row["n_gflops_problems"], row["n_gflops_own"]
    words = f"Over {n} problems, {own} by times of its own{'; the baseline counts on the others' if own < n else ''}"
    basis = f"{own} own of {n}" if own < n else _few(n, row["n_problems"])
    return Cell(significant(row["gflops"]), note=words, basis=basis)


def _roofline_cell(row: Row) -> Cell:
    value, low, high = row["roofline"], row["roofline_low"], row["roofline_high"]
    if value is None:
        return Cell(
            MISSING, note="No problem that counts for it declares work for which the track's peaks are measured."
        )
    n = row["n_roofline_problems"]
    words = f"{percent_interval(low, high)}, over {n} problems"
    return Cell(percent(value), spread(value, low, high, 100), words, _few(n, row["n_problems"]))


def _sol_score_cell(row: Row) -> Cell:
    value, low, high = row["sol_score"], row["sol_score_low"], row["sol_score_high"]
    n_left_out = row["n_sol_score_left_out"]
    left_out = f"; {n_left_out} left out, whose baseline is already at the bound" if n_left_out else ""
    if value is None:
        return Cell(MISSING, note=f"No problem counts here whose baseline is above its bound{left_out}")
    n = row["n_sol_score_problems"]
    words = f"{score_interval(low, high)}, over {n} problems{left_out}"
    return Cell(f"{value:.3f}", spread(value, low, high, digits=3), words, _few(n, row["n_problems"]))


def _first_figure(row: Row) -> float | None:
    figures = row["round_figures"]
    return figures["value"] if figures else None


_BY_UNIT: Mapping[str, Callable[[float | None], str]] = {"%": percent, "×": ratio}


def _first_cell(row: Row) -> Cell:
    """The primary figure and the rank before the round, and how much of the row it has measured anew."""
    figures = row["round_figures"]
    if not figures:
        return Cell(MISSING, note="It was not measured anew: its rank did not reach the first ten.")
    unit = metrics.metric_named(figures["metric"]).unit
    text, n, of = _BY_UNIT.get(unit, significant)(figures["value"]), figures["n_judged"], figures["n"]
    imported = f" {figures['n_imported']} imported passes cannot be measured anew." if figures["n_imported"] else ""
    words = f"{figures['metric']} and rank before the round. {n} of {of} passes are measured anew.{imported}"
    basis = f"{n} of {of} anew" if n < of else "" if of else "imported, not anew"
    return Cell(f"{text}{' %' if unit == '%' else ''}", f"rank {figures['rank']}", words, basis)


def _share_cell(row: Row, name: str, missing: str) -> Cell:
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    if value is None:
        return Cell(MISSING, note=missing)
    return Cell(percent(value), spread(value, low, high, 100), percent_interval(low, high))


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
)  # fmt: skip
SPEEDUP = _of(
    metrics.SPEEDUP, lambda row: row["speedup"], _speedup_cell, lambda row: (row["speedup_low"], row["speedup_high"])
)
CODING, WEIGHTED, QUESTIONS = (
    _share_of(metrics.CODING, "No command or function problem counts here yet."),
    _share_of(metrics.WEIGHTED, "No problem with a weight counts here yet."),
    _share_of(metrics.QUESTIONS, "No question counts here yet."),
)
CORRECT = Column(
    "correct_speedup", "Speedup of passes",
    "Geometric mean over passing samples whose time may rank, as measured: slower ones count less than 1×.",
    lambda row: row["correct_speedup"], _correct_cell, unit="×", better="up",
)  # fmt: skip
HELD_OUT = Column(
    "held_out_speedup", "Held out",
    "Speedup of passes in cases whose sizes nobody is told. Below it the gap: this figure by that of the public cases.",
    lambda row: row["held_out_speedup"], _held_out_cell, unit="×", better="up",
)  # fmt: skip
FAST_1 = Column(
    "fast_1", "fast₁", "Share of samples that pass and are faster than the baseline, averaged over problems.",
    _fast_1, _plain(_fast_1, percent), unit="%", better="up",
)  # fmt: skip
GFLOPS = _of(metrics.GFLOPS, lambda row: row["gflops"], _gflops_cell)
ROOFLINE = _of(
    metrics.ROOFLINE, lambda row: row["roofline"], _roofline_cell,
    lambda row: (row["roofline_low"], row["roofline_high"]),
)  # fmt: skip
SOL_SCORE = _of(
    metrics.SOL_SCORE, lambda row: row["sol_score"], _sol_score_cell,
    lambda row: (row["sol_score_low"], row["sol_score_high"]),
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
)  # fmt: skip
SAMPLES = Column(
    "samples", "Samples", "Samples judged, over all problems.",
    lambda row: row["n_samples"], _plain(lambda row: row["n_samples"], "{:,}".format),
)  # fmt: skip
DATE = Column(
    "date", "Date", "Day on which its results were measured (UTC): the last one's.",
    _day, _day_cell,
)  # fmt: skip


def _group_value(row: Row, group: str) -> float | None:
    figures = row["groups"].get(group)
    return figures["pass_at_1"] if figures else None


def _group_cell(row: Row, group: str) -> Cell:
    figures = row["groups"].get(group)
    if not figures or figures["pass_at_1"] is None:
        return Cell(MISSING, note=f"No problem of {group} counts yet.")
    return Cell(percent(figures["pass_at_1"]), f"{figures['solved']}/{figures['problems']}", f"Solved of {group}")


def group_column(group: str) -> Column:
    return Column(
        key=f"group:{group}",
        title=group,
        unit="%",
        better="up",
        definition=f"pass@1 over the problems of group {group}, and how many of them are solved.",
        value=lambda row: _group_value(row, group),
        cell=lambda row: _group_cell(row, group),
    )


def _sealed_questions(opens: datetime) -> Column:
    """The column of questions before it has figures."""
    words = f"Opens on {opens:%Y-%m-%d %H:%M} UTC: until then nothing is told that rests on questions."
    return replace(QUESTIONS, cell=lambda _: Cell(MISSING, f"from {opens:%Y-%m-%d}", words))


def columns_for(query: BoardQuery, groups: Sequence[str], rows: Sequence[Row]) -> list[Column]:
    """The columns right of the model's name; none whose every figure would be missing, but those of groups."""
    chosen = [group for group in groups if query.group in (group, ALL_GROUPS)]
    columns = [pass_at(1)]
    if query.k > 1:
        columns += _with_figures((pass_at(query.k),), rows) if rows else [pass_at(query.k)]
    columns += _with_figures((CODING, WEIGHTED, QUESTIONS), rows)
    columns += [_sealed_questions(query.questions_from)] if query.questions_from else []
    columns += [group_column(group) for group in chosen]
    columns += [SOLVED]
    if not rows:
        columns += [SPEEDUP, CORRECT, FAST_1]
    elif any(row["n_timed_problems"] for row in rows):
        columns += [SPEEDUP, *_with_figures((CORRECT, HELD_OUT), rows), FAST_1]
    columns += _with_figures((ROOFLINE, GFLOPS), rows)
    columns += [SOL_SCORE] if any(row["sol_score"] is not None or row["n_sol_score_left_out"] for row in rows) else []
    columns += [UNWITNESSED] if any(row["n_unwitnessed"] for row in rows) else []
    columns += _with_figures((TOKENS, COST), rows)
    columns += [FIRST] if any(row["round_figures"] for row in rows) else []
    return [*columns, SAMPLES, DATE]


def declared_words(columns: Sequence[Column]) -> str:
    """A sentence on the columns whose figures entrants declare; empty where there are none."""
    titles = " and ".join(one.title for one in columns if one in (TOKENS, COST))
    return f"{titles}: per sample, declared by the entrant, not checked by Podium." if titles else ""


def _with_figures(columns: Sequence[Column], rows: Sequence[Row]) -> list[Column]:
    return [column for column in columns if any(column.value(row) is not None for row in rows)]
