"""In a real browser: the pages of a release of weighted chapters and questions are clean, and its chart is readable."""

import random
from typing import Any

import pytest
from django.urls import reverse
from django.utils.text import slugify

from problems.models import Problem, Release
from tests import factories, mixed
from tests.chapters import CHAPTERS, FAILED, PROBLEMS, PUBLISHED
from tests.requirements import requires
from tests.web.site.test_browser import LOOKS, Visit, look_faults, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]

SKILL = {
    "Cobalt Max": 1.5, "Cobalt": 1.3, "Lark 4": 1.28, "Heron 4.5": 1.26, "Basalt Pro 2.5": 1.0,
    "Quarry V3.2": 0.85, "Quarry V3.1": 0.83, "Tern Next 80B A3B Thinking": 0.5, "Heron Mini 4.5": 0.52,
}  # fmt: skip
EASE = {f"ch{chapter}": 1 - failed / (27 * n) for chapter, n, failed in zip(CHAPTERS, PROBLEMS, FAILED, strict=True)}
COVERED = """() => {
    const place = document.querySelector('[data-chart-url*=raw-vs-weighted]');
    const boxes = (selector) => [...place.querySelectorAll(selector)]
        .filter((one) => getComputedStyle(one).visibility !== 'hidden')
        .map((one) => [one.closest('.trace'), one.textContent, one.getBoundingClientRect()]);
    const names = boxes('.textpoint text'), all = [...names, ...boxes('.points path')];
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const covered = names.filter(([own, , box]) => all.some(([trace, , other]) => trace !== own && meet(box, other)));
    const listed = place.parentElement.querySelectorAll('.unnamed li').length;
    return {shown: names.length, listed, covered: covered.map(([, name]) => name)};
}"""


def chapters_release() -> Release:
    """53 coding problems of 18 weighted chapters and a question on each chapter, judged for nine models."""
    problems = [
        mixed.coding(f"{group}/{n}", group) for group, size in zip(EASE, PROBLEMS, strict=True) for n in range(size)
    ]
    problems += [mixed.question(f"qa/{group}", group) for group in EASE]
    note = "Calibrated on 2026-11-23 with epsilon 0.05 from three-models.jsonl (sha256 0123456789abcdef)."
    made = mixed.release(
        problems, dict(zip(EASE, PUBLISHED, strict=True)), primary_metric="weighted", weights_note=note
    )
    track, owner = factories.offer(made), factories.UserFactory()
    for name, skill in SKILL.items():
        entrant = factories.EntrantFactory(name=name, slug=slugify(name), owner=owner)
        mixed.submission(entrant, made, track, _solver(name, skill))
    return made


def _solver(name: str, skill: float) -> mixed.Solves:
    drawn = random.Random(name)
    ease = {group: min(0.97, share * skill) for group, share in EASE.items()}
    solved: dict[str, bool] = {}

    def solves(problem: Problem) -> bool:
        return solved.setdefault(problem.task_id, drawn.random() < ease[problem.group])

    return solves


def test_the_pages_of_chapters_are_clean_and_no_name_lies_on_a_name_or_point(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS, settings.BOOTSTRAP_DRAWS = ["*"], 200
    made = chapters_release()
    board = reverse("board", args=[made.slug])
    pages = {
        "kinds-board": board,
        "kinds-groups": f"{board}?group=*",
        "kinds-problems": reverse("problems", args=[made.slug]),
        "kinds-about": reverse("release_about", args=[made.slug]),
    }
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    faults = page_faults(visit, pages)
    for look in visit.looks_of(reverse("charts", args=[made.slug])):
        faults += look_faults(visit, "kinds-charts", look)
        names = visit.page.evaluate(COVERED)
        assert names["covered"] == []
        assert names["shown"] + names["listed"] == len(SKILL), "who has no room in the drawing is named below it"
    visit.context.close()
    assert faults == [], "\n".join(faults)
