"""A whole Podium in processes of its own: site, site worker and node, on any database and broker."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from tests.packs import problem_pack, solution_pack

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
PATIENCE_SECONDS = 120.0
"""Takes some seconds on a quiet machine; one that compiles CUDA beside it may need many times as long."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Stack:
    """`start` migrates, seeds and starts everything; `stop` ends it, however it is by then."""

    folder: Path
    database_url: str
    broker_url: str
    sandbox: str
    port: int = field(default_factory=free_port)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        return kept | {
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
            "PYTHONPATH": str(ROOT),
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "PODIUM_VAR_DIR": str(self.folder / "site"),
            "DATABASE_URL": self.database_url,
            "PODIUM_BROKER_URL": self.broker_url,
            "PODIUM_SITE_URL": self.url,
            "PODIUM_LEASE_SECONDS": "6",
            "PODIUM_HEARTBEAT_SECONDS": "1",
            "PODIUM_RANKING_INTERVAL_SECONDS": "1",
        }

    def start(self, problems: Sequence[dict[str, Any]]) -> None:
        pack = problem_pack(problems)
        (self.folder / "pack").mkdir(parents=True)
        (self.folder / "pack" / "metadata.json").write_bytes(pack.metadata_bytes)
        (self.folder / "pack" / "problems.jsonl").write_bytes(pack.jsonl_bytes)
        self.manage("migrate", "--verbosity", "0")
        seed = [sys.executable, str(ROOT / "tests/e2e/seed.py"), str(self.folder / "pack")]
        seeded = subprocess.run(seed, env=self.environment, cwd=ROOT, check=True, capture_output=True, text=True)
        self.tokens = json.loads(seeded.stdout)
        self.start_site()
        self.spawn("worker", sys.executable, "manage.py", "site_worker")
        self.start_node("node")
        self.wait_until(lambda: requests.get(f"{self.url}/readyz", timeout=20).ok, "the site answers")

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, env=self.environment, cwd=ROOT, check=True, capture_output=True, text=True)
        return done.stdout

    def start_site(self) -> None:
        bind = f"127.0.0.1:{self.port}"
        self.spawn(
            "site", str(BIN / "gunicorn"), "leaderboard.wsgi", "--bind", bind, "--threads", "4", "--workers", "2"
        )

    def start_node(self, name: str) -> None:
        own = {
            "PODIUM_NODE_TOKEN": self.tokens[name],
            "PODIUM_SANDBOX": self.sandbox,
            "PODIUM_VAR_DIR": str(self.folder / name),
            "PODIUM_NODE_SLOTS": "2",
        }
        self.spawn(name, str(BIN / "podium"), "node", **own)

    def spawn(self, name: str, *command: str, **extra: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            environment = self.environment | extra
            if name not in {"site", "worker"}:
                environment.pop("DATABASE_URL")  # a node has no database
            self.processes[name] = subprocess.Popen(
                command, env=environment, cwd=ROOT, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """Signal the process's whole group, as a crash of the machine would."""
        process = self.processes.pop(name)
        os.killpg(process.pid, number)
        process.wait(timeout=20)

    def stop(self) -> None:
        for name in list(self.processes):
            try:
                self.kill(name, signal.SIGTERM)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                self.processes.pop(name, None)

    def api(self, method: str, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens['user']}"}
        answer = requests.request(method, f"{self.url}/api/v1/{path}", headers=headers, timeout=30, **options)
        assert answer.ok, f"{path}: {answer.status_code} {answer.text[:500]}"
        return answer.json()

    def submit(self, solutions: Sequence[dict[str, Any]]) -> int:
        files = {"file": ("test-1-one-solutions.tar.gz", solution_pack(solutions), "application/gzip")}
        data = {"release": "test-1", "entrant": "one", "tracks": "cpu-test"}
        return int(self.api("POST", "submissions/", data=data, files=files)["id"])

    def wait_for(self, submission: int, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        self.wait_until(lambda: self.api("GET", f"submissions/{submission}/")["state"] == "done", "graded", seconds)
        state: dict[str, Any] = self.api("GET", f"submissions/{submission}/")
        return state

    def wait_until(self, condition: Callable[[], bool], what: str, seconds: float = PATIENCE_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if condition():
                    return
            except (requests.ConnectionError, requests.Timeout):
                pass  # a busy machine answers late; the deadline alone decides
            time.sleep(0.1)
        raise AssertionError(f"waited {seconds} s for: {what}\n{self.logs()}")

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text()[-4000:]}" for path in sorted(self.folder.glob("*.log")))
