"""An organiser's work in a browser alone: from an empty site to a frozen release, with everything in the audit log.

The node and the participant are played by the tests' own actions; each act of the organiser is a click.
"""

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from leaderboard.models import AuditEntry, Entrant, Evaluation, Submission, Track
from leaderboard.standings.rank import rank_touched
from problems.models import Release
from runners.wire.protocol import FlagReport, FlagScope, Verdict
from tests import factories
from tests.requirements import requires
from tests.web.curation.test_rejudge_browser import judge_shadows
from tests.web.site.test_browser import LOOKS, Visit

pytestmark = [requires("chromium"), pytest.mark.rest]

SLUG, TRACK = "journey-1", "cpu-desk"


@pytest.fixture
def organiser(transactional_db: Any, live_server: Any, settings: Any, chromium: Any) -> Visit:
    """Signed in on a site that has accounts and nothing else."""
    settings.ALLOWED_HOSTS = ["*"]
    factories.Cast.make()
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.sign_in("organiser")
    return visit


def press(visit: Visit, act: str, reason: str = "") -> None:
    """Open an act by its link, give its reason, and confirm."""
    page = visit.page
    page.get_by_role("link", name=act, exact=True).first.click()
    if reason:
        page.locator("textarea[name=reason]").fill(reason)
    page.get_by_role("button", name=act, exact=True).click()


def make_track(visit: Visit) -> None:
    visit.open(reverse("admin:leaderboard_track_changelist"))
    visit.page.get_by_role("link", name="Add a track").click()
    visit.page.fill("input[name=slug]", TRACK)
    visit.page.fill("input[name=title]", "The one under the desk")
    visit.page.select_option("select[name=device]", "cpu")
    visit.page.get_by_role("button", name="Add a track").click()
    visit.page.get_by_text(f"Track {TRACK} is made.").wait_for()


def make_draft(visit: Visit) -> None:
    visit.open(reverse("admin:problems_release_changelist"))
    visit.page.get_by_role("link", name="New draft").click()
    visit.page.fill("input[name=name]", SLUG)
    visit.page.fill("input[name=title]", "A journey")
    visit.page.get_by_role("button", name="New draft").click()
    for template in ("cpp", "python", "function", "choice", "short_answer"):
        visit.open(reverse("admin:problems_release_draft_new", args=[release().pk]))
        visit.page.fill("input[name=task_id]", f"journey/{template.replace('_', '-')}")
        visit.page.check(f"input[name=template][value={template}]")
        visit.page.get_by_role("button", name="Make the problem").click()
        visit.page.get_by_role("button", name="Save and close").wait_for()


def release() -> Release:
    return Release.objects.get(slug=SLUG)


def open_release(visit: Visit) -> None:
    visit.open(reverse("admin:problems_release_change", args=[release().pk]))


def judge_checks() -> None:
    """As a node would: every check ends as it must."""
    for made in Submission.objects.filter(entrant__kind="system"):
        factories.judge(made, _as_stated)


def _as_stated(one: Evaluation) -> Any:
    if one.submission.entrant.slug == "_reference":
        return factories.report(Verdict.PASSED)
    bad = one.problem.spec.podium.known_bad
    stated = bad[one.sample.index].expect if one.submission.entrant.slug == "_known-bad" else Verdict.TEST_FAILED
    return factories.report(Verdict(stated))


def submit_as_somebody() -> Submission:
    """A participant's submission, judged; one of its passes carries a flag."""
    owner = User.objects.get(username="owner")
    entrant = Entrant.objects.create(name="Somebody's model", slug="somebody", owner=owner)
    flag = FlagReport(code="other_ranges", scope=FlagScope.TIME, detail="The timed ranges were entered 42 times.")
    made = factories.submission(entrant, release(), Track.objects.get(slug=TRACK))
    factories.judge(made, lambda one: factories.report(flags=[flag] if one.problem.task_id == "journey/cpp" else []))
    rank_touched()
    return made


def offer_on_the_track(visit: Visit) -> None:
    page = visit.page
    open_release(visit)
    page.get_by_text("nobody can submit without one").wait_for()
    page.get_by_role("link", name="Offer on tracks").first.click()
    page.get_by_label(re.compile("cpu-desk")).check()
    page.get_by_role("button", name="Offer on tracks").click()
    page.get_by_text(f"{SLUG} is offered on {TRACK}.").wait_for()


def verify_and_publish(visit: Visit) -> None:
    page = visit.page
    open_release(visit)
    press(visit, "Verify on a node")
    page.get_by_text("evaluations to come").first.wait_for()
    judge_checks()
    page.get_by_text("Verified: all is as it should be.").wait_for()  # the page refreshes itself
    open_release(visit)
    page.fill("input[name=licence]", "Apache-2.0")
    page.fill("textarea[name=dataset_card]", "Five problems, one of each kind.")
    page.check("input[name=is_public]")
    page.select_option("select[name=question_policy]", "practice")  # sealed ones would be told a month later
    page.get_by_role("button", name="Save", exact=True).click()
    open_release(visit)
    page.locator(".checklist li.done", has_text="Apache-2.0").wait_for()
    press(visit, "Publish")
    page.get_by_text("every problem is verified").wait_for()


def dismiss_the_flag(visit: Visit) -> None:
    page = visit.page
    visit.open(reverse("admin:index"))
    page.get_by_role("link", name="other_ranges").first.click()
    page.check("input[name=ruling][value=dismiss]")
    page.get_by_label("Public reason").fill("The harness enters them itself.")
    page.get_by_role("button", name="Decide").first.click()
    page.get_by_text("The harness enters them itself.").or_(page.get_by_text("decided")).first.wait_for()


def void_a_problem(visit: Visit) -> None:
    voided = release().problems.get(task_id="journey/python")
    visit.open(reverse("admin:problems_problem_change", args=[voided.pk]))
    press(visit, "Void (erratum)", "Its test accepts anything.")
    visit.page.get_by_text("is void").wait_for()


def rejudge(visit: Visit) -> None:
    open_release(visit)
    press(visit, "Rejudge", "A new compiler.")
    visit.page.get_by_text("judged.").first.wait_for()
    judge_shadows()
    visit.page.get_by_text("apply or drop it").wait_for()
    press(visit, "Apply", "The old compiler was wrong.")
    visit.page.get_by_text("applied.").wait_for()
    rank_touched()


def freeze_and_look(visit: Visit) -> None:
    page = visit.page
    open_release(visit)
    press(visit, "Freeze")
    page.get_by_text(f"{SLUG} is frozen.").wait_for()
    visit.open(reverse("release_about", args=[SLUG]))
    page.get_by_role("heading", name="Frozen boards").wait_for()
    visit.open(reverse("board", args=[SLUG]))
    page.get_by_text("4 of 5 problems count").wait_for()
    visit.open(reverse("decisions", args=[SLUG]))
    page.get_by_text("Its test accepts anything.").first.wait_for()


def test_from_an_empty_site_to_a_frozen_release(organiser: Visit) -> None:
    visit, page = organiser, organiser.page
    make_track(visit)
    make_draft(visit)
    offer_on_the_track(visit)
    verify_and_publish(visit)
    made = submit_as_somebody()
    dismiss_the_flag(visit)
    void_a_problem(visit)
    rejudge(visit)
    freeze_and_look(visit)
    assert visit.complaints == []

    acts = set(AuditEntry.objects.filter(actor__username="organiser").values_list("action", flat=True))
    assert {"add", "offer", "verify", "publish", "flag_dismissed", "void", "freeze"} <= acts
    assert any("rejudge" in act for act in acts), sorted(acts)
    stored = release().snapshots.get()
    board = json.loads(page.request.get(reverse("snapshot", args=[SLUG, TRACK])).body())
    assert board["voided"] == [{"task_id": "journey/python", "reason": "Its test accepts anything."}]
    assert [row["submission_id"] for row in board["rows"]] == [made.pk]
    assert stored.sha256
