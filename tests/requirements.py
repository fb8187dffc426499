"""Requirements of tests that a machine may lack.

A test says so with `requires(name)`. tests/conftest.py skips it where `name` is missing, unless PODIUM_REQUIRE lists
`name`: then the test runs and fails. What needs one of REST is not part of `make test`.
"""

import os
import shutil
import socket
import subprocess
import tempfile
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
RABBITMQ4_URL = os.environ.get("PODIUM_TEST_RABBITMQ4", "amqp://guest:guest@127.0.0.1:5682//")
"""The broker that scripts/newer_rabbitmq.sh starts."""
VERIFIERS_PYTHON = os.environ.get("PODIUM_TEST_VERIFIERS", "")
"""A Python with verifiers, which needs another version of openai than Podium."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""


def _docker_works() -> bool:
    from runners.agent.sandbox import docker

    return docker.why_unavailable() == ""


def _bubblewrap_works() -> bool:
    from runners.agent.sandbox import bubblewrap

    return bubblewrap.why_unavailable() == ""


def _tmpfs_mounts() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, check=False).returncode:
            return False
        return subprocess.run(["umount", folder], check=False).returncode == 0


def _slurm_is_installed() -> bool:
    """A cluster of a test's own needs root, and Slurm's daemons with munge's."""
    programs = ("munged", "slurmctld", "slurmd", "sbatch")
    return os.geteuid() == 0 and all(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in programs)


def _has_verifiers() -> bool:
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('verifiers.v1') is None)"
    return bool(VERIFIERS_PYTHON) and subprocess.run([VERIFIERS_PYTHON, "-c", look], check=False).returncode == 0


CHECKS: dict[str, Callable[[], bool]] = {
    "postgres": lambda: _port_answers(POSTGRES_URL),
    "redis": lambda: _port_answers(REDIS_URL),
    "rabbitmq": lambda: _port_answers(RABBITMQ_URL),
    "rabbitmq4": lambda: _port_answers(RABBITMQ4_URL),
    "docker": _docker_works,
    "chromium": lambda: bool(CHROMIUM),
    "bubblewrap": _bubblewrap_works,
    "gpu": lambda: shutil.which("nvidia-smi") is not None,
    "nvcc": lambda: shutil.which("nvcc") is not None,
    "cuobjdump": lambda: shutil.which("cuobjdump") is not None and shutil.which("nvdisasm") is not None,
    "ccache": lambda: shutil.which("ccache") is not None,
    "tmpfs": _tmpfs_mounts,
    "slurm": _slurm_is_installed,
    "verifiers": _has_verifiers,
}


REST = frozenset(
    {"postgres", "redis", "rabbitmq", "rabbitmq4", "docker", "nvcc", "cuobjdump", "ccache", "gpu", "verifiers"}
)
"""Tests that need one of these are left to `make test-rest`."""


@cache
def present(name: str) -> bool:
    return CHECKS[name]()


def required(name: str) -> bool:
    return name in {word.strip() for word in os.environ.get("PODIUM_REQUIRE", "").split(",")}


def requires(name: str) -> pytest.MarkDecorator:
    """Marks a test that needs `name`, a key of CHECKS."""
    return pytest.mark.needs(name)


def why_skipped(name: str) -> str:
    """The reason to skip a test that needs `name`; "" where the test is to run."""
    return "" if required(name) or present(name) else f"needs {name}, which this machine does not offer"
