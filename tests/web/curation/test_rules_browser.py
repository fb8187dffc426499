"""The pages that tell of rules, and boards of few problems, in each look as axe sees them."""

from typing import Any

import pytest
from django.urls import reverse

from tests import factories
from tests.admin.curation.test_rules import board
from tests.requirements import requires
from tests.web.site.test_browser import FEW_LOOKS, LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def test_their_pages_are_clean(chromium: Any, transactional_db: Any, live_server: Any, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    cast = factories.Cast.make()
    few = board(cast, 2, n_problems=4)
    pages = {
        "few-problems": reverse("board", args=[few.slug]),
        "few-problems-about": reverse("release_about", args=[few.slug]),
        "few-problems-entrant": reverse("entrant", args=["alpha"]),
        "rules-about": reverse("about"),
        "act-adopt-rules": reverse("admin:problems_release_act", args=[older(cast).pk, "adopt-rules"]),
    }
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.sign_in("organiser")
    assert page_faults(visit, pages, FEW_LOOKS) == []
    visit.context.close()


def older(cast: Any) -> Any:
    """A release of the first rules that is published beside the other."""
    made = factories.release(6, "older-1", rules=1, primary_metric="speedup")
    track = factories.offer(made)
    factories.judged_submission(cast.entrant, made, track)
    return made
