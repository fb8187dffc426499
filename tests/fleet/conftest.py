"""The small site of the page tests, for the fleet's own pages."""

from typing import Any

import pytest

from tests.web.conftest import Site, made_site, make_site, shared_site

__all__ = ["made_site", "shared_site"]


@pytest.fixture
def site(db: Any) -> Site:
    return make_site()
