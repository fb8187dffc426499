"""A site of an earlier commit is killed with work under way, migrated, and goes on as this one: nothing is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.e2e.processes import ROOT
from tests.e2e.stack import Stack
from tests.packs import problem, solution
from tests.requirements import requires

BEFORE = os.environ.get("PODIUM_UPGRADE_FROM", "1af4274e2df108a11f0b978de0aee6b7d0ea33ed")
"""The last commit without forms of deployment and nodes that join: seven migrations ago."""
N_SAMPLES = 24

pytestmark = [pytest.mark.faults, requires("bubblewrap")]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of the earlier commit."""
    folder = tmp_path_factory.mktemp("earlier")
    packed = subprocess.run(["git", "archive", BEFORE], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        pytest.skip(f"the history here does not have {BEFORE[:8]}")
    subprocess.run(["tar", "--extract"], cwd=folder, input=packed.stdout, check=True)
    return folder


def rows_of(stack: Stack) -> dict[int, dict[str, Any]]:
    """The evaluations in the database, as the site of the stack's checkout reads them."""
    command = [sys.executable, str(stack.root / "tests/faults/ledger.py")]
    read = subprocess.run(command, env=stack.environment, cwd=stack.root, check=True, capture_output=True, text=True)
    return {one["evaluation"]: one for one in json.loads(read.stdout)["evaluations"]}


def done(stack: Stack, submission: int) -> int:
    return stack.states(submission).get("done", 0)


def upgrade(stack: Stack) -> None:
    stack.start([problem("a/1"), problem("a/2")])
    rows = [solution(f"a/{1 + n % 2}", f"sleep 0.5; exit {n % 3 == 0:d}") for n in range(N_SAMPLES)]
    submission = stack.submit(rows)
    stack.wait_until(lambda: done(stack, submission) >= 3, "some samples are judged")
    stack.kill("site")
    stack.kill("worker")
    before = {number: row for number, row in rows_of(stack).items() if row["verdict"]}
    assert 3 <= len(before) < N_SAMPLES, "it is stopped with work under way"

    stack.root = ROOT
    stack.manage("migrate", "--verbosity", "0")
    stack.start_site()
    stack.start_worker()
    stack.wait_until(lambda: requests.get(f"{stack.url}/readyz", timeout=20).ok, "the site answers")
    stack.wait_until(lambda: done(stack, submission) > len(before), "the node of the version before goes on")
    stack.kill("node")
    stack.start_node("node")
    stack.wait_for(submission)

    after = rows_of(stack)
    assert [row["n_results"] for row in after.values()] == [1] * N_SAMPLES, "none is lost and none judged twice"
    assert {number: after[number] for number in before} == before, "earlier results stay as they were"
    assert sorted(row["verdict"] == "passed" for row in after.values()) == [False] * 8 + [True] * 16
    assert "Stored equals recomputed." in stack.manage("rebuild_standings", "--check")


def run_on(tmp_path: Path, earlier: Path, database_url: str) -> None:
    stack = Stack(tmp_path, database_url, f"filesystem://{tmp_path}/broker", sandbox="bubblewrap", root=earlier)
    try:
        upgrade(stack)
    except BaseException:
        print(stack.logs())  # noqa: T201 - what a person needs to see of a failed run
        raise
    finally:
        stack.stop()


def test_a_site_on_sqlite_is_upgraded(tmp_path: Path, earlier: Path) -> None:
    run_on(tmp_path, earlier, f"sqlite:///{tmp_path}/site.sqlite3")


@requires("postgres")
def test_a_site_on_postgresql_is_upgraded(tmp_path: Path, earlier: Path, postgres: str) -> None:
    run_on(tmp_path, earlier, postgres)
