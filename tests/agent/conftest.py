"""One machine for all tests of the agent: its build cache makes the suite quick, as it does in production."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.machine import Machine, temporary_folder


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
