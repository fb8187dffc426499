"""In a real browser: the pages of questions are clean in every look."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.settle.questions import settle_questions
from leaderboard.standings.rank import rank_touched
from problems.models import Release
from tests import factories
from tests.question_site import release, reply, submitted
from tests.requirements import requires
from tests.web.site.test_browser import LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def test_every_page_of_questions_is_clean(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    cast, made = factories.Cast.make(), release()
    own = submitted(
        cast.entrant, made, made.on_tracks.get().track, reply("qa-1-warps", "I count lanes.\nFinal: B"),
        reply("qa-1-bytes", "Final: 12"),
    )  # fmt: skip
    settle_questions()
    rank_touched()
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.sign_in("owner")
    problems = {kind: made.problems.get(kind=kind) for kind in ("choice", "short_answer")}
    pages = {f"question-{kind}": reverse("problem", args=[made.slug, one.slug]) for kind, one in problems.items()}
    pages |= {
        "question-board": reverse("board", args=[made.slug]),
        "question-problems": reverse("problems", args=[made.slug]),
        "question-submission": own.get_absolute_url(),
        "question-wrong": own.evaluations.get(problem__kind="short_answer").get_absolute_url(),
    }
    faults = page_faults(visit, pages)
    Release.objects.update(closes_at=timezone.now() - timedelta(seconds=1))
    faults += page_faults(visit, {"question-closed": pages["question-choice"]})
    visit.context.close()
    assert faults == [], "\n".join(faults)
