"""In a real browser: charts of one, two and twelve entrants are clean, and nothing of them is cut or covered."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.charts import BOARD_CHARTS
from leaderboard.models import Entrant
from tests.requirements import requires
from tests.web.drawn_board import drawn_board, with_past
from tests.web.site.test_browser import FEW_LOOKS, LOOKS, Visit, look_faults

pytestmark = [requires("chromium"), pytest.mark.rest]

FAULTS = """() => [...document.querySelectorAll('[data-chart-url]')].flatMap((place) => {
    const seen = (selector) => [...place.querySelectorAll(selector)]
        .filter((one) => one.textContent && getComputedStyle(one).visibility !== 'hidden')
        .map((one) => [one.textContent, one.getBoundingClientRect()]).filter(([, box]) => box.width);
    const words = [...seen('.textpoint text'), ...seen('.xtick text'), ...seen('.xtitle'), ...seen('.ytitle')];
    const frame = place.querySelector('.main-svg').getBoundingClientRect();
    const meet = (a, b) => a.left + 1 < b.right && b.left + 1 < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom;
    const slanted = place.querySelector('.xtick text')?.getAttribute('transform')?.includes('rotate(-45');
    const name = place.dataset.chartName;
    const over = words.flatMap(([one, a], n) => words.slice(n + 1).filter(([, b]) => !slanted && meet(a, b))
        .map(([other]) => `${name}: ${one} lies on ${other}`));
    const cut = [...words, ...seen('.ytick text')]
        .filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1)
        .map(([one]) => `${name}: ${one} is cut`);
    const area = place.querySelector('.nsewdrag').getBoundingClientRect();
    const halved = [...place.querySelectorAll('.points path')].map((one) => one.getBoundingClientRect())
        .filter((one) => one.left < area.left - 8 || one.bottom > area.bottom + 8)
        .map(() => `${name}: a point is outside`);
    return [...over, ...cut, ...halved];
})"""


def chart_faults(visit: Visit, name: str, look: str) -> list[str]:
    """Faults of the open page and its charts."""
    return look_faults(visit, name, look) + [f"{name}-{look}: {fault}" for fault in visit.page.evaluate(FAULTS)]


@pytest.mark.parametrize(("n", "looks"), [(1, ["phone"]), (2, ["light"]), (12, LOOKS)])
def test_charts_of_few_and_many_are_whole(
    n: int, looks: Iterable[str], chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    made, _ = drawn_board(n)
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    faults = []
    if n > 1:
        chosen = {"release": made.slug, "a": "entrant-1", "b": "entrant-2", "c": "entrant-0"}
        for look in visit.looks_of(reverse("compare", query=chosen), looks):
            faults += chart_faults(visit, f"compare-{n}", look)
    for look in visit.looks_of(reverse("charts", args=[made.slug]), looks):
        faults += chart_faults(visit, f"charts-{n}", look)
        drawn = visit.page.locator("[data-drawn]").count()
        tables = visit.page.locator("figure table").count()
        untold = {"ranked", "pass-groups"}  # pass@1 ranks, and has its own
        untold |= {"differences", "groups"} if n == 1 else set()  # one entrant differs from nobody, and is even here
        assert drawn == tables == len(BOARD_CHARTS.keys() - untold)
    visit.context.close()
    assert faults == [], "\n".join(faults)


def test_an_entrants_charts_are_whole(chromium: Any, transactional_db: Any, live_server: Any, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    entrant = with_past(*drawn_board(4))
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    faults = []
    for look in visit.looks_of(entrant.get_absolute_url(), FEW_LOOKS):
        faults += chart_faults(visit, "entrant-charts", look)
        assert visit.page.locator("figure h2").all_text_contents() == [
            "pass@1 on every board",
            "Strengths by group: Release test-2, cpu-test",
            "Strengths by group: Release test-1, cpu-test",
            "History",
        ]
    visit.context.close()
    assert faults == [], "\n".join(faults)


def test_the_legend_hides_a_line_and_a_picture_is_kept_by_keyboard(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    made, _ = drawn_board(3)
    Entrant.objects.filter(slug="entrant-2").update(name="=1+1")
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.open(reverse("charts", args=[made.slug]))
    figure = visit.page.locator("figure", has=visit.page.locator("[data-chart-url*=fast-p]"))
    figure.scroll_into_view_if_needed()
    figure.locator(".legend button").first.focus()
    assert figure.locator(".scatterlayer .trace").count() == 3
    visit.page.keyboard.press("Enter")
    assert figure.get_by_role("button", name="Cobalt Max").get_attribute("aria-pressed") == "false"
    visit.page.wait_for_function(
        "() => document.querySelectorAll('[data-chart-url*=fast-p] .trace.scatter').length === 2"
    )
    names, content = [], b""
    for kind in ("PNG", "SVG", "CSV"):
        with visit.page.expect_download() as kept:
            figure.get_by_role("button", name=kind).press("Enter")
        names.append(kept.value.suggested_filename)
        content = kept.value.path().read_bytes()
    complaints = visit.complaints
    visit.context.close()
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    assert names == [f"test-1-fast-p-cpu-test-{day}.{kind}" for kind in ("png", "svg", "csv")]
    assert content.decode().splitlines()[0].endswith('"release","revision","track","metric","as_of"')
    assert content.decode().splitlines()[1].endswith(f'"test-1","1","cpu-test","pass@1","{day}"')
    assert b'"\'=1+1"' in content, "a spreadsheet must not run a name"
    assert complaints == []


def test_a_reader_chooses_the_reference_of_the_differences(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    made, _ = drawn_board(12)
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.open(reverse("charts", args=[made.slug]))
    visit.page.get_by_label("Compare with").select_option("entrant-2")
    visit.page.wait_for_url("**against=entrant-2#test-1-differences")
    faults = []
    for look in visit.looks_of(f"{reverse('charts', args=[made.slug])}?against=entrant-2", ["light", "phone"]):
        faults += chart_faults(visit, "charts-against", look)
        n_lines = visit.page.locator("[data-chart-name$=differences] .ytick text").count()
        n_rows = visit.page.locator("#test-1-differences tbody tr").count()
        assert (n_lines, n_rows) == (10, 11), "one entrant has no problem in common with the reference"
    visit.context.close()
    assert faults == [], "\n".join(faults)
