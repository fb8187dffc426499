"""A table in bubblewrap, or in Docker if a test asks for it, opened once for each module: its checkers live as long."""

from collections.abc import Iterator

import pytest

from runners.agent.judges.function import contest
from tests.agent.functions.table import Table
from tests.sandbox.boxes import BUBBLEWRAP


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that runs nothing else, since other work is no part of what most tests test."""
    monkeypatch.setattr(contest, "host_in_goes", lambda *_: None)


@pytest.fixture(scope="module", params=[BUBBLEWRAP])
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    opened = Table(request.param)
    yield opened
    opened.close()
