"""The site under measurement: gunicorn, its worker and a PostgreSQL database, and their processor time by /proc."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from benchmarks.site import set_up

DATABASE_URL = os.environ.get("PODIUM_BENCH_DATABASE_URL", "postgresql://postgres@127.0.0.1/podium_fleet_bench")
BROKER_URL = os.environ.get("PODIUM_BENCH_BROKER_URL", "amqp://guest:guest@127.0.0.1:5672//")
PORT = int(os.environ.get("PODIUM_BENCH_PORT", "8951"))
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
LOOK_SECONDS = 0.5
READY_SECONDS = 60.0


@dataclass
class Spent:
    """Processor seconds of each part since the start."""

    web: float = 0.0
    worker: float = 0.0
    database: float = 0.0

    @property
    def total(self) -> float:
        return self.web + self.worker + self.database

    def since(self, start: "Spent") -> "Spent":
        return Spent(self.web - start.web, self.worker - start.worker, self.database - start.database)


@dataclass
class Processes:
    """The site's processes. Backends of PostgreSQL are known by the database's name in their titles; their last half
    second is lost when they end."""

    database: str
    web: "subprocess.Popen[bytes]"
    worker: "subprocess.Popen[bytes]"
    _backends: dict[int, float] = field(default_factory=dict)
    _stopping: threading.Event = field(default_factory=threading.Event)

    def spent(self) -> Spent:
        self._look()
        web, worker = (processor_seconds(one.pid) for one in (self.web, self.worker))
        return Spent(web, worker, sum(self._backends.values()))

    def watch(self) -> None:
        while not self._stopping.wait(LOOK_SECONDS):
            self._look()

    def stop(self) -> None:
        self._stopping.set()
        for one in (self.web, self.worker):
            one.send_signal(signal.SIGTERM)
        for one in (self.web, self.worker):
            with suppress(subprocess.TimeoutExpired):
                one.wait(20)
            one.kill()

    def _look(self) -> None:
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and self.database in _title(folder):
                self._backends[int(folder.name)] = _cpu_seconds(int(folder.name))


def own_and_backends(database: str) -> Callable[[], float]:
    """A clock of this process's processor time and that of the database's backends."""
    found = Processes(database, None, None)  # type: ignore[arg-type]

    def seconds() -> float:
        found._look()
        return time.process_time() + sum(found._backends.values())

    return seconds


def _title(folder: Path) -> str:
    try:
        title = (folder / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
    return title if title.startswith("postgres:") else ""


def _tree(pid: int) -> list[int]:
    """The process and all below it."""
    found = [pid]
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [one for child in file.read_text().split() for one in _tree(int(child))]
    return found


def processor_seconds(pid: int) -> float:
    """Processor time of a process and of all below it, those that have ended included."""
    return sum(map(_cpu_seconds, _tree(pid)))


def command_seconds(pid: int) -> float:
    """The same without the process itself: of the commands that it has run or runs."""
    return sum(map(_cpu_seconds, _tree(pid)[1:])) + _cpu_seconds(pid, of=slice(13, 15))


def _cpu_seconds(pid: int, of: slice = slice(11, 15)) -> float:
    """Processor time of the process and of its children that have ended; or of some of these fields."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[of])) * TICK_SECONDS


@contextmanager
def site() -> Iterator[tuple[Path, str]]:
    """An empty database, a folder and settings for it. Yields the folder and the database's name."""
    import psycopg

    server, name = urlunsplit(urlsplit(DATABASE_URL)._replace(path="/postgres")), urlsplit(DATABASE_URL).path[1:]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
            os.environ.update(
                DATABASE_URL=DATABASE_URL,
                PODIUM_BROKER_URL=BROKER_URL,
                PODIUM_VAR_DIR=folder,
                PODIUM_SITE_URL=f"http://127.0.0.1:{PORT}",
                DJANGO_SETTINGS_MODULE="leaderboard.settings",
            )
            set_up()
            yield Path(folder), name
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextmanager
def processes(folder: Path, database: str, *, with_worker: bool = True) -> Iterator[Processes]:
    """Gunicorn and the worker, started as the Procfile says."""
    lines = dict(line.split(": exec ", 1) for line in Path("Procfile").read_text().splitlines())
    log = (folder / "log").open("wb")
    bin_folder = Path(sys.executable).parent
    commands = [lines["site"].replace("$PORT", str(PORT)).split(), lines["worker"].split()]
    if not with_worker:
        commands[1] = ["sleep", "infinity"]
    started = [
        subprocess.Popen(
            [str(bin_folder / words[0]) if (bin_folder / words[0]).exists() else words[0], *words[1:]],
            stdout=log, stderr=log,
        )
        for words in commands
    ]  # fmt: skip
    found = Processes(database, started[0], started[1])
    threading.Thread(target=found.watch, daemon=True).start()
    try:
        _wait_until_ready(folder)
        yield found
    finally:
        found.stop()
        log.close()


def _wait_until_ready(folder: Path) -> None:
    import requests

    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        with suppress(requests.RequestException):
            if requests.get(f"http://127.0.0.1:{PORT}/livez", timeout=5).ok:
                return
        time.sleep(0.2)
    raise RuntimeError((folder / "log").read_text()[-3000:])
