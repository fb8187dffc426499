"""Rows that all tests of a module find as they were made: what a test changes in the database is undone after it."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings


def of_module(make: Callable[[], Any]) -> Any:
    """A fixture of a module whose tests all use it: what `make` made, once, and its folder of blobs."""

    @pytest.fixture(scope="module")
    def made(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> Iterator[tuple[Any, str]]:
        blobs = str(tmp_path_factory.mktemp("blobs"))
        with django_db_blocker.unblock(), transaction.atomic():
            with override_settings(BLOB_URL=blobs):
                once = make()
            yield once, blobs
            transaction.set_rollback(True)

    return made


@pytest.fixture
def copied(made_site: tuple[Any, str], db: None, settings: Any) -> Any:
    """The module's `made_site` as it was made, for one test: `site = copied`."""
    made, settings.BLOB_URL = made_site
    return copy.deepcopy(made)


def part(index: int) -> Any:
    """A fixture: this part of what the module's `made_site` holds, for one test."""

    @pytest.fixture
    def found(made_site: tuple[Any, str], db: None, settings: Any) -> Any:
        made, settings.BLOB_URL = made_site
        return copy.deepcopy(made[index])

    return found
