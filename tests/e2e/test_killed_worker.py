"""A site worker that is killed leaves no scheduler behind."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from leaderboard.site.beat import OfOneWorker
from tests.e2e.processes import Processes
from tests.e2e.stack import Stack


def children_of(pid: int) -> list[int]:
    return [int(one) for path in Path(f"/proc/{pid}/task").glob("*/children") for one in path.read_text().split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def stack(tmp_path: Path) -> Any:
    made = Stack(tmp_path, f"sqlite:///{tmp_path}/site.sqlite3", "filesystem://", "bubblewrap")
    yield made
    made.stop()


@pytest.mark.rest
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_that_is_killed_takes_its_scheduler_with_it(stack: Stack) -> None:
    stack.migrate()
    stack.start_worker()
    worker = stack.processes["worker"]
    stack.wait_until(lambda: bool(children_of(worker.pid)), "the scheduler runs")
    beat = children_of(worker.pid)[0]
    stack.processes.pop("worker")
    os.kill(worker.pid, signal.SIGKILL)  # the worker alone, not its group
    worker.wait(timeout=20)
    try:
        Processes(stack.folder).wait_until(lambda: not is_running(beat), "the scheduler ends", seconds=10)
    finally:
        if is_running(beat):
            os.kill(beat, signal.SIGKILL)


def test_where_linux_does_not_end_it_the_next_tick_does(monkeypatch: Any) -> None:
    from leaderboard.celery import app

    scheduler = OfOneWorker(app, lazy=True)
    scheduler.worker_pid = os.getppid()
    monkeypatch.setattr(os, "getppid", lambda: 1)
    with pytest.raises(SystemExit):
        scheduler.tick()
