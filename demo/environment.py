"""The demo's configuration: everything of its own under var/, whatever this shell exports for other installations."""

import os
import socket
import sys
from pathlib import Path

from runners.agent.sandbox import SandboxUnavailable, choose

_NOT_OURS = ("DATABASE_URL", "PODIUM_BROKER_URL", "PODIUM_BLOB_URL", "PODIUM_NODE_TOKEN", "PODIUM_SECRET_KEY")


class DemoRefused(RuntimeError):
    """The demo cannot run here as asked; the message says why and what to do."""


def prepare(port: int) -> None:
    """Set the variables that every process of the demo reads; raises DemoRefused where the demo cannot run."""
    for name in _NOT_OURS:
        os.environ.pop(name, None)
        os.environ.pop(f"{name}_FILE", None)
    os.environ.update(
        PODIUM_VAR_DIR=str(Path(os.environ.get("PODIUM_VAR_DIR", "var")).resolve()),
        PODIUM_SITE_URL=f"http://127.0.0.1:{port}",
        PODIUM_BROKER_URL="filesystem://",
        PODIUM_DEMO="1",
        PODIUM_ALLOWED_HOSTS="localhost,127.0.0.1,[::1]",
        DJANGO_SETTINGS_MODULE="leaderboard.settings",
        PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        PYTHONUNBUFFERED="1",
    )
    _check_port(port)
    _check_sandbox()


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise DemoRefused(
                f"Port {port} of 127.0.0.1 cannot be used ({error.strerror}). Choose another: make demo PORT={port + 1}"
            ) from error


def _check_sandbox() -> None:
    try:
        choose(os.environ.get("PODIUM_SANDBOX") or "bubblewrap")
    except SandboxUnavailable as error:
        raise DemoRefused(
            f"{error}\nThe demo's own code is harmless; to run it without a sandbox: make demo SANDBOX=unconfined"
        ) from error
