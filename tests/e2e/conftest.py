"""Fixtures of the tests with processes of their own."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest

from tests.requirements import POSTGRES_URL


@pytest.fixture
def postgres() -> Iterator[str]:
    """A database of the test's own."""
    name = f"podium_e2e_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(POSTGRES_URL, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        yield f"{POSTGRES_URL.rpartition('/')[0]}/{name}"
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
