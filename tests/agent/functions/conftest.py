"""A table for each sandbox that confines, opened once for each module: its checkers live as long as it does."""

from collections.abc import Iterator

import pytest

from tests.agent.functions.table import Table
from tests.sandbox.boxes import CONFINING


@pytest.fixture(scope="module", params=CONFINING)
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    opened = Table(request.param)
    yield opened
    opened.close()
