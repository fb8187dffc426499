"""Choosing the submission that counts, and a board with held-out cases, in each look as axe sees them."""

from typing import Any

import pytest
from django.urls import reverse

from tests import factories
from tests.requirements import requires
from tests.web.problems.test_held_out_cases import Site
from tests.web.site.test_browser import FEW_LOOKS, LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def test_an_earlier_submission_is_chosen_on_its_page(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    cast = factories.Cast.make()
    site = Site(cast)
    made = factories.release(2, "chosen-1")
    track = factories.offer(made)
    first, second = (
        factories.judged_submission(cast.entrant, made, track, script=f"exit 0 # {n}", n_samples=1) for n in range(2)
    )
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.sign_in("owner")
    pages = {
        "choose-submission": first.get_absolute_url(),
        "choose-board": reverse("board", args=[made.slug]),
        "held-out-board": reverse("board", args=[site.release.slug]),
        "held-out-evaluation": site.evaluation().get_absolute_url(),
        "held-out-problem": reverse("problem", args=[site.release.slug, site.problem.slug]),
        "choose-about": reverse("about"),
    }
    assert page_faults(visit, pages, FEW_LOOKS) == []
    visit.page.goto(live_server.url + first.get_absolute_url())
    visit.page.get_by_role("button", name=f"Count it on {track.slug}").click()
    assert visit.page.get_by_text(f"Submission #{first.pk} counts on {track.slug} from now on.").is_visible()
    assert second.counted_on.count() == 0
    visit.context.close()
