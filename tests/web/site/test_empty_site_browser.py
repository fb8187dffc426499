"""In a real browser: the first pages of a site on its first day are clean in every look."""

from typing import Any

import pytest
from django.urls import reverse

from tests import factories
from tests.requirements import requires
from tests.web.site.test_browser import LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def test_a_fresh_sites_pages_are_clean(chromium: Any, transactional_db: Any, live_server: Any, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    factories.Cast.make()
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.sign_in("organiser")
    assert page_faults(visit, {"fresh-dashboard": reverse("admin:index"), "fresh-home": reverse("home")}) == []
    visit.open(reverse("admin:index"))
    assert visit.page.locator(".first-run button[data-copy]").first.is_visible()
    visit.context.close()
