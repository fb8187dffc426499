"""The digests of the examples are the stored ones: results that were measured on them still hold."""

import json
from typing import Any

import pytest

from tests.examples.digests import RELEASES, STORED, digests

AGAIN = "a change that is meant is stored by `python -m tests.examples.digests`"


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    return json.loads(STORED.read_text(encoding="utf-8"))


def test_every_release_has_stored_digests(stored: dict[str, Any]) -> None:
    assert list(stored) == RELEASES, AGAIN


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_has_the_stored_digests(release: str, stored: dict[str, Any]) -> None:
    assert digests(release) == stored[release], AGAIN
