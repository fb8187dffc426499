"""What the demo waits for: progress bars while it grades, then the ranked board."""

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from demo.client import Client
from demo.services import Services

POLL_SECONDS = 0.5
RANKING_SECONDS = 60
SHOWN_COLUMNS = ("pass@1", "solved", "speedup")


def watch(console: Console, client: Client, services: Services, submissions: Mapping[str, int]) -> None:
    """Returns when every submission is done; raises ServicesFailed should a process end meanwhile."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[passed]} passed"), console=console) as bars:
        tasks = {submission: bars.add_task(name, total=None, passed=0) for name, submission in submissions.items()}
        while tasks:
            services.check()
            tasks = {one: task for one, task in tasks.items() if not _advance(bars, task, client.progress(one))}
            time.sleep(POLL_SECONDS)


def _advance(bars: Progress, task: TaskID, progress: Mapping[str, Any]) -> bool:
    passed = (progress["verdicts"] or {}).get("passed", 0)
    bars.update(task, total=progress["total"], completed=progress["done"], passed=passed)
    return bool(progress["done"] == progress["total"])


def ranked_board(client: Client, services: Services, release: str, track: str, entrants: set[str]) -> dict[str, Any]:
    """The board once every entrant is on it and complete, or as it stands after a minute."""
    deadline = time.monotonic() + RANKING_SECONDS
    while True:
        services.check()
        board = client.board(release, track)
        settled = {row["entrant"] for row in board["standings"] if not row["incomplete"]}
        if entrants <= settled or time.monotonic() > deadline:
            return board
        time.sleep(POLL_SECONDS)


def narrow(board: Mapping[str, Any]) -> dict[str, Any]:
    """The board with the columns that fit a terminal."""
    return dict(board, columns=[column for column in board["columns"] if column["key"] in SHOWN_COLUMNS])
