"""The terminal's display: bars while releases are verified and graded, then the ranked boards."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from demo.client import Client
from demo.course import Course
from demo.seed_types import LiveRelease
from demo.services import Services

POLL_SECONDS = 0.5
RANKING_SECONDS = 60
SHOWN_COLUMNS = ("pass@1", "solved", "speedup")


def bars(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TextColumn("{task.fields[passed]}"), console=console, refresh_per_second=2)


def watch(services: Services, shown: Progress, courses: Sequence[Course]) -> None:
    """Returns when every course is at its end. Raises ServicesFailed should a process end meanwhile."""
    left = list(courses)
    while left:
        services.check()
        left = [course for course in left if not step(shown, course)]
        time.sleep(POLL_SECONDS)


def step(shown: Progress, course: Course) -> bool:
    """Whether the course is at its end."""
    is_done = course.step()
    while course.said:
        shown.console.print(course.said.pop(0), markup=False, highlight=False)
    return is_done


def ranked_board(client: Client, services: Services, one: LiveRelease) -> dict[str, Any]:
    """The board once every entrant is on it and complete, or as it stands after a minute."""
    deadline = time.monotonic() + RANKING_SECONDS
    entrants = {entrant.slug for entrant in one.entrants}
    while True:
        services.check()
        board = client.board(one.board.release, one.board.track)
        settled = {row["entrant"] for row in board["standings"] if not row["incomplete"]}
        if entrants <= settled or time.monotonic() > deadline:
            return board
        time.sleep(POLL_SECONDS)


def narrow(board: Mapping[str, Any]) -> dict[str, Any]:
    """The board with the columns that fit a terminal."""
    return dict(board, columns=[column for column in board["columns"] if column["key"] in SHOWN_COLUMNS])
