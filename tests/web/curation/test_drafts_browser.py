"""Drafts in a real browser: problems made and edited, the live preview, and every page as axe sees it."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.problems import drafts
from leaderboard.admin.drafts.new_page import TEMPLATES
from problems.models import Problem, Release
from tests.requirements import requires
from tests.web.conftest import Site
from tests.web.site.test_browser import LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def address(name: str, *arguments: Any) -> str:
    return reverse(f"admin:problems_release_{name}", args=arguments)


def with_a_problem_of_each_kind(site: Site) -> Release:
    made = drafts.new_draft(site.cast.organiser, "kinds-1", "Kinds")
    for name, template in TEMPLATES.items():
        drafts.add_problem(site.cast.organiser, made, template.record(f"examples/{name}"))
    drafts.leave_out(site.cast.organiser, made.problems.get(task_id="examples/python"))
    return made


def revision(site: Site) -> Release:
    """The next one of the site's release, with a problem changed and one left out."""
    made = drafts.next_revision(site.cast.organiser, site.release)
    first, second = made.problems.select_related("release").order_by("position")[:2]
    record = {"kind": "command", **first.spec.model_dump(mode="json")}
    record["test_files"][0]["content"] = "sh solution.sh\necho another line\n"
    drafts.change_problem(site.cast.organiser, first, record | {"prompt": "New words."}, first.record_md5)
    drafts.leave_out(site.cast.organiser, second)
    return made


def pages(site: Site) -> dict[str, str]:
    draft = with_a_problem_of_each_kind(site)
    kinds = {
        f"edit-{one.task_id.partition('/')[2]}": address("draft_problem", draft.pk, one.pk)
        for one in draft.problems.all()
    }
    found = {
        "list": address("draft", draft.pk),
        "new": address("draft_new", draft.pk),
        "copy": address("draft_copy", draft.pk) + f"?from={site.release.slug}",
        "difference": address("difference", revision(site).pk),
        "import": address("import") + f"?into={draft.pk}",
        "weights": address("draft_weights", draft.pk),
        "new-draft": reverse("admin:problems_release_list_act", args=["new-draft"]),
        **kinds,
    }
    return {f"drafts-{name}": path for name, path in found.items()}


def test_every_page_of_drafts_is_clean(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    assert "\n".join(page_faults(visit, pages(site))) == ""


def test_the_preview_shows_what_was_typed_before_its_script_was_there(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    draft = with_a_problem_of_each_kind(site)
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")

    def type_before(route: Any) -> None:
        visit.page.fill("textarea[name=prompt]", "Compute **all** sums.")
        route.continue_()

    visit.page.route("**/htmx.min.js", type_before)
    visit.open(address("draft_problem", draft.pk, draft.problems.first().pk))
    visit.page.locator("#preview strong", has_text="all").wait_for()
    visit.context.close()


def test_a_problem_is_made_and_edited_in_the_browser(chromium: Any, live_site: Any) -> None:
    _, url = live_site
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    page = visit.page
    visit.open("/admin/problems/release/")
    page.get_by_role("link", name="New draft").click()
    page.fill("input[name=name]", "browser-1")
    page.fill("input[name=title]", "Made in a browser")
    page.get_by_role("button", name="New draft").click()
    page.get_by_role("link", name="Make the first").click()
    page.fill("input[name=task_id]", "sums/prefix")
    page.get_by_role("button", name="Make the problem").click()
    page.fill("textarea[name=prompt]", "Compute **all** sums.")
    page.locator("#preview strong", has_text="all").wait_for()
    page.locator("#files-tests summary").click()
    editor = page.locator("#files-tests .cm-content")
    editor.click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("// Typed.\n")
    page.fill("input[name=timeout_seconds]", "-1e400")
    page.fill("input[name=task_id]", "sums/all")
    page.fill("input[name=timeout_seconds]", "12")
    page.get_by_role("button", name="Save", exact=True).last.click()
    page.get_by_text("it must be verified anew").wait_for()
    row = Problem.objects.select_related("release").get(release__slug="browser-1")
    assert (row.task_id, row.spec.prompt) == ("sums/all", "Compute **all** sums.")
    assert [one.file.content[:9] for one in row.spec.files if one.is_held_out] == ["// Typed."]
    page.get_by_role("button", name="Add a file to known-bad solutions").click()
    page.locator("#files-known_bad input[name$=-path]").last.fill("../bad")
    page.get_by_role("button", name="Save and close").click()
    page.locator("p[role=alert]", has_text="leaves its folder").wait_for()
    assert page.locator("#files-known_bad input[name$=-path]").last.input_value() == "../bad"
    assert visit.complaints == [] or all("422" in one for one in visit.complaints)
