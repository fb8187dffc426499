"""The administration in a real browser: every page on a wide screen, in the dark and on a phone, as axe sees it."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.curation import clarify
from leaderboard.models import AuditEntry, Clarification, Flag, Invitation, Result
from runners.fleet.models import Attempt, Job
from tests.requirements import requires
from tests.web.conftest import Site
from tests.web.site.test_browser import LOOKS, Visit, faults_as_it_stands, page_faults

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


def test_a_long_form_with_errors_tells_them_first_and_leads_to_each(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    visit.open(reverse("admin:problems_release_change", args=[site.release.pk]))
    visit.page.fill("#id_title", "")
    visit.page.fill("#id_opens_at", "2026-05-02T10:00:00")
    visit.page.fill("#id_closes_at", "2026-05-01T10:00:00")
    visit.page.click("input[name=_save]")
    visit.page.wait_for_selector(".error-summary")
    assert visit.page.evaluate("document.activeElement.className") == "error-summary"
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.hash") == "#id_title"
    visit.page.keyboard.press("Enter")
    assert visit.page.evaluate("document.activeElement.id") == "id_title"
    visit.page.click(".error-summary a[href='#id_closes_at']")
    assert visit.page.evaluate("document.activeElement.id") == "id_closes_at"
    assert "\n".join(faults_as_it_stands(visit, "admin-errors", list(LOOKS))) == ""


def test_an_organisers_links_and_a_stale_save_are_clean(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    problem = site.release.problems.order_by("position").first()
    pages = {"organiser-problem": problem.get_absolute_url(), "organiser-entrant": site.cast.entrant.get_absolute_url()}
    assert "\n".join(page_faults(visit, pages)) == ""
    visit.open(reverse("admin:leaderboard_entrant_change", args=[site.cast.entrant.pk]))
    type(site.cast.entrant).objects.filter(pk=site.cast.entrant.pk).update(organisation="Changed meanwhile")
    visit.page.click("input[name=_save]")
    visit.page.wait_for_selector(".error-summary")
    assert "\n".join(faults_as_it_stands(visit, "admin-stale", list(LOOKS))) == ""
