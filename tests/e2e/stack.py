"""A whole Podium in processes of its own: site, site worker and node, on any database and broker."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
from celery import Celery

from runners.wire.broker import celery_settings
from runners.wire.protocol import Stage
from runners.wire.queues import declared_by_site, queue_name
from tests.e2e.processes import PATIENCE_SECONDS, ROOT, Processes, free_port
from tests.packs import problem_pack, solution_pack

BIN = Path(sys.executable).parent
WORKER = (ROOT / "Procfile").read_text().split("worker: exec celery ")[1].splitlines()[0].split()
PMPP = (ROOT / "Procfile").read_text().split("pmpp: exec gunicorn ")[1].splitlines()[0].split()
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "PODIUM_CACHE_DIR")


@dataclass
class Stack(Processes):
    """`start` migrates, seeds and starts everything; `stop` ends it, however it is by then."""

    database_url: str
    broker_url: str
    sandbox: str
    port: int = field(default_factory=free_port)
    tokens: dict[str, str] = field(default_factory=dict)
    node_broker_url: str = ""
    """If the nodes have an account of their own."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return kept | {
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
            "PYTHONPATH": str(self.root),
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "PODIUM_VAR_DIR": str(self.folder / "site"),
            "DATABASE_URL": self.database_url,
            "PODIUM_BROKER_URL": self.broker_url,
            "PODIUM_SITE_URL": self.url,
            "PODIUM_LEASE_SECONDS": "6",
            "PODIUM_HEARTBEAT_SECONDS": "1",
            "PODIUM_RANKING_INTERVAL_SECONDS": "1",
            "PODIUM_AUDIT_MUTANTS": "0",
        }

    def start(self, problems: Sequence[dict[str, Any]]) -> None:
        pack = problem_pack(problems)
        (self.folder / "pack").mkdir(parents=True)
        (self.folder / "pack" / "metadata.json").write_bytes(pack.metadata_bytes)
        (self.folder / "pack" / "problems.jsonl").write_bytes(pack.jsonl_bytes)
        self.migrate()
        seed = [sys.executable, str(self.root / "tests/e2e/seed.py"), str(self.folder / "pack")]
        seeded = subprocess.run(seed, env=self.environment, cwd=self.root, check=True, capture_output=True, text=True)
        self.tokens = json.loads(seeded.stdout)
        self.start_site()
        self.start_worker()
        self.start_node("node")
        self.wait_until(lambda: requests.get(f"{self.url}/readyz", timeout=20).ok, "the site answers")

    def migrate(self) -> None:
        """Migrate the site's database, which takes 12 s of processor time. SQLite's is made once in a run of tests and
        copied: the run's workers share PODIUM_CACHE_DIR."""
        path = self.database_url.removeprefix("sqlite:///")
        if path == self.database_url:
            self.manage("migrate", "--verbosity", "0")
            return
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", os.getpid())
        kept = Path(os.environ["PODIUM_CACHE_DIR"]) / f"migrated-{run}.sqlite3"
        with kept.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.exists():
                self.manage("migrate", "--verbosity", "0")
                shutil.copyfile(path, kept)
        shutil.copyfile(kept, path)

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, env=self.environment, cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout

    def start_site(self) -> None:
        bind = f"127.0.0.1:{self.port}"
        self.spawn(
            "site", str(BIN / "gunicorn"), "leaderboard.wsgi", "--bind", bind, "--threads", "4", "--workers", "2"
        )

    def start_worker(self) -> None:
        self.spawn("worker", str(BIN / "celery"), *WORKER, PODIUM_SANDBOX=self.sandbox)

    def start_pmpp(self, **changes: str) -> str:
        """Start the process of PMPP's routes, which logs all it can; returns the address with the token."""
        own = {"PODIUM_PMPP_PORT": str(free_port()), "PODIUM_PMPP_LOG_LEVEL": "debug", "PODIUM_LOG_LEVEL": "DEBUG"}
        self.spawn("pmpp", str(BIN / "gunicorn"), *PMPP, "--access-logfile", "-", **own | changes)
        base = f"http://127.0.0.1:{own['PODIUM_PMPP_PORT']}/compat/pmpp/{self.tokens['pmpp']}"
        self.wait_until(lambda: requests.get(f"{base}/health", timeout=20).ok, "PMPP's routes answer")
        return base

    def start_node(self, name: str) -> None:
        own = {
            "PODIUM_NODE_TOKEN": self.tokens[name],
            "PODIUM_SANDBOX": self.sandbox,
            "PODIUM_VAR_DIR": str(self.folder / name),
            "PODIUM_NODE_SLOTS": "2",
            "PODIUM_BROKER_URL": self.node_broker_url or self.broker_url,
        }
        self.spawn(name, str(BIN / "podium"), "node", **own)

    def spawn(self, name: str, *command: str, **extra: str) -> None:
        environment = self.environment | extra
        if name not in {"site", "worker", "pmpp"}:
            environment.pop("DATABASE_URL")  # a node has no database
        self.launch(name, command, environment)

    def api(self, method: str, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens['user']}"}
        answer = requests.request(method, f"{self.url}/api/v1/{path}", headers=headers, timeout=30, **options)
        assert answer.ok, f"{path}: {answer.status_code} {answer.text[:500]}"
        return answer.json()

    @property
    def n_ready(self) -> int:
        """Messages in the track's queue that no node has."""
        with self._queue() as queue:
            return int(queue.queue_declare().message_count)

    def purge(self) -> int:
        """Delete the messages; returns how many there were."""
        with self._queue() as queue:
            return int(queue.purge())

    @contextmanager
    def _queue(self) -> Iterator[Any]:
        app = Celery("test", set_as_current=False, fixups=[])
        app.conf.update(celery_settings(self.broker_url, self.folder))
        with app.connection_for_read() as connection:
            yield declared_by_site(queue_name("cpu-test", Stage.BOTH))(connection.channel())

    def states(self, submission: int) -> dict[str, int]:
        """How many evaluations are queued, leased, done."""
        found: dict[str, int] = self.api("GET", f"submissions/{submission}/progress/")["states"]
        return found

    def submit(self, solutions: Sequence[dict[str, Any]]) -> int:
        files = {"file": ("test-1-one-solutions.tar.gz", solution_pack(solutions), "application/gzip")}
        data = {"release": "test-1", "entrant": "one", "tracks": "cpu-test"}
        return int(self.api("POST", "submissions/", data=data, files=files)["id"])

    def wait_for(self, submission: int, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        self.wait_until(lambda: self.api("GET", f"submissions/{submission}/")["state"] == "done", "graded", seconds)
        state: dict[str, Any] = self.api("GET", f"submissions/{submission}/")
        return state
