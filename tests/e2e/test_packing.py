"""The site's own worker packs uploads from its queue, and an upload outlives the worker that packed it."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.brokers import rabbitmq_url
from tests.e2e.stack import Stack
from tests.packing.uploads import CHECKOUT, FUNCTIONS, STATEMENT, zipped
from tests.requirements import requires

pytestmark = [requires("bubblewrap"), pytest.mark.rest]
UPLOAD = """
from pathlib import Path
from django.contrib.auth.models import User
from leaderboard.actions.problems.pack_uploads import upload
from problems.formats.packing_events import PackingKind
user, _ = User.objects.get_or_create(username="organiser", is_staff=True)
upload(user, PackingKind("{kind}"), "mine.zip", Path({path!r}).read_bytes(), "spring-1")
"""


@pytest.fixture(params=["folder", pytest.param("rabbitmq", marks=requires("rabbitmq"))])
def stack(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Stack]:
    with rabbitmq_url() if request.param == "rabbitmq" else nullcontext("filesystem://") as broker_url:
        made = Stack(tmp_path, f"sqlite:///{tmp_path}/site.sqlite3", broker_url, "bubblewrap")
        made.migrate()
        yield made
        made.stop()


def upload(stack: Stack, files: dict[str, str], kind: str) -> None:
    path = stack.folder / "mine.zip"
    path.write_bytes(zipped(files))
    stack.manage("shell", "--verbosity", "0", "-c", UPLOAD.format(kind=kind, path=str(path)))


def rows(stack: Stack) -> list[dict[str, Any]]:
    with sqlite3.connect(stack.folder / "site.sqlite3") as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("SELECT * FROM leaderboard_packing ORDER BY id")]


def test_uploads_are_packed_and_one_outlives_its_worker(stack: Stack) -> None:
    upload(stack, FUNCTIONS, "functions")
    upload(stack, CHECKOUT, "pmpp")
    stack.start_worker()
    stack.wait_until(lambda: [one["state"] for one in rows(stack)] == ["done", "done"], "both are packed")

    endless = {"mine/endless/def.py": "while True: pass\n", "mine/endless/problem.md": STATEMENT}
    upload(stack, endless, "functions")
    stack.wait_until(lambda: rows(stack)[2]["n_begun"] == 1, "its definition runs")
    worker = stack.processes.pop("worker")
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait(timeout=20)
    assert rows(stack)[2]["state"] == "packing"
    stack.start_worker()
    stack.wait_until(lambda: (rows(stack)[2]["n_lost"], rows(stack)[2]["n_begun"]) == (1, 1), "another worker packs it")
    worker = stack.processes.pop("worker")
    worker.send_signal(signal.SIGTERM)
    worker.wait(timeout=60)
    assert (rows(stack)[2]["state"], rows(stack)[2]["n_lost"]) == ("queued", 1)
