"""In a real browser: what a phone shows of a board at once, and the buttons that open the rest without a script."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import ProblemTrack
from tests.requirements import requires
from tests.web.drawn_board import drawn_board

pytestmark = [requires("chromium"), pytest.mark.rest]
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def opened(chromium: Any, transactional_db: Any, live_server: Any, settings: Any) -> Any:
    """Opens an empty page without a script, of a window of the given size."""
    settings.ALLOWED_HOSTS = ["*"]
    contexts = []

    def page(size: dict[str, int], **options: Any) -> Any:
        context = chromium.new_context(base_url=live_server.url, viewport=size, java_script_enabled=False, **options)
        contexts.append(context)
        return context.new_page()

    yield page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_phone_shows_the_leader_and_its_figure_on_the_first_screen(colours: str, opened: Any) -> None:
    made, _ = drawn_board(12)
    page = opened(PHONE, color_scheme=colours)
    page.goto(reverse("board", args=[made.slug]))
    leader, row = page.locator(".leader").bounding_box(), page.locator(".board tbody tr .ranks").first.bounding_box()
    for box in (leader, row):
        assert box["y"] + box["height"] <= PHONE["height"]
        assert box["x"] + box["width"] <= PHONE["width"]
    links, filters = page.get_by_role("link", name="Releases"), page.locator("form.filters")
    assert not links.is_visible()
    assert not filters.is_visible()
    page.get_by_text("Menu").click()
    page.get_by_text("Filters and columns").click()
    assert links.is_visible()
    assert filters.is_visible()
    page.goto(f"{reverse('board', args=[made.slug])}?q=cobalt")
    assert filters.is_visible(), "a choice is in sight"


def test_a_wide_page_has_neither_button(opened: Any) -> None:
    made, _ = drawn_board(2)
    page = opened({"width": 1280, "height": 900})
    page.goto(reverse("board", args=[made.slug]))
    assert not page.get_by_text("Menu").is_visible()
    assert not page.get_by_text("Filters and columns").is_visible()
    assert page.get_by_role("link", name="Releases").is_visible()
    assert page.locator("form.filters").is_visible()


def test_a_phone_shows_the_ranked_figure_of_every_table_without_scrolling_it(opened: Any) -> None:
    made, track = drawn_board(2)
    for problem in made.problems.all():
        ProblemTrack.objects.update_or_create(problem=problem, track=track, defaults={"best_speedup": 12.25})
    made.standings.update(estimates={"pass@1": {"value": 0.5, "low": 0.333, "high": 0.667}})
    entrant = made.standings.get(rank=1).entrant
    page = opened(PHONE)
    for path, words in (
        (entrant.get_absolute_url(), "Score that ranks"), (reverse("releases"), "Ranked by"),
        (reverse("problems", args=[made.slug]), "Best speedup"),
        (reverse("framed_board", args=[made.slug]), "ranked by"),
    ):  # fmt: skip
        page.goto(path)
        cell = page.locator("thead th", has_text=words).first.bounding_box()
        frame = page.locator(".scroll", has_text=words).first.bounding_box()
        assert cell["x"] + cell["width"] <= frame["x"] + frame["width"] + 1, path
        assert frame["x"] + frame["width"] <= PHONE["width"]


def test_charts_without_a_script_are_a_sentence_with_a_link_to_their_numbers(opened: Any) -> None:
    made, _ = drawn_board(2)
    page = opened(PHONE)
    page.goto(reverse("charts", args=[made.slug]))
    figures = page.locator("figure.figure")
    assert page.locator("[data-chart-url]:visible").count() == 0
    for figure in figures.all():
        link = figure.get_by_role("link", name="the numbers as a table")
        assert figure.locator(link.get_attribute("href")).count() == 1
    links = page.get_by_role("link", name="the numbers as a table")
    assert links.count() == figures.count() > 0
    links.first.click()
    assert page.locator("figure table").first.is_visible()
