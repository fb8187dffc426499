"""The site of a run: two nodes, one of them on a small disk of its own, and a database and a broker that may crash."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from runners.agent.sandbox.processes import read, tree_of
from tests.e2e.processes import END_SECONDS, ROOT
from tests.e2e.stack import Stack
from tests.faults.services import Postgres, RabbitMQ

LEASE_SECONDS = 6.0
"""As in Stack.environment."""
SMALL_DISK, DISK_BYTES = "node-2", 256 << 20
NODES = ("node", SMALL_DISK)
COMM_LENGTH = 15
"""The kernel keeps no more of a program's name."""


@dataclass
class Site(Stack):
    postgres: Postgres | None = None
    rabbitmq: RabbitMQ | None = None
    submission: int = 0
    agents: list[int] = field(default_factory=list)
    """Process ids of all agents that ever ran."""
    deaths: list[tuple[str, float]] = field(default_factory=list)
    """Nodes that were killed, and when, in seconds since 1970."""

    def start_node(self, name: str) -> None:
        super().start_node(name)
        self.agents.append(self.processes[name].pid)

    def commands(self, name: str, program: str) -> list[int]:
        """Processes of the node's sandboxes that run the program."""
        tree = tree_of(self.processes[name].pid)
        return [pid for pid in tree if read(Path(f"/proc/{pid}/comm")).strip() == program[:COMM_LENGTH]]

    def wait_for_command(self, name: str) -> None:
        """Return while a sample of the node sleeps."""
        self.wait_until(lambda: bool(self.commands(name, "sleep")), f"{name} runs a sample", every_seconds=0.02)

    def signal_agent(self, name: str, number: int) -> None:
        """Signal the agent alone; its sandboxes are left to themselves."""
        os.kill(self.processes[name].pid, number)

    def kill_agent(self, name: str) -> None:
        """kill −9 of the agent alone."""
        process = self.processes.pop(name)
        self.deaths.append((name, time.time()))
        process.kill()
        process.wait(timeout=END_SECONDS)

    def wait_until_site_answers(self) -> None:
        self.wait_until(lambda: requests.get(f"{self.url}/readyz", timeout=20).ok, "the site answers")

    def n_done(self) -> int:
        """Evaluations that have a result; 0 while the site does not answer."""
        try:
            answer = requests.get(f"{self.url}/api/v1/submissions/{self.submission}/progress", timeout=10)
        except requests.RequestException:
            return 0
        return int(answer.json()["done"]) if answer.ok else 0

    def ledger(self) -> dict[str, Any]:
        """See ledger.py."""
        command = [sys.executable, str(ROOT / "tests/faults/ledger.py")]
        done = subprocess.run(command, env=self.environment, cwd=ROOT, check=True, capture_output=True)
        said: dict[str, Any] = json.loads(done.stdout)
        return said

    def wrong_standings(self) -> list[str]:
        """Lines on standings that differ from those recomputed."""
        try:
            self.manage("rebuild_standings", "--check")
        except subprocess.CalledProcessError as error:
            return [f"standings: {error.stdout}{error.stderr}"]
        return []


@contextmanager
def on_sqlite_and_folder(folder: Path) -> Iterator[Site]:
    site = Site(folder, f"sqlite:///{folder}/site.sqlite3", f"filesystem://{folder}/broker", sandbox="bubblewrap")
    with _small_disk(site):
        yield site


@contextmanager
def on_postgresql_and_rabbitmq(folder: Path) -> Iterator[Site]:
    site = Site(folder, "", "", sandbox="bubblewrap")
    with _small_disk(site):
        site.postgres, site.rabbitmq = Postgres(site, folder / "postgres"), RabbitMQ(site, folder / "rabbitmq")
        site.database_url, site.broker_url = site.postgres.url, site.rabbitmq.url
        site.postgres.start()
        site.rabbitmq.start()
        yield site


@contextmanager
def _small_disk(site: Site) -> Iterator[None]:
    """Stop the site at the end, whatever became of it, and take its small disk away."""
    disk = site.folder / SMALL_DISK
    disk.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(disk)], check=True)
    try:
        yield
    finally:
        site.stop()
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
