"""The pages on which acts tell their effect, in each look as axe sees them."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.curation.decide import void_problem
from leaderboard.actions.problems import drafts
from leaderboard.models import Flag
from problems.actions.drafts import fields_of
from tests.requirements import requires
from tests.web.site.test_browser import FEW_LOOKS, LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def test_their_pages_are_clean(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    organiser, release = site.cast.organiser, site.release
    first, second = release.problems.order_by("position")[:2]
    void_problem(organiser, first, "Its test accepts an empty file.")
    draft = drafts.next_revision(organiser, release)
    row = draft.problems.order_by("position")[0]
    fields = fields_of(row.spec) | {"timeout_seconds": 9.0}
    drafts.change_problem(organiser, row, fields, row.record_md5)
    of_release, flag = "admin:problems_release_act", Flag.objects.order_by("pk")[0]
    pages = {
        "act-void": reverse("admin:problems_problem_act", args=[second.pk, "void"]),
        "act-undo-erratum": reverse("admin:problems_problem_act", args=[first.pk, "undo-erratum"]),
        "act-retract": reverse("admin:leaderboard_submission_act", args=[site.judged.pk, "retract"]),
        "act-freeze": reverse(of_release, args=[release.pk, "freeze"]),
        **{f"act-{name}": reverse(of_release, args=[draft.pk, name])
           for name in ("publish", "answer-revision", "delete-draft")},
        "revision-draft": reverse("admin:problems_release_change", args=[draft.pk]),
        "flags-effects": reverse("admin:leaderboard_flag_changelist"),
        "flag-effects": reverse("admin:leaderboard_flag_change", args=[flag.pk]),
        "decisions-log": reverse("decisions", args=[release.slug]),
    }  # fmt: skip
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    assert "\n".join(page_faults(visit, pages, FEW_LOOKS)) == ""
