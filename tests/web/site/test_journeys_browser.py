"""Journeys by keyboard alone: from the front page to one result, and from signing in to submitting typed code."""

from collections.abc import Iterator
from typing import Any

import pytest

from leaderboard.models import Submission
from tests.factories import PASSWORD
from tests.requirements import requires
from tests.web.conftest import Site
from tests.web.site.test_browser import LOOKS, Visit

pytestmark = [requires("chromium"), pytest.mark.rest]

MOST_TABS = 150
FOCUSED = """() => {
    const one = document.activeElement;
    const label = one.labels?.length ? one.labels[0].innerText : '';
    const names = [one.innerText, one.getAttribute('aria-label'), one.value, one.name, label];
    return names.filter(Boolean).map((name) => name.trim());
}"""
VISIBLE = """() => {
    const style = getComputedStyle(document.activeElement);
    return style.outlineStyle !== 'none' || style.boxShadow !== 'none' || style.textDecorationLine !== 'none';
}"""


@pytest.fixture
def visit(chromium: Any, live_site: tuple[Site, str]) -> Iterator[Visit]:
    made = Visit(chromium, live_site[1], *LOOKS["light"])
    yield made
    assert made.complaints == []
    made.context.close()


def tab_to(visit: Visit, name: str) -> None:
    """Press Tab until what is called so has the focus, which must be seen."""
    for _ in range(MOST_TABS):
        visit.page.keyboard.press("Tab")
        if name in visit.page.evaluate(FOCUSED):
            assert visit.page.evaluate(VISIBLE), f"{name} has the focus, which cannot be seen"
            return
    raise AssertionError(f"{MOST_TABS} times Tab do not lead to {name!r} on {visit.page.url}")


def follow(visit: Visit, name: str, address: str) -> None:
    tab_to(visit, name)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url(address)


def test_a_visitor_goes_from_the_front_page_to_a_result(visit: Visit, live_site: tuple[Site, str]) -> None:
    site = live_site[0]
    problem = site.release.problems.order_by("position").first()
    visit.open("/")
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate(FOCUSED)[0] == "Skip to the content"
    follow(visit, "The whole board", f"**/releases/{site.release.slug}/**")
    follow(visit, "Problems", "**/problems/**")
    follow(visit, problem.title, f"**/problems/{problem.slug}/**")
    follow(visit, "Alpha", "**/entrants/**")
    assert visit.page.get_by_role("heading", level=1).inner_text().startswith("Alpha")


def test_a_participant_signs_in_types_a_solution_and_submits_it(visit: Visit, live_site: tuple[Site, str]) -> None:
    site, keyboard = live_site[0], visit.page.keyboard
    problem = site.release.problems.order_by("position").first()
    before = Submission.objects.count()
    visit.open("/")
    follow(visit, "Sign in", "**/accounts/login/**")
    tab_to(visit, "login")
    keyboard.type("owner")
    tab_to(visit, "password")
    keyboard.type(PASSWORD)
    keyboard.press("Enter")
    visit.page.wait_for_url("**/account/")
    visit.open(f"/releases/{site.release.slug}/problems/{problem.slug}/")
    editor = visit.page.locator(".cm-content").first
    editor.wait_for()
    for _ in range(MOST_TABS):
        keyboard.press("Tab")
        if editor.evaluate("one => one === document.activeElement"):
            break
    keyboard.press("Control+a")
    keyboard.insert_text("exit 0 # typed by keyboard")
    keyboard.press("Escape")  # then Tab leaves the editor
    tab_to(visit, "Submit this solution")
    keyboard.press("Enter")
    visit.page.wait_for_url("**/submissions/*/")
    assert Submission.objects.count() == before + 1
    assert visit.page.get_by_role("heading", level=1).is_visible()
