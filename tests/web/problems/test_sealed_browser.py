"""In a real browser: the pages of a release with sealed questions are clean in every look."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.settle.questions import settle_questions
from leaderboard.standings.rank import rank_touched
from tests import factories
from tests.requirements import requires
from tests.sealed.site import sealed_release, sent
from tests.web.site.test_browser import LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def test_pages_with_sealed_questions_are_clean(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    cast, made = factories.Cast.make(), sealed_release()
    track = factories.offer(made)
    for script in ("exit 0", "exit 0 # again"):
        own = sent(cast.entrant, made, track, "B", script)
        settle_questions()
        factories.judge(own)
    rank_touched()
    question = made.problems.get(task_id="ask/1")
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.sign_in("owner")
    pages = {
        "board": reverse("board", args=[made.slug]) + "?group=*",
        "problems": reverse("problems", args=[made.slug]),
        "problem": question.get_absolute_url(),
        "submission": own.get_absolute_url(),
        "evaluation": own.evaluations.get(problem=question).get_absolute_url(),
        "rollout": reverse("rollouts", args=[own.pk]) + f"?problem={question.slug}",
        "own": reverse("own_submissions"),
    }
    faults = page_faults(visit, {f"sealed-{name}": path for name, path in pages.items()})
    visit.context.close()
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.sign_in("organiser")
    faults += page_faults(visit, {"sealed-release": reverse("admin:problems_release_change", args=[made.pk])})
    visit.context.close()
    assert faults == [], "\n".join(faults)
