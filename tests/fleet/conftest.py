"""The small site of the page tests, for the fleet's own pages."""

from tests.web.conftest import made_site, site

__all__ = ["made_site", "site"]
