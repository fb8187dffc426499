"""Rows that all tests of a module find as they were made: what a test changes in the database is undone after it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import transaction
from django.test import override_settings

Made = TypeVar("Made")


@contextmanager
def made_once(make: Callable[[], Made], blocker: Any, folders: Any) -> Iterator[tuple[Made, str]]:
    """What `make` made, and its folder of blobs. For a fixture of a module whose tests all use it; `blocker` and
    `folders` are the fixtures django_db_blocker and tmp_path_factory."""
    blobs = str(folders.mktemp("blobs"))
    with blocker.unblock(), transaction.atomic():
        with override_settings(BLOB_URL=blobs):
            made = make()
        yield made, blobs
        transaction.set_rollback(True)
