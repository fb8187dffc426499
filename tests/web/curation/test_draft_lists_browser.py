"""The list of a large draft and the copy page in a real browser: by keyboard, without scripts, and as axe sees them."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.problems import drafts
from problems.models import Release
from tests import factories, packs
from tests.patience import SOON
from tests.requirements import requires
from tests.web.site.test_browser import EACH_WIDTH, FEW_LOOKS, LOOKS, Visit, faults_as_it_stands, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]
N = 210


def address(name: str, *arguments: Any) -> str:
    return reverse(f"admin:problems_release_{name}", args=arguments)


def example(n: int) -> dict[str, Any]:
    podium = {"title": f"Problem number {n}", "build_only": []}
    return packs.problem(f"a/{n}", prompt=f"Sort the list number {n}.", group=f"group-{n % 7}", podium=podium)


@pytest.fixture
def large(transactional_db: Any, live_server: Any, settings: Any) -> tuple[factories.Cast, Release, str]:
    settings.ALLOWED_HOSTS = ["*"]
    cast = factories.Cast.make()
    draft = factories.release(N, "large-1", publish=False, problem=example)
    factories.offer(draft)
    drafts.leave_out(cast.organiser, *draft.problems.select_related("release").filter(task_id__in=["a/7", "a/8"]))
    return cast, draft, live_server.url


@pytest.fixture
def visit(chromium: Any, large: Any) -> Iterator[Visit]:
    made = Visit(chromium, large[2], *LOOKS["light"])
    made.sign_in("organiser")
    yield made
    made.context.close()


def order(draft: Release) -> list[str]:
    return list(draft.problems.order_by("position").values_list("task_id", flat=True))


def test_the_lists_are_clean_in_each_look(visit: Visit, large: Any) -> None:
    _, draft, _ = large
    empty = factories.release(0, "empty-1", publish=False)
    path = address("draft", draft.pk)
    pages = {
        "draft-list": path,
        "draft-list-filtered": f"{path}?q=number+1&tests=yes&timed=no",
        "draft-list-nothing-fits": f"{path}?group=gone",
        "draft-list-left-out": f"{path}?part=left-out",
        "draft-list-empty": address("draft", empty.pk),
        "draft-copy": address("draft_copy", empty.pk) + f"?from={draft.slug}&page=2",
    }
    assert "\n".join(page_faults(visit, pages)) == ""


def press(visit: Visit, key: str, times: int = 1) -> None:
    for _ in range(times):
        visit.page.keyboard.press(key)


def tab_to(visit: Visit, name: str, most: int = 150) -> None:
    """Press Tab until the element with this accessible name or value has the focus."""
    told = "() => { const e = document.activeElement; return e.ariaLabel || e.labels?.[0]?.innerText || e.innerText; }"
    for _ in range(most):
        if (visit.page.evaluate(told) or "").strip() == name:
            return
        press(visit, "Tab")
    pytest.fail(f"Tab does not lead to {name!r}.")


def test_a_problem_is_moved_by_149_places_with_the_keyboard_in_three_presses(visit: Visit, large: Any) -> None:
    _, draft, _ = large
    visit.open(address("draft", draft.pk))
    tab_to(visit, "Choose a/0")
    press(visit, "Space")  # the first
    assert visit.page.locator("[data-chosen]").inner_text() == "1 chosen"
    while visit.page.evaluate("() => document.activeElement.name") != "place":
        press(visit, "Shift+Tab")
    visit.page.keyboard.type("150")
    press(visit, "Enter")  # the second
    visit.page.get_by_role("heading", name="What changes").wait_for()
    assert visit.page.get_by_text("a/0 gets place 150, of 208 places: behind a/151, before a/152.").is_visible()
    assert faults_as_it_stands(visit, "draft-move-effect", EACH_WIDTH[0]) == []
    assert faults_as_it_stands(visit, "draft-move-effect", EACH_WIDTH[1]) == []
    visit.wear("light")
    tab_to(visit, "Move a/0")
    press(visit, "Enter")  # the third
    visit.page.get_by_text("a/0 has place 150 now.").wait_for()
    assert order(draft)[149] == "a/0"
    assert visit.page.get_by_role("row", name="a/0", exact=False).first.is_visible()
    assert visit.complaints == []


def test_all_that_fit_are_left_out_and_brought_back_by_keyboard(visit: Visit, large: Any) -> None:
    _, draft, _ = large
    visit.open(address("draft", draft.pk))
    tab_to(visit, "Search")  # the site's, at the top
    press(visit, "Tab")
    tab_to(visit, "Search")
    visit.page.keyboard.type("sort number")
    press(visit, "Enter")
    visit.page.wait_for_url("**?q=sort+number")
    tab_to(visit, "All 208 that fit, on 3 pages")
    press(visit, "Space")
    assert visit.page.locator("[data-chosen]").inner_text() == "208 chosen"
    while visit.page.evaluate("() => document.activeElement.value") != "leave-out":
        press(visit, "Shift+Tab")
    press(visit, "Enter")
    visit.page.get_by_text("208 problems leave the draft; 0 stay.").wait_for()
    assert faults_as_it_stands(visit, "draft-leave-out-effect", FEW_LOOKS) == []
    tab_to(visit, "Leave out 208 problems")
    press(visit, "Enter")
    visit.page.get_by_text("208 problems are left out.").wait_for()
    assert draft.problems.count() == 0
    tab_to(visit, "Left out (210)")
    press(visit, "Enter")
    visit.page.wait_for_url("**?part=left-out")
    tab_to(visit, "All 210 of this list, on 3 pages")
    press(visit, "Space")
    press(visit, "Shift+Tab")
    press(visit, "Enter")
    visit.page.get_by_text("210 problems come back").wait_for()
    tab_to(visit, "Bring back 210 problems")
    press(visit, "Enter")
    visit.page.get_by_text("210 problems are brought back.").wait_for()
    assert order(draft) == [f"a/{n}" for n in range(N)]


def test_ticks_go_along_to_other_pages(visit: Visit, large: Any) -> None:
    _, draft, _ = large
    page = visit.page
    visit.open(address("draft", draft.pk))
    page.get_by_label("Choose a/3", exact=True).check()
    page.get_by_role("link", name="Page 2").click()
    page.get_by_text("1 chosen").wait_for()
    page.get_by_label("Choose a/150", exact=True).check()
    page.get_by_label("All on this page").check()
    assert page.locator("[data-chosen]").inner_text() == "101 chosen"
    page.get_by_label("All on this page").uncheck()
    page.get_by_label("Choose a/150", exact=True).check()
    page.get_by_role("button", name="Leave out…", exact=True).click()
    page.get_by_role("button", name="Leave out 2 problems").click()
    page.get_by_text("2 problems are left out.").wait_for()
    assert {"a/3", "a/150"} & set(order(draft)) == set()
    visit.open(address("draft", draft.pk))
    page.get_by_role("link", name="Page 3").click()
    page.wait_for_url("**?page=3")  # nothing is ticked: an ordinary link
    page.get_by_role("link", name="Left out (4)").click()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete: a/3", exact=True).click()
    page.get_by_text("a/3 is deleted.").wait_for()
    assert visit.complaints == []


def test_a_stale_list_is_refused_with_its_ticks(visit: Visit, large: Any) -> None:
    cast, draft, _ = large
    page = visit.page
    visit.open(address("draft", draft.pk))
    page.get_by_label("Choose a/3", exact=True).check()
    page.get_by_label("Move to place").fill("200")
    drafts.move_problem(cast.organiser, draft.problems.select_related("release").get(task_id="a/5"), -4)
    page.get_by_role("button", name="Move…").click()
    alert = page.get_by_role("alert").filter(
        has_text="was changed since you opened this page: the order of the problems"
    )
    alert.wait_for()
    visit.complaints.clear()  # of the status 422
    for looks in EACH_WIDTH:
        assert faults_as_it_stands(visit, "draft-list-stale", looks) == []
    visit.wear("light")
    assert page.get_by_label("Choose a/3", exact=True).is_checked()
    page.get_by_role("button", name="Move…").click()
    page.get_by_role("button", name="Move a/3").click()
    page.get_by_text("a/3 has place 200 now.").wait_for()
    assert (order(draft)[199], order(draft)[1]) == ("a/3", "a/5")


def test_the_lists_work_without_scripts(chromium: Any, visit: Visit, large: Any) -> None:
    _, draft, url = large
    other = factories.release(105, "other-1", problem=lambda n: packs.problem(f"b/{n}"))
    context = chromium.new_context(base_url=url, java_script_enabled=False, storage_state=visit.context.storage_state())
    context.set_default_timeout(1e3 * SOON)
    page = context.new_page()
    page.goto(address("draft", draft.pk))
    assert page.locator("noscript small").is_visible()
    page.get_by_label("Group").select_option("group-3")
    page.get_by_role("button", name="Show").click()
    page.get_by_label("All 30 that fit").check()
    page.get_by_role("button", name="Leave out…", exact=True).click()
    page.get_by_role("button", name="Leave out 30 problems").click()
    page.get_by_text("30 problems are left out.").wait_for()
    assert draft.problems.count() == 178
    page.goto(address("draft_copy", draft.pk) + f"?from={other.slug}")
    page.get_by_label("All 105 of this list, on 2 pages").check()
    page.get_by_role("button", name="Copy…").click()
    page.get_by_text("105 problems of other-1 are copied.").wait_for()
    page.get_by_role("button", name="Copy 105 problems").click()
    page.get_by_text("105 problems copied of other-1.").wait_for()
    assert order(draft)[-1] == "b/104"
    context.close()


def test_the_copies_are_chosen_and_told_on_clean_pages(visit: Visit, large: Any) -> None:
    _, draft, _ = large
    factories.release(3, "other-1", problem=lambda n: packs.problem(f"{'a' if n == 0 else 'b'}/{n}"))
    page = visit.page
    visit.open(address("draft_copy", draft.pk) + "?from=other-1")
    page.get_by_label("All on this page").check()
    page.get_by_role("button", name="Copy…").click()
    page.get_by_text("1 problem cannot be copied").wait_for()
    for looks in EACH_WIDTH:
        assert faults_as_it_stands(visit, "draft-copy-effect", looks) == []
    visit.wear("light")
    page.get_by_role("button", name="Back to the list, with what is chosen").click()
    assert page.get_by_label("Copy b/2").is_checked()
    page.get_by_role("button", name="Copy…").click()
    page.get_by_role("button", name="Copy 2 problems").click()
    page.get_by_text("2 problems copied of other-1.").wait_for()
    assert order(draft)[-2:] == ["b/1", "b/2"]
