"""A table in bubblewrap, or in Docker if a test asks for it, opened once for each module: its checkers live as long."""

from collections.abc import Iterator

import pytest

from tests.agent.functions.table import Table
from tests.sandbox.boxes import BUBBLEWRAP


@pytest.fixture(scope="module", params=[BUBBLEWRAP])
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    opened = Table(request.param)
    yield opened
    opened.close()
