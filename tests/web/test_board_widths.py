"""In a real browser: no figure of a board is cut off or hidden, however many columns and however narrow the page."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Standing, Submission
from tests import factories, packs
from tests.requirements import requires
from tests.web.test_browser import Visit

pytestmark = [requires("chromium"), pytest.mark.rest]

WIDTHS = (320, 390, 768, 1009, 1024, 1265, 1280, 1440)
"""1009 and 1265: windows of 1024 and 1280 with a scroll bar."""
GROUPS = ("cccl", "cublas", "cuda-kernels", "cuda-runtime", "mathlibs", "memory_coalescing_and_more", "python")
CUT = """() => {
    const frame = document.querySelector('.fit').getBoundingClientRect();
    const left = (cell) => { const box = cell.getBoundingClientRect(); return box.left < frame.left - 0.5
        || box.right > frame.right + 0.5 || box.width < 10 || box.height < 10; };
    const cells = [...document.querySelectorAll('.board tbody :is(th, td), .board thead th:has(a)')];
    return cells.filter((cell) => left(cell) || cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.innerText);
}"""
TITLES = """() => [...document.querySelectorAll('.board tbody tr:first-child td')]
    .map((cell) => getComputedStyle(cell, '::before').content)"""
WIDEST = {
    "rank": 17, "rank_low": 15, "rank_high": 20, "pass_at_k": {"1": [1.0, 0.816, 1.0], "2": [1.0, 0.816, 1.0]},
    "speedup": 12.34, "speedup_low": 12.30, "speedup_high": 19.87, "correct_speedup": 1234.5, "gflops": 123456.7,
    "roofline": 1.0, "roofline_low": 0.814, "roofline_high": 1.0, "n_samples": 123456, "n_solved": 566,
    "n_problems": 566, "sol_score": 0.654, "sol_score_low": 0.543, "sol_score_high": 0.987,
}  # fmt: skip


def board_of(n_groups: int, **figures: Any) -> str:
    """The address of a board whose every figure is as wide as it gets, with a column for each group."""
    groups = GROUPS[:n_groups]
    made = factories.release(len(GROUPS), problem=lambda n: packs.problem(f"Wide/{n}", group=groups[n % n_groups]))
    track = factories.offer(made)
    rows = factories.standings(made, track, 3, owner=factories.UserFactory())
    solved = {group: {"solved": 100, "problems": 100, "pass_at_1": 1.0} for group in groups}
    changes = {**WIDEST, "groups": solved, **figures}
    Standing.objects.filter(pk__in=[row.pk for row in rows]).update(**changes)
    return reverse("board", args=[made.slug])


@pytest.fixture
def visit(chromium: Any, transactional_db: Any, live_server: Any, settings: Any) -> Iterator[Visit]:
    settings.ALLOWED_HOSTS = ["*"]
    visit = Visit(chromium, live_server.url, 1440, 900, "light")
    yield visit
    visit.context.close()


def open_at(visit: Visit, path: str, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 900})
    visit.open(path)


@pytest.mark.parametrize("n_groups", [1, 2, len(GROUPS)])
@pytest.mark.parametrize("roofline", [None, 1.0])
def test_every_figure_is_within_the_board(n_groups: int, roofline: float | None, visit: Visit) -> None:
    shares = dict.fromkeys(("roofline", "sol_score", "coding", "weighted", "questions"), roofline)
    address = board_of(n_groups, **shares)
    Submission.objects.update(tokens_per_sample=roofline and 999999.0, usd_per_sample=roofline and 1234567.8)
    for path in (address, f"{address}?group=*", "/"):
        visit.open(path)
        for width in WIDTHS:
            visit.page.set_viewport_size({"width": width, "height": 900})
            if path == "/":  # its chart is drawn for the width at which the page is opened
                visit.open(path)
            assert visit.page.locator(".board td").count() >= 3 * 10
            assert visit.page.evaluate(CUT) == [], f"{path} at {width} px"
            assert visit.overflow() <= 0, f"{path} at {width} px"


def test_a_table_stands_where_its_columns_fit(visit: Visit) -> None:
    address = board_of(len(GROUPS), roofline=None, sol_score=None)
    looks = {}
    for query, width in [("", 1000), ("", 1024), ("?group=cccl", 1024), ("?group=cccl", 1265), ("?group=*", 1440)]:
        open_at(visit, address + query, width)
        looks[query, width] = visit.page.evaluate("() => getComputedStyle(document.querySelector('.board')).display")
    assert list(looks.values()) == ["block", "table", "block", "table", "block"]


def test_where_figures_wrap_each_stands_under_its_title_and_sorting_stays(visit: Visit) -> None:
    open_at(visit, board_of(2), 390)
    shown = [title.strip('"') for title in visit.page.evaluate(TITLES)]
    assert shown[:3] == ["Rank", "pass@1 (%)", "pass@2 (%)"]
    assert shown[-2:] == ["Samples", "Date"]
    visit.page.get_by_role("link", name="Speedup (×)").click()
    visit.page.wait_for_url("**sort=-speedup**")
