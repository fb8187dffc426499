"""Which sandboxes to test here, under which limits, and how to run a command in one."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from runners.agent.sandbox import Command, Limits, Outcome, Sandbox
from runners.agent.sandbox.bubblewrap import BubblewrapSandbox
from runners.agent.sandbox.docker import DockerSandbox
from runners.agent.sandbox.unconfined import UnconfinedSandbox
from tests.requirements import requires

MIB = 1 << 20
LIMITS = Limits(
    wall_seconds=60,
    memory_bytes=256 * MIB,
    processes=64,
    file_bytes=64 * MIB,
    workspace_bytes=128 * MIB,
    output_bytes=64 * 1024,
)
BUBBLEWRAP = pytest.param("bubblewrap", marks=requires("bubblewrap"))
DOCKER = pytest.param("docker", marks=requires("docker"))
CONFINING = [BUBBLEWRAP, DOCKER]
EVERY = [*CONFINING, "unconfined"]

Run = Callable[..., Outcome]


def open_sandbox(name: str, cache: Path) -> Sandbox:
    if name == "bubblewrap":
        return BubblewrapSandbox(cache)
    if name == "docker":
        return DockerSandbox(cache)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return UnconfinedSandbox(cache)


def runner(sandbox: Sandbox, workspace: Path) -> Run:
    def run_command(shell: str, limits: Limits = LIMITS, **options: object) -> Outcome:
        return sandbox.run(Command(shell, workspace, limits, **options))  # type: ignore[arg-type]

    return run_command


NAP_SECONDS = f"7654.{os.getpid()}"
"""No test waits for it, and no process of another run of these tests sleeps for as long."""


def processes_named(word: str) -> list[int]:
    """Processes on this machine whose command line holds `word`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]
