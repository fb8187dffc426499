"""In a real browser: no page has a console error or an accessibility fault, in light, dark and on a phone."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.factories import PASSWORD
from tests.patience import SOON
from tests.requirements import requires
from tests.web.looked_at import looks_now

pytestmark = requires("chromium")

AXE = Path(__file__).parents[2] / "vendor" / "axe-core" / "4.14.1" / "axe.min.js"
SCREENSHOTS = os.environ.get("PODIUM_SCREENSHOTS", "")
LOOKS = {"dark": (1280, 900, "dark"), "light": (1280, 900, "light"), "phone": (390, 844, "light")}
FEW_LOOKS = ("dark", "phone")
"""Both colours, both widths, and every rule of axe: for pages that are looked at one by one in journeys too."""
EACH_WIDTH = [("dark", "light"), ("phone",)]
"""Looks between which a page changes without being loaded: for what is done on it by hand."""
# What theme.js does when a page opens.
REPAINT = """() => {
    const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    document.documentElement.dataset.theme = theme;
    document.dispatchEvent(new CustomEvent('podium:theme', {detail: theme}));
}"""


class Visit:
    """A browser window that remembers what its console complained of."""

    def __init__(self, browser: Any, base: str, width: int, height: int, scheme: str) -> None:
        # without motion no transition begins: during one, contrast is that of neither theme
        self.context = browser.new_context(
            base_url=base,
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
            bypass_csp=False,
        )
        self.context.set_default_timeout(1e3 * SOON)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda m: m.type in {"error", "warning"} and self.complaints.append(m.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self._stays_here(base, request.url))

    def _stays_here(self, base: str, url: str) -> None:
        if not url.startswith((f"{base}/", "data:", "blob:")):
            self.complaints.append(f"a request off the host: {url}")

    def open(self, path: str) -> None:
        self.page.goto(path)
        self.page.wait_for_load_state("load")

    def emulate(self, look: str) -> None:
        """The window's size and the system's colours, with which the next page opens."""
        width_px, height_px, scheme = LOOKS[look]
        self.page.set_viewport_size({"width": width_px, "height": height_px})
        self.page.emulate_media(color_scheme=scheme)

    def wear(self, look: str) -> None:
        """Show the open page in this look."""
        self.emulate(look)
        self.page.evaluate(REPAINT)

    def looks_of(self, path: str, looks: Iterable[str] = LOOKS) -> Iterator[str]:
        """Open the page and show it in each look. It is loaded anew for another width if it has charts: only their
        script reads the width."""
        loaded_px = 0
        for look in looks:
            width_px = LOOKS[look][0]
            if not loaded_px or (loaded_px != width_px and self.page.locator("[data-chart-url]").count()):
                self.emulate(look)
                self.open(path)
                self.wait_for_charts()
                loaded_px = width_px
            else:
                self.wear(look)
            yield look

    def wait_for_charts(self) -> None:
        """Scroll each into view; the library is only loaded there."""
        for chart in self.page.locator("[data-chart-url]").all():
            chart.scroll_into_view_if_needed()
            chart.locator(".main-svg").first.wait_for()

    def sign_in(self, username: str) -> None:
        self.open("/accounts/login/")
        self.page.fill("input[name=login]", username)
        self.page.fill("input[name=password]", PASSWORD)
        self.page.click("main button[type=submit]")
        self.page.wait_for_url("**/account/")

    def type_code(self, text: str) -> None:
        """Replace what the editor holds."""
        self.page.locator(".cm-content:visible").first.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
        self.page.wait_for_function("text => document.querySelector('[name=content-0]').value === text", arg=text)

    def typed_code(self) -> str:
        return self.page.locator("[name=content-0]").input_value()

    def axe_faults(self, look: str) -> list[str]:
        """In the dark only of contrast: the rest of the page is as in the light."""
        only = "runOnly: ['color-contrast'], " if look == "dark" else ""
        # through the debugger, so that the page's own policy stays as strict as it is
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')}; window.axe = axe; }}")
        found = self.page.evaluate(f"() => axe.run(document, {{{only}resultTypes: ['violations']}})")
        return [f"{fault['id']}: {fault['help']} at {fault['nodes'][0]['html'][:160]}" for fault in found["violations"]]

    def overflow(self) -> int:
        """How many pixels the page is wider than the window."""
        return self.page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")

    def keep_picture(self, name: str) -> None:
        if SCREENSHOTS:
            self.page.evaluate("() => window.scrollTo(0, 0)")
            self.page.screenshot(path=f"{SCREENSHOTS}/{name}.png", full_page=True)


def look_faults(visit: Visit, name: str, look: str) -> list[str]:
    """Of the open page."""
    visit.keep_picture(f"{name}-{look}")
    faults = visit.axe_faults(look)
    faults += [line for line in visit.complaints if "404 (Not Found)" not in line]
    if visit.overflow() > 0:
        faults.append(f"{visit.overflow()} px wider than the window")
    visit.complaints.clear()
    return [f"{name}-{look}: {fault}" for fault in faults]


def faults_as_it_stands(visit: Visit, name: str, looks: Sequence[str]) -> list[str]:
    """Of the open page in each look that is due; it is left in the first."""
    faults = []
    for look in reversed(looks_now(looks)):
        visit.wear(look)
        faults += look_faults(visit, name, look)
    visit.wear(looks[0])
    return faults


def page_faults(visit: Visit, pages: dict[str, str], looks: Sequence[str] = tuple(LOOKS)) -> list[str]:
    """Of each page in each look that is due."""
    return [
        fault
        for name, path in pages.items()
        for look in visit.looks_of(path, looks_now(looks))
        for fault in look_faults(visit, name, look)
    ]


@pytest.mark.rest
def test_every_page_is_clean(chromium: Any, live_site: Any) -> None:
    site, base = live_site
    visit = Visit(chromium, base, *LOOKS["light"])
    faults = page_faults(visit, site.public_pages)
    visit.sign_in("owner")
    faults += page_faults(visit, site.own_pages)
    visit.context.close()
    assert faults == [], "\n".join(faults)


def test_a_board_sorts_and_explains_itself_by_keyboard(chromium: Any, live_site: Any) -> None:
    site, base = live_site
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.open(site.public_pages["board"])
    header = visit.page.get_by_role("columnheader", name="Speedup ≥ 1 (×)")
    assert header.get_attribute("aria-sort") == "none"
    header.get_by_role("link").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**sort=-speedup**")
    header = visit.page.get_by_role("columnheader", name="Speedup ≥ 1 (×)")
    assert header.get_attribute("aria-sort") == "descending"
    visit.page.get_by_text("What the columns mean").focus()
    visit.page.keyboard.press("Enter")
    assert visit.page.get_by_text("The 95 % interval of the mean over problems like these").is_visible()
    visit.context.close()


def test_the_theme_is_remembered(chromium: Any, transactional_db: Any, live_server: Any, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.open("/about/")
    visit.page.click("[data-theme-toggle]")
    visit.open("/nodes/")
    assert visit.page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    visit.context.close()


def test_a_submissions_page_follows_its_progress(chromium: Any, live_site: Any) -> None:
    from tests import factories

    site, base = live_site
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.sign_in("owner")
    visit.open(site.running.get_absolute_url())
    assert "0 of 24 evaluations done" in visit.page.inner_text("#live")
    factories.judge(site.running)
    visit.page.get_by_text("23 of 24 evaluations done").wait_for()
    visit.context.close()


@pytest.mark.rest
def test_an_evaluations_page_shows_the_result_once_it_is_there(chromium: Any, live_site: Any) -> None:
    from leaderboard.actions.submissions.record_result import record_result
    from leaderboard.models.submissions.evaluation import ResultOrigin
    from leaderboard.rows.origin import Origin
    from tests import factories

    site, base = live_site
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.open(site.running_evaluation.get_absolute_url())
    assert visit.page.get_by_text("Building on node-a").is_visible()
    record_result(site.running_evaluation, factories.report(), Origin(ResultOrigin.FLEET))
    visit.page.get_by_role("heading", name="Measurements").wait_for(timeout=12000)
    assert visit.complaints == []
    visit.context.close()


@pytest.mark.rest
def test_an_evaluations_page_follows_its_state_without_being_loaded_again(chromium: Any, live_site: Any) -> None:
    from leaderboard.models import Evaluation

    site, base = live_site
    waiting = site.running.evaluations.filter(state="queued").first()
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.open(waiting.get_absolute_url())
    visit.page.evaluate("() => { window.isSamePage = true; }")
    assert "queued" in visit.page.inner_text("#state")
    Evaluation.objects.filter(pk=waiting.pk).update(state="leased")
    visit.page.locator("#state", has_text="running").wait_for()
    assert visit.page.locator("#state").count() == 1
    assert visit.page.evaluate("() => window.isSamePage")
    assert visit.complaints == []
    visit.context.close()


def test_typed_code_becomes_a_submission(chromium: Any, live_site: Any) -> None:
    site, base = live_site
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.sign_in("owner")
    visit.open(site.own_pages["own-problem"])
    visit.type_code("exit 0\n")
    visit.page.click("text=Submit this solution")
    visit.page.wait_for_url("**/submissions/*/")
    assert "0 of 1 evaluation done" in visit.page.inner_text("#live")
    visit.context.close()


def test_reading_needs_no_javascript(chromium: Any, live_site: Any) -> None:
    site, base = live_site
    context = chromium.new_context(base_url=base, java_script_enabled=False)
    context.set_default_timeout(1e3 * SOON)
    page = context.new_page()
    page.goto(site.public_pages["charts"])
    page.click("text=The numbers as a table >> nth=0")
    assert page.get_by_role("rowheader", name="Alpha").first.is_visible()
    context.close()
