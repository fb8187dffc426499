"""Site, site worker and node as processes of this machine, and the commands that people run beside them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from podium.remote.api_client import ApiRefused
from tests.e2e.processes import ROOT, Processes, free_port
from tests.gpu.fleet import remains
from tests.gpu.fleet.report import Failed, Report

OURS = ("PODIUM_", "DJANGO_", "DATABASE_")
"""Variables of another installation that this shell may know."""
COMMAND_SECONDS = 60
OUTLIVE_SECONDS = 10
"""A killed node's processes end at once; the driver may need a moment to let go of theirs."""
HEARTBEAT_SECONDS = 2
"""So that stages are seen as they come."""
Found = TypeVar("Found")


@dataclass
class Machine(Processes):
    """Logs go to `folder`, all else to `work`; every wait is `patience` times as long as it says."""

    work: Path
    report: Report
    patience: int
    port: int = field(default_factory=free_port)
    started: set[remains.Process] = field(default_factory=set)
    """The children of the processes when they were told to end."""

    def __post_init__(self) -> None:
        for name in ("site", "node", "home"):
            (self.work / name).mkdir(parents=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def _outside(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        paths = [str(ROOT), *filter(None, [kept.get("PYTHONPATH")])]
        own_bin = Path(sys.executable).parent
        return kept | {
            "PATH": f"{own_bin}{os.pathsep}{kept.get('PATH', os.defpath)}",
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONUNBUFFERED": "1",
        }

    @property
    def _site_environment(self) -> dict[str, str]:
        return self._outside | {
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
            "PODIUM_VAR_DIR": str(self.work / "site"),
            "PODIUM_BROKER_URL": self._broker_url,
            "PODIUM_SITE_URL": self.url,
            "XDG_RUNTIME_DIR": str(self.work / "site"),  # for gunicorn's control socket
            "PODIUM_HEARTBEAT_SECONDS": str(HEARTBEAT_SECONDS),
            "PODIUM_AUDIT_MUTANTS": "0",
        }

    @property
    def _broker_url(self) -> str:
        return f"filesystem://{self.work}/broker"

    def start_site(self) -> None:
        """And the site worker, which sees to what has no request to wait for it."""
        gunicorn = ["-m", "gunicorn", "leaderboard.wsgi", "--bind", f"127.0.0.1:{self.port}"]
        workers = ["--workers", "2", "--threads", "4", "--worker-class", "gthread", "--keep-alive", "75"]
        self.launch("site", [sys.executable, *gunicorn, *workers], self._site_environment)
        worker = ["-m", "celery", "-A", "leaderboard", "worker", "--beat", "--pool", "threads", "--loglevel", "WARNING"]
        self.launch("worker", [sys.executable, *worker], self._site_environment)

    def start_node(self, token: str) -> None:
        own = {
            "PODIUM_SITE_URL": self.url,
            "PODIUM_NODE_TOKEN": token,
            "PODIUM_BROKER_URL": self._broker_url,
            "PODIUM_SANDBOX": "bubblewrap",
            "PODIUM_VAR_DIR": str(self.work / "node"),
        }
        self.launch("node", [sys.executable, "-m", "podium.cli", "node"], self._outside | own)

    def manage(self, *arguments: str) -> str:
        """The output of `manage.py`. Raises Failed."""
        return self._run(f"manage.py {arguments[0]}", ["manage.py", *arguments], self._site_environment)[0]

    def podium(self, *arguments: str, **extra: str) -> tuple[str, str]:
        """The output of `podium` on stdout and stderr, run by a user without stored settings. Raises Failed."""
        own = {"XDG_CONFIG_HOME": str(self.work / "home"), "COLUMNS": "200"}
        return self._run(f"podium {arguments[0]}", ["-m", "podium.cli", *arguments], self._outside | own | extra)

    def _run(self, name: str, command: list[str], environment: Mapping[str, str]) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, *command],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=COMMAND_SECONDS * self.patience,
        )
        if done.returncode:
            raise Failed(f"{name}: {done.stdout[-1500:]}{done.stderr[-3000:]}")
        return done.stdout, done.stderr

    def wait(self, find: Callable[[], Found | None], what: str, seconds: float, every_seconds: float = 0.2) -> Found:
        """The first thing found that is not None. Raises Stuck."""
        found: list[Found] = []

        def has_come() -> bool:
            try:
                one = find()
            except ApiRefused as refused:
                if refused.code != "unreachable":
                    raise
                return False
            found.extend([] if one is None else [one])
            return bool(found)

        self.wait_until(has_come, what, seconds * self.patience, every_seconds)
        return found[0]

    def kill_node(self) -> int:
        """kill -9 of the agent alone, as the kernel does where memory runs out; its number."""
        node = self.processes.pop("node")
        os.kill(node.pid, signal.SIGKILL)
        node.wait(timeout=COMMAND_SECONDS)
        return node.pid

    def end(self, name: str, seconds: float) -> None:
        """SIGTERM to the process alone; that it ends with status 0 in time is checked."""
        process = self.processes[name]
        self.started |= remains.below(process.pid)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            status: int | str = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            status = f"none after {seconds:g} s"
        else:
            del self.processes[name]
        self.report.say(f"{name} ended: status {status}, {time.monotonic() - began:.1f} s after SIGTERM")
        self.report.check(status == 0, f"on SIGTERM {name} ends with status {status}")

    def leave_nothing(self) -> None:
        """End what still runs; what outlives its parent is an error, and ended too."""
        for process in self.processes.values():
            self.started |= remains.below(process.pid)
        self.stop()
        left = self.outliving(self.started)
        self.report.check(not left, f"still there after the end: {', '.join(map(str, left))}")
        remains.end(left)

    def outliving(self, started: set[remains.Process]) -> list[remains.Process]:
        """The processes of `started`, and those in any sandbox here, that have not ended within OUTLIVE_SECONDS."""
        deadline = time.monotonic() + OUTLIVE_SECONDS
        while left := remains.still_there(started | set(remains.in_sandboxes_of(self.work))):
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        return left
