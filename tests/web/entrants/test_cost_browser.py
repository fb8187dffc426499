"""In a real browser: pages with declared tokens and costs are clean, and the chart's names lie on nothing."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils.text import slugify

from problems.models import Release
from runners.wire.protocol import Verdict
from tests import factories
from tests.requirements import requires
from tests.spec.test_generation import manifest
from tests.web.problems.test_kinds_browser import COVERED
from tests.web.site.test_browser import LOOKS, Visit, look_faults, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]

COSTS: dict[str, tuple[float | None, int]] = {
    "Cobalt Max": (14.4, 36), "Cobalt": (3.1, 33), "Lark 4": (2.9, 33), "Heron 4.5": (2.9, 32),
    "Basalt Pro 2.5": (1.3, 26), "Quarry V3.2": (0.3, 24), "Quarry V3.1": (0.28, 24), "Heron Mini 4.5": (0.21, 20),
    "Tern Next 80B A3B Thinking": (0.004, 12), "Tern Next 4B": (0.004, 0), "Own machine": (0, 15),
    "Person": (None, 30),
}  # fmt: skip
"""US$ of the whole pack, and how many of its 36 samples pass."""


def costly_release() -> Release:
    made = factories.release(12)
    track, owner = factories.offer(made), factories.UserFactory()
    for name, (cost, n_passed) in COSTS.items():
        entrant = factories.EntrantFactory(name=name, slug=slugify(name), owner=owner)
        generation = None if cost is None else manifest() | {"model": f"lab/{slugify(name)}"}
        if generation:
            generation["usage"] |= {"cost": cost, "prompt_tokens": 61_000, "completion_tokens": 4_200 + 9000 * n_passed}
        stored = factories.submission(entrant, made, track, n_samples=3, generation=generation)
        passing = set(stored.evaluations.order_by("pk").values_list("pk", flat=True)[:n_passed])
        factories.judge(
            stored,
            lambda one, passing=passing: factories.report(Verdict.PASSED if one.pk in passing else Verdict.TEST_FAILED),
        )
    factories.rank(made, track)
    return made


def test_the_pages_of_costs_are_clean_and_no_name_lies_on_a_name_or_point(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS, settings.BOOTSTRAP_DRAWS = ["*"], 200
    made = costly_release()
    first = made.submissions.order_by("pk").first()
    assert first
    pages = {
        "cost-board": reverse("board", args=[made.slug]),
        "cost-submission": first.get_absolute_url(),
        "cost-entrant": first.entrant.get_absolute_url(),
    }
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    faults = page_faults(visit, pages)
    chart = visit.page.locator("[data-chart-url*=score-vs-cost]")
    for look in visit.looks_of(reverse("charts", args=[made.slug])):
        faults += look_faults(visit, "cost-charts", look)
        names = visit.page.evaluate(COVERED.replace("raw-vs-weighted", "score-vs-cost"))
        assert names["covered"] == []
        assert names["shown"] >= (3 if look == "phone" else 8)
        assert chart.locator(".xtick text").all_text_contents() == ["0.0001", "0.001", "0.01", "0.1"]
    visit.context.close()
    assert faults == [], "\n".join(faults)
