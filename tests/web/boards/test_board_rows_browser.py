"""In a real browser: a board's rows open by keyboard, columns hide, and rank and model stay in view on a phone."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Standing
from tests import factories
from tests.requirements import requires
from tests.web.conftest import Site
from tests.web.site.test_browser import EACH_WIDTH, LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]
SIDES = """() => {
    const frame = document.querySelector('.board').parentElement;
    frame.scrollLeft = 10000;
    const box = (selector) => document.querySelector('.board tbody ' + selector).getBoundingClientRect();
    const left = frame.getBoundingClientRect().left;
    return {scrolled: frame.scrollLeft, rank: box('.rank').left - left, model: box('.model').left - left,
        under: box('.rank').right - box('.model').left,
        room: frame.clientWidth - (box('.model').right - left)};
}"""


@pytest.fixture
def site(live_site: tuple[Site, str]) -> Site:
    return live_site[0]


def board(site: Site, query: str = "") -> str:
    return reverse("board", args=[site.release.slug]) + query


@pytest.fixture
def visit(chromium: Any, live_site: tuple[Site, str]) -> Iterator[Visit]:
    visit = Visit(chromium, live_site[1], *LOOKS["light"])
    yield visit
    visit.context.close()


@pytest.mark.parametrize("looks", EACH_WIDTH)
def test_a_row_opens_and_closes_by_keyboard(visit: Visit, site: Site, looks: tuple[str, ...]) -> None:
    details = visit.page.locator("tr.details")
    link = visit.page.get_by_role("link", name="Details of Alpha")
    for look in visit.looks_of(board(site), looks):
        if look == looks[0]:
            link.focus()
            visit.page.keyboard.press("Enter")
            details.get_by_role("progressbar").first.wait_for()
            assert "strings" in details.inner_text()
            assert link.get_attribute("aria-expanded") == "true"
        visit.keep_picture(f"board-open-{look}")
        assert visit.axe_faults(look) == []
        assert visit.overflow() <= 0
    visit.page.keyboard.press("Enter")
    assert details.count() == 0
    assert visit.complaints == []


def test_boards_of_some_problems_and_tables_of_problems_are_clean(visit: Visit, site: Site) -> None:
    problem = site.release.problems.order_by("position").first()
    paths = {
        "board-some": board(site, f"?groups=strings&group=*&hide=fast_1&as_of={timezone.now():%Y-%m-%d}"),
        "problems-table": reverse("problems", args=[site.release.slug]) + "?sort=-solved",
        "problem-ranking": reverse("problem", args=[site.release.slug, problem.slug]) + "?by=time",
    }
    assert "\n".join(page_faults(visit, paths)) == ""


def test_rank_and_model_stay_while_figures_scroll(visit: Visit, site: Site) -> None:
    visit.emulate("phone")
    Standing.objects.update(rank_low=950, rank_high=1000)
    visit.open(board(site, "?group=*"))
    sides = visit.page.evaluate(SIDES)
    assert sides["scrolled"] > 100
    assert abs(sides["rank"]) <= 1.5
    assert sides["model"] > 40
    assert sides["under"] <= 1.5, "no part of the rank lies under the model"
    assert sides["room"] > 150, "room for two columns of figures"


def test_columns_hide_and_problems_are_chosen_by_their_forms(visit: Visit, site: Site) -> None:
    visit.open(board(site))
    visit.page.get_by_text("Columns", exact=True).click()
    visit.page.get_by_role("checkbox", name="fast₁").check()
    visit.page.locator("details[open]").get_by_role("button").click()
    visit.page.wait_for_url("**hide=fast_1**")
    assert visit.page.get_by_role("columnheader", name="fast₁").count() == 0
    visit.page.get_by_text("Rank over some problems").click()
    visit.page.get_by_role("checkbox", name="strings").check()
    visit.page.get_by_role("button", name="Rank", exact=True).click()
    visit.page.wait_for_url("**groups=strings**")
    assert visit.page.get_by_text("Ranked anew over 3 of 6 problems").is_visible()
    assert visit.page.get_by_role("columnheader", name="fast₁").count() == 0, "the URL keeps it"


def test_without_a_script_the_link_opens_the_row(chromium: Any, visit: Visit, site: Site, live_site: Any) -> None:
    context = chromium.new_context(base_url=live_site[1], java_script_enabled=False)
    page = context.new_page()
    page.goto(board(site, "?sort=-speedup"))
    page.get_by_role("link", name="Details of Gamma").click()
    assert "open=gamma" in page.url
    assert page.locator("tr.details").count() == 1
    page.get_by_role("link", name="Details of Gamma").click()
    assert page.locator("tr.details").count() == 0
    context.close()


def test_a_board_fills_while_a_submission_is_graded(chromium: Any, transactional_db: Any, live_server: Any) -> None:
    cast = factories.Cast.make()
    made = factories.release(2)
    track = factories.offer(made)
    factories.judged_submission(cast.entrant, made, track)
    second = factories.submission(cast.strangers_entrant, made, track)
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.open(reverse("board", args=[made.slug]))
    visit.page.get_by_text("being graded").wait_for()
    name = visit.page.get_by_role("link", name=cast.strangers_entrant.name, exact=True)
    rank = visit.page.locator("#ranking tr", has=name).locator(".rank")
    assert rank.all_inner_texts() in ([], ["–"])
    factories.judge(second)
    factories.rank(made, track)
    second.refresh_from_db()
    visit.page.get_by_text("being graded").wait_for(state="detached")  # without a reload by hand
    assert rank.inner_text().startswith("1")
    assert visit.complaints == []
    visit.context.close()
