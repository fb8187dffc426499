"""Marks for tests that need something a machine may lack; PODIUM_REQUIRE turns a skip into a failure."""

import os
import shutil
import socket
from collections.abc import Callable
from functools import cache
from urllib.parse import urlsplit

import pytest


def _port_answers(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 0), timeout=1):
            return True
    except OSError:
        return False


POSTGRES_URL = os.environ.get("PODIUM_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
REDIS_URL = os.environ.get("PODIUM_TEST_REDIS", "redis://127.0.0.1:6379/0")
RABBITMQ_URL = os.environ.get("PODIUM_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672//")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""


def _docker_answers() -> bool:
    try:
        import docker

        return bool(docker.from_env(timeout=5).ping())
    except Exception:  # noqa: BLE001 - any failure to reach an engine means there is none
        return False


def _bubblewrap_works() -> bool:
    from runners.agent.sandbox import bubblewrap

    return bubblewrap.why_unavailable() == ""


CHECKS: dict[str, Callable[[], bool]] = {
    "postgres": lambda: _port_answers(POSTGRES_URL),
    "redis": lambda: _port_answers(REDIS_URL),
    "rabbitmq": lambda: _port_answers(RABBITMQ_URL),
    "docker": _docker_answers,
    "chromium": lambda: bool(CHROMIUM),
    "bubblewrap": _bubblewrap_works,
    "gpu": lambda: shutil.which("nvidia-smi") is not None,
    "nvcc": lambda: shutil.which("nvcc") is not None,
    "ccache": lambda: shutil.which("ccache") is not None,
}


@cache
def present(name: str) -> bool:
    return CHECKS[name]()


def required(name: str) -> bool:
    return name in {word.strip() for word in os.environ.get("PODIUM_REQUIRE", "").split(",")}


def requires(name: str) -> pytest.MarkDecorator:
    """Skip where `name` is missing, unless PODIUM_REQUIRE lists it: then the test runs and fails for want of it."""
    missing = not required(name) and not present(name)
    return pytest.mark.skipif(missing, reason=f"needs {name}, which this machine does not offer")
