"""Fixtures of the whole suite: the cast, and databases whose immutability triggers step aside for a flush only."""

import gc
from collections.abc import Generator
from typing import Any

import hypothesis
import pytest
from django.db import connections
from django.test import TransactionTestCase

from problems import triggers
from tests import factories
from tests.requirements import REST, why_skipped

# A busy machine is slow and still right; the same examples each time make a failure everybody's.
_patient = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("podium", _patient, derandomize=True)
# For `pytest --hypothesis-profile=long`: many more examples, other ones each time.
hypothesis.settings.register_profile("long", _patient, max_examples=5000)
hypothesis.settings.load_profile("podium")

_flush = TransactionTestCase._fixture_teardown


def _flush_without_triggers(self: TransactionTestCase) -> None:
    """A transactional test ends by emptying the tables, which the triggers rightly refuse to anybody else."""
    names = self._databases_names(include_mirrors=False)
    for name in names:
        triggers.remove(connections[name])
    _flush(self)
    for name in names:
        triggers.install(connections[name])


TransactionTestCase._fixture_teardown = _flush_without_triggers  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def blob_folder(settings: Any, tmp_path: Any) -> Any:
    """Every test stores its blobs in a folder of its own."""
    settings.BLOB_URL = str(tmp_path / "blobs")
    return tmp_path / "blobs"


@pytest.fixture
def cast(db: Any) -> factories.Cast:
    """Owner, teammate, stranger, organiser, and the entrant that the first two share."""
    return factories.Cast.make()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Ten thousand tests are kept: to look for garbage among them takes a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Skip a test whose needs this machine does not meet, and mark `rest` what `make test` is to leave out."""
    needs = {mark.args[0] for mark in item.iter_markers("needs")}
    if needs & REST:
        item.add_marker("rest")
    for reason in filter(None, map(why_skipped, sorted(needs))):
        item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, lest one worker be left with them at the end."""
    items.sort(key=lambda item: "e2e" not in item.path.parts)
