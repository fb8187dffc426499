"""The small site of the page tests, for the fleet's own pages."""

from collections.abc import Iterator

import pytest

from runners.fleet.attempts import problem_refs
from tests.web.conftest import made_site, site

__all__ = ["made_site", "site"]


@pytest.fixture(autouse=True)
def no_kept_problems() -> Iterator[None]:
    """The next test has other problems under the same numbers."""
    yield
    problem_refs.forget()
