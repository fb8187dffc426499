"""Tables and live progress that the command line prints."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

MISSING = "–"
UNBOUNDED = 10_000
_DECLARED = {"tokens_per_sample": 6, "usd_per_sample": 3}
"""Significant digits of figures that may be of any size."""
VERDICT_STYLES = {"passed": "green", "skipped": "dim", "platform_error": "magenta", "invalid": "yellow"}


def releases_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("Release", "Title", "State", "Problems", Column("Tracks", overflow="fold"), "Takes submissions")
    for row in rows:
        closed = row["why_closed"] or ("no" if row["state"] != "published" else "yes")
        table.add_row(row["slug"], row["title"], row["state"], str(row["n_problems"]), ", ".join(row["tracks"]), closed)
    return table


def board_table(board: Mapping[str, Any]) -> Table:
    """Rank with its interval, the model, then the board's own columns with half their interval."""
    table = Table("Rank", "Model", "Organisation", title=f"{board['release']} on {board['track'] or 'no track yet'}")
    for column in board["columns"]:
        table.add_column(f"{column['title']} {column['unit']}".strip(), justify="right")
    for row in board["standings"]:
        figures = [_figure(row, column) for column in board["columns"]]
        table.add_row(_rank(row), _model(row), row["organisation"], *figures)
    return table


def board_that_fits(board: Mapping[str, Any], width: int) -> tuple[dict[str, Any], list[str]]:
    """The board with as many of its first columns as fit into `width` characters, and the titles of the others."""
    columns = list(board["columns"])
    while columns and natural_width(board_table({**board, "columns": columns})) > width:
        columns.pop()
    return {**board, "columns": columns}, [column["title"] for column in board["columns"][len(columns) :]]


def print_table(table: Table, *, stderr: bool = False) -> None:
    """Print a table, fitted to a terminal; in a file or pipe at full width."""
    screen = Console(stderr=stderr)
    width = screen.width if screen.is_terminal else max(screen.width, natural_width(table))
    Console(stderr=stderr, width=width).print(table)


def print_board(board: Mapping[str, Any], *, stderr: bool = False) -> list[str]:
    """Print as many of the board's first columns as fit. Returns the titles of the others."""
    screen = Console(stderr=stderr)
    fitting, left_out = board_that_fits(board, screen.width) if screen.is_terminal else (board, [])
    print_table(board_table(fitting), stderr=stderr)
    return left_out


def natural_width(table: Table) -> int:
    """Width, in characters, at which nothing of the table is folded or cut off."""
    console = Console(width=UNBOUNDED)
    return Measurement.get(console, console.options, table).maximum


def _rank(row: Mapping[str, Any]) -> str:
    if row["rank"] is None:
        return MISSING
    low, high = row["rank_low"], row["rank_high"]
    if low is None:
        return f"{row['rank']} (few problems)"
    return str(row["rank"]) if low == high else f"{row['rank']} ({low}–{high})"


def _model(row: Mapping[str, Any]) -> str:
    badge = " (baseline)" if row["kind"] == "baseline" else " (incomplete)" if row["incomplete"] else ""
    return f"{row['model']}{badge}"


def _figure(row: Mapping[str, Any], column: Mapping[str, Any]) -> str:
    key, value = column["key"], row.get(column["key"])
    if value is None:
        return MISSING
    if key == "solved":
        return f"{value}/{row['problems']}"
    if not isinstance(value, float):
        return str(value)
    if key in _DECLARED:
        return f"{value:,.0f}" if 100 <= value < 1e6 else f"{value:,.{_DECLARED[key]}g}"
    scale, digits = (100, 1) if column["unit"] == "%" else (1, 2)
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    text = f"{scale * value:.{digits}f}"
    if low is None or high is None:
        return text
    return f"{text} ({scale * low:.{digits}f}–{scale * high:.{digits}f})"


def comparison_table(found: Mapping[str, Any]) -> Table:
    """One row per entrant: its own figures, and how it stands against the first."""
    first, *others = found["entrants"]
    table = Table("Model", title=f"{found['release']} on {found['track']}, against {first['model']}")
    for title in ("Rank", "pass@1 %", "Solved", "Difference (points)", "Better on", "Worse on", "Speedup ≥ 1, ratio"):
        table.add_column(title, justify="right")
    table.add_row(first["model"], *_own_figures(first), *[MISSING] * 4)
    for one, pair in zip(others, found["differences"], strict=True):
        difference = _with_ends(pair, "difference", ("low", "high"), 100, "+.1f")
        speedup = _with_ends(pair, "speedup_ratio", ("speedup_ratio_low", "speedup_ratio_high"), 1, ".2f")
        table.add_row(one["model"], *_own_figures(one), difference, str(pair["better"]), str(pair["worse"]), speedup)
    return table


def _own_figures(one: Mapping[str, Any]) -> tuple[str, str, str]:
    share = one["pass_at_1"]
    rank = MISSING if one["rank"] is None else str(one["rank"])
    return rank, MISSING if share is None else f"{100 * share:.1f}", f"{one['solved']}/{one['problems']}"


def _with_ends(row: Mapping[str, Any], key: str, ends: tuple[str, str], scale: float, digits: str) -> str:
    if row[key] is None:
        return MISSING
    low, high = (row[end] for end in ends)
    text = f"{scale * row[key]:{digits}}"
    return text if low is None else f"{text} ({scale * low:{digits}} to {scale * high:{digits}})"


def progress_words(now: Mapping[str, Any]) -> str:
    """The line below the bar: verdicts so far, running stages, and jobs ahead in the queues."""
    verdicts = " · ".join(f"{number} {name.replace('_', ' ')}" for name, number in (now["verdicts"] or {}).items())
    running = ", ".join(f"{number} {stage}" for stage, number in now["stages"].items())
    queue = "; ".join(f"{place['ahead']} jobs ahead on {place['track']}" for place in now["queue"])
    return "  |  ".join(words for words in (verdicts, running, queue) if words)


def results_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """One row per problem and track: each sample's verdict, and the best speedup that is not self-reported."""
    table = Table("Problem", "Track", "Passed", "Best speedup", "Verdicts")
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["task_id"], row["track"]), []).append(row)
    for (task_id, track), samples in groups.items():
        n_passed = sum(bool(sample["passed"]) for sample in samples)
        n_told = sum("sealed_until" not in sample for sample in samples)
        passed = f"{n_passed}/{len(samples)}" if n_told else "–"
        table.add_row(task_id, track, passed, _best(samples), _verdicts(samples))
    return table


MAX_FAILURES = 50


def failures_table(rows: Sequence[Mapping[str, Any]]) -> Table | None:
    """The first failed sample of each problem and track, with what failed first; None if no row tells."""
    table = Table("Problem", "Sample", "Track", "Failed first", Column("Said", overflow="fold"))
    seen: set[tuple[str, str]] = set()
    for row in rows:
        told, place = row.get("first_failure"), (row["task_id"], row["track"])
        if told and place not in seen and len(seen) < MAX_FAILURES:
            seen.add(place)
            table.add_row(place[0], str(row["sample"] + 1), place[1], Text(told["where"]), Text(told["message"]))
    return table if seen else None


def _best(samples: Sequence[Mapping[str, Any]]) -> str:
    timed = [one for one in samples if not one.get("self_reported") and one.get("speedup") is not None]
    if not timed:
        return MISSING
    best = max(timed, key=lambda one: float(one["speedup"]))
    n, n_timed = best.get("n_speedup_cases"), best.get("n_timed_cases")
    over = f" ({n} of {n_timed} cases)" if n is not None and n_timed is not None and n < n_timed else ""
    return (f"{best['speedup']:.2f}×" if best["speedup"] >= 0.1 else f"{best['speedup']:.2g}×") + over


def _verdicts(samples: Sequence[Mapping[str, Any]]) -> Text:
    text = Text()
    for sample in samples:
        verdict = sample.get("verdict") or ("sealed" if sample.get("sealed_until") else sample["state"])
        text.append(
            f"{verdict} ".replace("_", " "), VERDICT_STYLES.get(verdict, "red" if "verdict" in sample else "dim")
        )
    return text
