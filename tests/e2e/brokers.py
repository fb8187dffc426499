"""Brokers of a test's own: the machine's are shared."""

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.e2e.processes import Processes, free_port
from tests.requirements import RABBITMQ4_URL, RABBITMQ_URL, REDIS_URL

REDIS_SERVER = shutil.which("redis-server") or ""
RABBITMQCTL = {
    RABBITMQ_URL: shutil.which("rabbitmqctl") or "",
    RABBITMQ4_URL: shutil.which(os.environ.get("PODIUM_TEST_RABBITMQ4CTL", "/var/tmp/podium-rabbitmq4/rabbitmqctl"))
    or "",
}
"""The program that administers each server, if this machine has it."""


def redis_url() -> str:
    """One of the server's databases: queues of two sites have the same names."""
    return f"{REDIS_URL.rpartition('/')[0]}/{uuid.uuid4().int % 15 + 1}"


@contextmanager
def rabbitmq_url(server: str = RABBITMQ_URL) -> Iterator[str]:
    """A virtual host of the test's own, if this user may make one."""
    name = f"podium-{uuid.uuid4().hex[:8]}"
    parts = urlsplit(server)
    if not _rabbitmqctl(server, "add_vhost", name):
        yield server
        return
    _rabbitmqctl(server, "set_permissions", "-p", name, parts.username or "guest", ".*", ".*", ".*")
    try:
        yield f"{parts.scheme}://{parts.netloc}/{name}"
    finally:
        _rabbitmqctl(server, "delete_vhost", name)


@contextmanager
def reader_of(url: str) -> Iterator[str]:
    """The same address with an account that may only read, if this user may make one."""
    name, parts = f"reader-{uuid.uuid4().hex[:8]}", urlsplit(url)
    server = next(one for one in RABBITMQCTL if urlsplit(one).port == parts.port)
    vhost = parts.path.removeprefix("/") or "/"
    if not _rabbitmqctl(server, "add_user", name, "secret"):
        yield url
        return
    _rabbitmqctl(server, "set_permissions", "-p", vhost, name, "", "", ".*")
    try:
        yield f"{parts.scheme}://{name}:secret@{parts.hostname}:{parts.port}{parts.path}"
    finally:
        _rabbitmqctl(server, "delete_user", name)


def _rabbitmqctl(server: str, *arguments: str) -> bool:
    command = [RABBITMQCTL[server], "-q", *arguments]
    return bool(command[0]) and subprocess.run(command, check=False, capture_output=True).returncode == 0


class RedisServer:
    """A Redis server that a test may kill and start again."""

    def __init__(self, processes: Processes, folder: Path) -> None:
        folder.mkdir()
        self._processes, self._folder, self._port = processes, folder, free_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        options = ["--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder)]
        self._processes.launch("redis", [REDIS_SERVER, *options], {})

    def kill(self) -> None:
        self._processes.kill("redis")
