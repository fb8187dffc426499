"""A site on its first day: what a visitor and an organiser find."""

from typing import Any

import pytest

from tests.factories import Cast

pytestmark = pytest.mark.django_db


def test_the_empty_front_page_names_no_command(client: Any, cast: Cast) -> None:
    page = client.get("/").content.decode()
    assert "No release is published yet" in page
    assert "manage.py" not in page
    assert "Set the site up" not in page
    client.force_login(cast.organiser)
    assert "Set the site up" in client.get("/").content.decode()
