"""In a real browser: what is found shows while one types, and one click clears it."""

from typing import Any

import pytest

from tests import factories
from tests.requirements import requires
from tests.web.conftest import Site
from tests.web.site.test_browser import LOOKS, Visit

pytestmark = [pytest.mark.rest, requires("chromium")]


@pytest.fixture
def visit(chromium: Any, live_site: tuple[Site, str]) -> Any:
    made = Visit(chromium, live_site[1], *LOOKS["light"])
    yield made
    assert made.complaints == []
    made.context.close()


def test_a_board_is_searched_while_typing_and_cleared_in_one_click(visit: Visit, live_site: tuple[Site, str]) -> None:
    address = live_site[0].release.get_absolute_url()
    visit.open(address)
    rows = visit.page.locator("#ranking tbody tr:not(.baseline)")
    assert rows.count() == 5
    field = visit.page.locator("input[name=q]")
    field.press_sequentially("gam")
    visit.page.get_by_text("1 of 5").wait_for()
    assert rows.count() == 1
    assert "q=gam" in visit.page.url
    assert field.evaluate("field => document.activeElement === field"), "one types on"
    visit.page.reload()
    visit.page.get_by_role("link", name="Clear filters").click()
    visit.page.get_by_text("5 of 5").wait_for()
    assert "q=" not in visit.page.url


def test_the_search_finds_while_typing_and_its_button_finds_without_scripts(
    visit: Visit, chromium: Any, live_site: tuple[Site, str]
) -> None:
    factories.release(name="gemm-1")
    visit.open("/search/")
    visit.page.locator("input[name=q]").press_sequentially("gemm")
    visit.page.locator("#found").get_by_role("link", name="Release gemm-1").first.wait_for()
    plain = chromium.new_context(base_url=live_site[1], java_script_enabled=False).new_page()
    plain.goto("/search/")
    plain.fill("input[name=q]", "gemm")
    plain.click("main button")
    plain.locator("#found").get_by_role("link", name="Release gemm-1").first.wait_for()
    plain.context.close()
