"""What the demo shows in the terminal: progress bars while it grades, then the board."""

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from demo.client import Client
from demo.services import Services

POLL_SECONDS = 0.5
RANKING_SECONDS = 60


def watch(console: Console, client: Client, services: Services, submissions: Mapping[str, int]) -> None:
    """Returns when every submission is done; raises ServicesFailed should a process end meanwhile."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[verdicts]}"), console=console) as bars:
        tasks = {submission: bars.add_task(name, total=None, verdicts="") for name, submission in submissions.items()}
        while tasks:
            services.check()
            tasks = {one: task for one, task in tasks.items() if not _advance(bars, task, client.progress(one))}
            time.sleep(POLL_SECONDS)


def _advance(bars: Progress, task: TaskID, progress: Mapping[str, Any]) -> bool:
    verdicts = "  ".join(f"{name} {count}" for name, count in (progress["verdicts"] or {}).items())
    bars.update(task, total=progress["total"], completed=progress["done"], verdicts=verdicts)
    return bool(progress["done"] == progress["total"])


def ranked_board(client: Client, services: Services, release: str, track: str, entrants: set[str]) -> dict[str, Any]:
    """The board once every entrant is on it and complete, or as it stands after a minute."""
    deadline = time.monotonic() + RANKING_SECONDS
    while True:
        services.check()
        board = client.board(release, track)
        settled = {row["entrant"] for row in board["standings"] if not row["is_incomplete"]}
        if entrants <= settled or time.monotonic() > deadline:
            return board
        time.sleep(POLL_SECONDS)


def show_board(console: Console, board: Mapping[str, Any], k: int) -> None:
    table = Table(title=f"{board['release']} on {board['track']}", title_justify="left")
    table.add_column("Rank")
    table.add_column("Model")
    for heading in ("pass@1", f"pass@{k}", "Solved", "Speedup", "Samples"):
        table.add_column(heading, justify="right")
    for row in board["standings"]:
        table.add_row(*_cells(row, k))
    console.print(table)


def _cells(row: Mapping[str, Any], k: int) -> tuple[str, ...]:
    return (
        _rank(row),
        row["name"],
        _interval(row["pass_at_1"], row["pass_at_1_low"], row["pass_at_1_high"]),
        _number(row["pass_at_k"].get(str(k), [None])[0]),
        f"{row['n_solved']}/{row['n_problems']}",
        _interval(row["speedup"], row["speedup_low"], row["speedup_high"], "×"),
        str(row["n_samples"]),
    )


def _rank(row: Mapping[str, Any]) -> str:
    if row["rank"] is None:
        return f"– {row['incomplete_reason']}".strip()
    low, high = row["rank_low"], row["rank_high"]
    return f"{row['rank']}" if low == high else f"{row['rank']} ({low}–{high})"


def _number(value: float | None, unit: str = "") -> str:
    return "–" if value is None else f"{value:.2f}{unit}"


def _interval(value: float | None, low: float | None, high: float | None, unit: str = "") -> str:
    if value is None or low is None or high is None:
        return _number(value, unit)
    return f"{value:.2f}{unit} ({low:.2f}–{high:.2f})"
