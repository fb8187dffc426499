"""In a real browser: every figure of a board can be scrolled to beside its model, however narrow the page."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Standing, Submission
from leaderboard.models.boards.estimates import Triple
from tests import factories, packs
from tests.estimates import estimates
from tests.requirements import requires
from tests.web.site.test_browser import Visit

pytestmark = [requires("chromium"), pytest.mark.rest]

WIDTHS = (320, 390, 768, 1009, 1024, 1265, 1280, 1440)
"""1009 and 1265: windows of 1024 and 1280 with a scroll bar."""
GROUPS = ("cccl", "cublas", "cuda-kernels", "cuda-runtime", "mathlibs", "memory_coalescing_and_more", "python")
CUT = """() => [...document.querySelectorAll('.board tbody :is(th, td), .board thead th:has(a)')]
    .filter((cell) => cell.scrollWidth > cell.clientWidth + 1 || cell.offsetWidth < 10).map((cell) => cell.innerText)"""
HIDDEN = """() => {
    const frame = document.querySelector('.board').parentElement;
    frame.scrollLeft = 100000;
    const edge = document.querySelector('.board tbody .model').getBoundingClientRect().right;
    const last = document.querySelector('.board tbody tr').lastElementChild.getBoundingClientRect();
    const shown = frame.getBoundingClientRect();
    frame.scrollLeft = 0;
    return {under: Math.max(0, edge - last.left), beyond: Math.max(0, last.right - shown.right)};
}"""
WIDEST = {
    "rank": 17, "rank_low": 15, "rank_high": 20, "n_samples": 123456, "n_solved": 566, "n_problems": 566,
}  # fmt: skip
WIDEST_FIGURES: dict[str, Triple | float | None] = {
    "pass@1": (1.0, 0.816, 1.0), "pass@2": (1.0, 0.816, 1.0), "speedup": (12.34, 12.30, 19.87), "fast_1": 1.0,
    "correct_speedup": 1234.5, "gflops": 123456.7, "roofline": (1.0, 0.814, 1.0), "sol_score": (0.654, 0.543, 0.987),
}  # fmt: skip


def board_of(n_groups: int, **figures: float | None) -> str:
    """The address of a board whose every figure is as wide as it gets, with a column for each group."""
    groups = GROUPS[:n_groups]
    made = factories.release(len(GROUPS), problem=lambda n: packs.problem(f"Wide/{n}", group=groups[n % n_groups]))
    track = factories.offer(made)
    rows = factories.standings(made, track, 3, owner=factories.UserFactory())
    solved = {group: {"solved": 100, "problems": 100, "pass_at_1": 1.0} for group in groups}
    known = estimates(WIDEST_FIGURES | figures, speedup={"problems": 3}, gflops={"problems": 2})
    changes = {**WIDEST, "groups": solved, "estimates": known}
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


def check_at(visit: Visit, path: str, width: int, n_columns: int = 10) -> None:
    """The open page at this width: nothing of the board of at least so many columns is cut, covered or out of reach."""
    assert visit.page.locator(".board td").count() >= 3 * n_columns
    assert visit.page.evaluate(CUT) == [], f"{path} at {width} px"
    hidden = visit.page.evaluate(HIDDEN)
    assert hidden["under"] <= 1, f"{path} at {width} px: the last figure lies under the model"
    assert hidden["beyond"] <= 1.5, f"{path} at {width} px: the last figure cannot be scrolled to"
    assert visit.overflow() <= 0, f"{path} at {width} px"


def full_board(n_groups: int, roofline: float | None) -> str:
    """The address of a board with every figure, or without those that a release may lack."""
    shares = dict.fromkeys(("roofline", "sol_score", "coding", "weighted", "questions"), roofline)
    address = board_of(n_groups, **shares)
    Submission.objects.update(tokens_per_sample=roofline and 999999.0, usd_per_sample=roofline and 1234567.8)
    return address


@pytest.mark.parametrize("n_groups", [1, 2, len(GROUPS)])
@pytest.mark.parametrize("roofline", [None, 1.0])
def test_every_figure_can_be_scrolled_to(n_groups: int, roofline: float | None, visit: Visit) -> None:
    address = full_board(n_groups, roofline)
    for path in (address, f"{address}?group=*"):
        visit.open(path)
        for width in WIDTHS:
            visit.page.set_viewport_size({"width": width, "height": 900})
            check_at(visit, path, width)


@pytest.mark.parametrize("roofline", [None, 1.0])
def test_every_figure_of_the_front_page_can_be_scrolled_to(roofline: float | None, visit: Visit) -> None:
    """Its board has no columns of groups; its chart is drawn for the width at which the page is opened."""
    full_board(1, roofline)
    for width in WIDTHS:
        open_at(visit, "/", width)
        check_at(visit, "/", width, n_columns=4)


def test_a_boards_columns_fit_a_desktop_window_without_groups(visit: Visit) -> None:
    open_at(visit, board_of(2, roofline=None, sol_score=None, gflops=None), 1265)
    frame = "document.querySelector('.board').parentElement"
    assert visit.page.evaluate(f"() => {frame}.scrollWidth - {frame}.clientWidth") <= 1


def test_a_phone_sorts_by_the_same_headings(visit: Visit) -> None:
    open_at(visit, board_of(2), 390)
    visit.page.get_by_role("link", name="Speedup ≥ 1 (×)").click()
    visit.page.wait_for_url("**sort=-speedup**")
