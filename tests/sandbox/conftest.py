"""Sandboxes that are there on this machine, opened once, and a workspace to run commands in."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners.agent.ground.native import default_cache_directory
from runners.agent.sandbox import Sandbox
from tests.sandbox.boxes import CONFINING, EVERY, Run, open_sandbox, runner


@pytest.fixture(scope="session")
def cache() -> Path:
    """The one of all tests: the supervisor is compiled once in a run."""
    return default_cache_directory()


@pytest.fixture(scope="session")
def opened(cache: Path) -> Callable[[str], Sandbox]:
    boxes: dict[str, Sandbox] = {}

    def open_once(name: str) -> Sandbox:
        if name not in boxes:
            boxes[name] = open_sandbox(name, cache)
        return boxes[name]

    return open_once


@pytest.fixture
def workspace() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="podium-workspace-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=EVERY)
def run(request: pytest.FixtureRequest, opened: Callable[[str], Sandbox], workspace: Path) -> Run:
    """Runs a shell command in each sandbox in turn."""
    return runner(opened(request.param), workspace)


@pytest.fixture(params=CONFINING)
def confined(request: pytest.FixtureRequest, opened: Callable[[str], Sandbox], workspace: Path) -> Run:
    """Runs a shell command in each sandbox that keeps secrets too."""
    return runner(opened(request.param), workspace)
