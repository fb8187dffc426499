"""One machine for all tests of the agent: its build cache makes the suite quick, as it does in production."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.agent.devices.porter import Porter
from runners.agent.sandbox.policy import Sandbox
from tests.agent.machine import Machine, open_sandbox, temporary_folder
from tests.agent.ncu_stand_in import installed_ncu, notes_folder
from tests.agent.stepped_porter import Stage, compiled_in


@pytest.fixture(scope="session")
def machine() -> Iterator[Machine]:
    with temporary_folder() as folder:
        made = Machine(Path(folder))
        yield made
        made.environment.close()


@pytest.fixture
def fresh_machine() -> Iterator[Machine]:
    """One that has built nothing yet."""
    with temporary_folder() as folder:
        made = Machine(Path(folder))
        yield made
        made.environment.close()


@pytest.fixture
def porter() -> Iterator[Porter]:
    porter = Porter()
    yield porter
    porter.close()


@pytest.fixture(scope="session")
def stepped_porter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_in(tmp_path_factory.mktemp("stepped-porter"))


@pytest.fixture
def stage(stepped_porter: Path, tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(stepped_porter, tmp_path)
    yield stage
    stage.close()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a stand-in for ncu."""
    with installed_ncu(monkeypatch) as folder:
        yield folder


@pytest.fixture
def notes() -> Iterator[Path]:
    """A folder for a timer's notes."""
    with notes_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """A sandbox of the kind that this machine has."""
    return open_sandbox()
