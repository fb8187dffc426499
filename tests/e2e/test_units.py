"""The command lines of the systemd units: killed with work under way and started again, backed up and restored."""

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.e2e.processes import ROOT, free_port
from tests.e2e.stack import BIN, Stack
from tests.packs import problem, solution
from tests.requirements import requires

UNITS = ROOT / "deploy/systemd"
N_SAMPLES = 12

pytestmark = [pytest.mark.rest, requires("bubblewrap")]


@dataclass
class OnUnits(Stack):
    """A site whose processes have the command lines of the units, on ports and folders of the test's own."""

    nodes_port: int = field(default_factory=free_port)

    def lines(self, unit: str) -> list[list[str]]:
        """The unit's commands."""
        own = {
            "/opt/podium/bin/": f"{BIN}/",
            "/var/backups/podium": str(self.folder / "backups"),
            "127.0.0.1:8000": f"127.0.0.1:{self.port}",
            "127.0.0.1:8001": f"127.0.0.1:{self.nodes_port}",
        }
        text = (UNITS / f"podium-{unit}.service").read_text(encoding="utf-8")
        for theirs, ours in own.items():
            text = text.replace(theirs, ours)
        return [shlex.split(line[10:]) for line in text.splitlines() if line.startswith("ExecStart=")]

    def run_unit(self, unit: str) -> None:
        for command in self.lines(unit):
            subprocess.run(command, env=self.environment, cwd=self.folder, check=True, capture_output=True)

    def migrate(self) -> None:
        super().migrate()
        self.run_unit("setup")

    def start_site(self) -> None:
        [web], [nodes] = self.lines("web"), self.lines("nodes")
        self.launch("site", web, self.environment)
        self.launch("nodes", nodes, self.environment)

    def start_worker(self) -> None:
        [worker] = self.lines("worker")
        self.launch("worker", worker, self.environment | {"PODIUM_SANDBOX": self.sandbox})

    def start_node(self, name: str) -> None:
        [node] = self.lines("node")
        own = {
            "PODIUM_SITE_URL": f"http://127.0.0.1:{self.nodes_port}",
            "PODIUM_NODE_TOKEN": self.tokens[name],
            "PODIUM_SANDBOX": self.sandbox,
            "PODIUM_VAR_DIR": str(self.folder / name),
        }
        self.spawn(name, *node, **own)

    def start_all(self) -> None:
        self.start_site()
        self.start_worker()
        self.start_node("node")
        self.wait_until(lambda: requests.get(f"{self.url}/readyz", timeout=20).ok, "the site answers")

    def rows(self) -> list[dict[str, Any]]:
        """The evaluations in the database."""
        command = [sys.executable, str(ROOT / "tests/faults/ledger.py")]
        read = subprocess.run(command, env=self.environment, cwd=ROOT, check=True, capture_output=True, text=True)
        rows: list[dict[str, Any]] = json.loads(read.stdout)["evaluations"]
        return rows


def test_nothing_is_lost_by_kill_restart_and_restore(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    database = tmp_path / "site.sqlite3"
    stack = OnUnits(folder, f"sqlite:///{database}", f"filesystem://{tmp_path}/broker", sandbox="bubblewrap")
    try:
        stack.start([problem("a/1"), problem("a/2")])
        rows = [solution(f"a/{1 + n % 2}", f"sleep 0.5; exit {n % 3 == 0:d}") for n in range(N_SAMPLES)]
        submission = stack.submit(rows)
        stack.wait_until(lambda: stack.states(submission).get("done", 0) >= 2, "some samples are judged")
        for name in ("site", "nodes", "worker", "node"):
            stack.kill(name)
        assert any(row["verdict"] is None for row in stack.rows()), "they are killed with work under way"

        stack.start_all()
        stack.wait_for(submission)
        after = stack.rows()
        assert [row["n_results"] for row in after] == [1] * N_SAMPLES
        assert [row["verdict"] == "passed" for row in after].count(True) == 8

        stack.stop()
        stack.processes.clear()
        stack.run_unit("backup")
        for path in tmp_path.glob(f"{database.name}*"):
            path.unlink()
        stack.manage("restore", str(folder / "backups"), "--replace")
        stack.start_all()
        assert stack.rows() == after
        assert stack.states(submission) == {"done": N_SAMPLES}
    except BaseException:
        print(stack.logs())  # noqa: T201 - what a person needs to see of a failed run
        raise
    finally:
        stack.stop()
