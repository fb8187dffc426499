"""Routes, the OpenAPI schema, commands and CSV headers stay as they are stored, unless a change is meant."""

import pytest

from tests.public_surface.surfaces import SURFACES, csv_headers, stored


@pytest.mark.parametrize("name", SURFACES)
def test_others_find_what_they_rely_on(name: str) -> None:
    assert list(SURFACES[name]()) == stored(name), "python -m tests.public_surface.surfaces stores what is meant"


@pytest.mark.django_db
def test_exports_have_the_same_columns() -> None:
    assert list(csv_headers()) == stored("csv"), "written by hand into csv.txt: its rows need a database"
