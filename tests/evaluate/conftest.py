"""A folder that the slots' users can reach when the suite runs as root, unlike pytest's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.machine import temporary_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with temporary_folder() as name:
        yield Path(name)
