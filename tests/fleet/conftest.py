"""The small site of the page tests, for the fleet's own pages."""

from typing import Any

import pytest

from tests.web.conftest import Site, make_site


@pytest.fixture
def site(db: Any) -> Site:
    return make_site()
