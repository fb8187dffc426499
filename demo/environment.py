"""The demo's configuration: everything of its own under var/, whatever this shell exports for other installations."""

import fcntl
import os
import socket
import sys
from pathlib import Path
from typing import IO

from runners.agent.sandbox import SandboxUnavailable, choose

_NOT_OURS = ("DATABASE_URL", "PODIUM_BROKER_URL", "PODIUM_BLOB_URL", "PODIUM_NODE_TOKEN", "PODIUM_SECRET_KEY")


_held: list[IO[str]] = []
"""Keeps the lock's file open until this process ends, however it ends."""


class DemoRefused(RuntimeError):
    """The demo cannot run here as asked; the message says why and what to do."""


def chosen_port() -> int:
    """PORT, else 8000. Raises DemoRefused where that is no port."""
    text = os.environ.get("PORT") or "8000"
    if not text.isdecimal() or not 0 < int(text) < 65_536:
        raise DemoRefused(f"PORT is {text!r}; use a number from 1 to 65535, as in: make demo PORT=9000")
    return int(text)


def pmpp_port(port: int) -> int:
    """The port of the process that serves PMPP's routes."""
    return port + 10 if port + 10 < 65_536 else port - 10


def prepare(port: int) -> None:
    """Set the variables that every process of the demo reads; raises DemoRefused where the demo cannot run."""
    for name in _NOT_OURS:
        os.environ.pop(name, None)
        os.environ.pop(f"{name}_FILE", None)
    os.environ.update(
        PODIUM_VAR_DIR=str(Path(os.environ.get("PODIUM_VAR_DIR", "var")).resolve()),
        PODIUM_SITE_URL=f"http://127.0.0.1:{port}",
        PODIUM_PMPP_PORT=str(pmpp_port(port)),
        PODIUM_PMPP_URL=f"http://127.0.0.1:{pmpp_port(port)}",
        PODIUM_BROKER_URL="filesystem://",
        PODIUM_DEMO="1",
        PODIUM_AUDIT_MUTANTS="0",  # an organiser of the demo starts audits, which take minutes
        PODIUM_ALLOWED_HOSTS="localhost,127.0.0.1,[::1]",
        DJANGO_SETTINGS_MODULE="leaderboard.settings",
        PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        PYTHONUNBUFFERED="1",
    )
    _check_port(port, port + 1)
    _check_port(pmpp_port(port), port + 1)
    _check_sandbox()
    _held.append(hold(Path(os.environ["PODIUM_VAR_DIR"]), port))


def _check_port(port: int, instead: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise DemoRefused(
                f"Port {port} of 127.0.0.1 cannot be used ({error.strerror}). Choose another: make demo PORT={instead}"
            ) from error


def _check_sandbox() -> None:
    try:
        choose(os.environ.get("PODIUM_SANDBOX") or "bubblewrap")
    except SandboxUnavailable as error:
        raise DemoRefused(
            f"{error}\nThe demo's own code is harmless; to run it without a sandbox: make demo SANDBOX=unconfined"
        ) from error


def hold(var_dir: Path, port: int) -> IO[str]:
    """Take the lock of `var_dir`: a second demo would give the first one's node another token. Raises DemoRefused."""
    var_dir.mkdir(parents=True, exist_ok=True)
    lock = (var_dir / "demo.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        where = lock.read().strip()
        lock.close()
        raise DemoRefused(
            f"A demo runs from {var_dir} already, at {where}. Stop it with Ctrl-C in its terminal,"
            " or give this one a folder of its own: PODIUM_VAR_DIR=/tmp/podium-2 make demo PORT=…"
        ) from None
    lock.truncate(0)
    lock.write(f"http://127.0.0.1:{port}")
    lock.flush()
    return lock
