"""Fixtures of the whole suite: the cast, and databases whose immutability triggers step aside for a flush only."""

from typing import Any

import pytest
from django.db import connections
from django.test import TransactionTestCase

from problems import triggers
from tests import factories

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


def pytest_itemcollected(item: pytest.Item) -> None:
    """What asks for a database through a fixture runs on both databases, as what is marked django_db does."""
    if {"db", "transactional_db"} & set(getattr(item, "fixturenames", ())):
        item.add_marker("both_databases")
