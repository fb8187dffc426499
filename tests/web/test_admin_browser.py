"""The administration in a real browser: every page on a wide screen, in the dark and on a phone, as axe sees it."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions import clarify
from leaderboard.models import AuditEntry, Clarification, Flag, Invitation, Result
from runners.fleet.models import Attempt, Job
from tests.requirements import requires
from tests.web.conftest import Site
from tests.web.test_browser import LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def admin_pages(site: Site) -> dict[str, str]:
    """Lists, forms and acts of the administration, by name."""
    asked = Clarification.objects.earliest("pk")
    rows = {
        "problems_release": site.release,
        "problems_problem": site.release.problems.first(),
        "leaderboard_submission": site.judged,
        "leaderboard_evaluation": site.evaluation,
        "leaderboard_flag": Flag.objects.first(),
        "leaderboard_clarification": asked,
        "leaderboard_decision": None,
        "leaderboard_result": Result.objects.first(),
        "leaderboard_measurement": None,
        "leaderboard_standing": None,
        "leaderboard_auditentry": AuditEntry.objects.first(),
        "leaderboard_entrant": site.cast.entrant,
        "leaderboard_invitation": Invitation.objects.first(),
        "leaderboard_apitoken": None,
        "leaderboard_track": site.track,
        "fleet_node": site.node,
        "fleet_job": Job.objects.first(),
        "fleet_attempt": Attempt.objects.first(),
        "auth_user": site.cast.owner,
        "auth_group": None,
    }
    lists = {f"{name}-list": reverse(f"admin:{name}_changelist") for name in rows}
    forms = {f"{name}-form": reverse(f"admin:{name}_change", args=[row.pk]) for name, row in rows.items() if row}
    pages = {
        "dashboard": reverse("admin:index"),
        "more-tables": reverse("admin:more_tables"),
        **lists,
        **forms,
        "search": reverse("admin:leaderboard_submission_changelist", query={"q": "nothing like this"}),
        "filtered": reverse("admin:leaderboard_evaluation_changelist", query={"state__exact": "done"}),
        "act": reverse("admin:problems_release_act", args=[site.release.pk, "offer"]),
        "answer": reverse("admin:leaderboard_clarification_act", args=[asked.pk, "answer"]),
        "clarified-problem": asked.get_absolute_url(),
        "history": reverse("admin:leaderboard_submission_history", args=[site.judged.pk]),
        "add-user": reverse("admin:auth_user_add"),
        "add-group": reverse("admin:auth_group_add"),
    }
    return {f"admin-{name}": path for name, path in pages.items()}


def test_every_page_of_the_administration_is_clean(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    problem = site.release.problems.first()
    asked = clarify.ask(site.cast.owner, problem, "fault", "Its test passes a kernel that writes nothing.")
    clarify.answer(site.cast.organiser, asked, "Mended in the next revision.", public_text="Does the test check all?")
    clarify.ask(site.cast.stranger, problem, "question", "May one use atomics?")
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    assert "\n".join(page_faults(visit, admin_pages(site))) == ""
