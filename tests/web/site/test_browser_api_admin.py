"""In a real browser, under the site's own content security policy: the API's page and the admin."""

import os
from pathlib import Path
from typing import Any

import pytest

from leaderboard.models import Decision, Flag
from tests.factories import PASSWORD
from tests.patience import SOON
from tests.requirements import requires
from tests.web.site.test_browser import AXE

pytestmark = [requires("chromium"), pytest.mark.rest]
SCREENSHOTS = os.environ.get("PODIUM_SCREENSHOTS", "")


@pytest.fixture
def window(chromium: Any, live_site: Any) -> Any:
    """A page with `.complaints`, what its console said of errors."""
    # without motion no transition begins: during one, contrast is that of neither theme
    context = chromium.new_context(
        base_url=live_site[1], viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    )
    context.set_default_timeout(1e3 * SOON)
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda m: m.type in {"error", "warning"} and page.complaints.append(m.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    context.close()


def keep_picture(page: Any, name: str) -> None:
    if SCREENSHOTS:
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)


def test_the_api_page_lists_the_operations_without_a_complaint(window: Any) -> None:
    window.goto("/api/")
    window.locator("#operations-releases-releases_board_retrieve").wait_for()
    window.locator("#operations-submissions-submissions_create button").first.click()
    window.get_by_text("Send a solutions pack, a zip of folders, or typed code.").wait_for()
    keep_picture(window, "api")
    window.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')}; window.axe = axe; }}")
    for is_dark in (False, True):
        if is_dark:
            window.click("[data-theme-toggle]")
        assert window.evaluate("() => document.documentElement.classList.contains('dark-mode')") is is_dark
        found = window.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
        assert [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found["violations"]] == []
    assert window.complaints == []


def test_an_organiser_curates_without_a_complaint(window: Any, live_site: Any) -> None:
    site = live_site[0]
    window.goto("/admin/")
    window.fill("input[name=login]", "organiser")
    window.fill("input[name=password]", PASSWORD)
    window.click("main button[type=submit]")
    window.goto("/admin/problems/release/")
    keep_picture(window, "admin-releases")
    window.get_by_role("link", name="Import a pack").click()
    keep_picture(window, "admin-import")
    window.goto(f"/admin/problems/release/{site.release.pk}/change/")
    keep_picture(window, "admin-release")
    window.get_by_role("link", name="Verify on a node").click()
    window.get_by_role("button", name="Verify on a node").click()
    window.get_by_text("evaluations to come").wait_for()
    keep_picture(window, "admin-verify")
    assert window.complaints == []


def test_a_flag_is_decided_by_hand(window: Any) -> None:
    window.goto("/admin/login/?next=/admin/leaderboard/flag/")
    window.fill("input[name=login]", "organiser")
    window.fill("input[name=password]", PASSWORD)
    window.click("main button[type=submit]")
    flag = Flag.objects.order_by("pk").first()
    if flag is None:
        pytest.fail("the site of these tests has no flag to decide")
    keep_picture(window, "admin-flags")
    window.get_by_role("link", name=flag.code.replace("_", " ").capitalize()).first.click()
    window.locator("[data-chart-url]").first.scroll_into_view_if_needed()
    window.locator(".chart .main-svg").first.wait_for()
    keep_picture(window, "admin-flag")
    window.get_by_label("Dismiss").check()
    window.fill("textarea", "Seen on every node of that kind.")
    window.get_by_role("button", name="Decide").click()
    window.get_by_text("Flag dismissed").wait_for()
    assert flag.decisions.count() == 1
    assert window.complaints == []


def test_keys_move_through_the_flags_and_decide_nothing(window: Any, live_site: Any) -> None:
    window.goto("/admin/login/?next=/admin/leaderboard/flag/")
    window.fill("input[name=login]", "organiser")
    window.fill("input[name=password]", PASSWORD)
    window.click("main button[type=submit]")
    window.locator("[data-all]").wait_for()
    first, second = list(Flag.objects.order_by("pk").values_list("pk", flat=True))[:2]
    for key in "jjkx":
        window.keyboard.press(key)
    assert window.locator("[name=flag]:checked").evaluate_all("all => all.map(one => one.value)") == [f"{first}:0"]
    window.keyboard.press("Enter")
    window.wait_for_url(f"**/flag/{first}/change/")
    window.keyboard.press("j")
    window.wait_for_url(f"**/flag/{second}/change/")
    window.keyboard.press("k")
    window.wait_for_url(f"**/flag/{first}/change/")
    window.keyboard.press("u")
    assert window.get_by_label("Uphold").is_checked()
    window.keyboard.type("jkd")
    assert window.locator("textarea[name=reason]").input_value() == "jkd"
    assert window.url.endswith(f"/flag/{first}/change/")
    assert not Decision.objects.exists()
    window.get_by_label("Public reason").fill("")
    window.get_by_role("button", name="Decide").click()
    assert not Decision.objects.exists()
    assert window.complaints == []
