"""In a real browser: the pages of a function problem are clean in every look, and a refusal stands at the code."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.intake.try_solution import end_trial
from leaderboard.models import Trial
from problems.actions import releases as release_actions
from problems.models import Release
from tests import factories, function_site, packs
from tests.requirements import requires
from tests.web.functions.mixed_site import FunctionSite, make_function_site
from tests.web.gpu_function_site import make_gpu_function_site
from tests.web.intake.test_trial import report
from tests.web.results.test_machine_code import listed_report
from tests.web.site.test_browser import LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]

SCROLLED = """table => {
    const frame = table.parentElement;
    frame.scrollLeft = frame.scrollWidth;
    const label = table.querySelector("tbody th").getBoundingClientRect();
    return [frame.scrollLeft, {x: label.x - frame.getBoundingClientRect().x - frame.clientLeft, width: label.width}];
}"""
"""How far a table is scrolled at its end, and where its first label is then."""


@pytest.fixture
def live(transactional_db: Any, live_server: Any, settings: Any) -> tuple[FunctionSite, str]:
    settings.ALLOWED_HOSTS = ["*"]
    return make_function_site(factories.Cast.make()), live_server.url


def test_every_page_of_a_function_problem_is_clean(chromium: Any, live: Any) -> None:
    site, base = live
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.sign_in("owner")
    pages = {
        "function-problem": site.page,
        "function-case": f"{site.page}?case=3+x+5",
        "function-python": f"{site.page}?language=python",
        "function-right": site.evaluation(0).get_absolute_url(),
        "function-wrong": site.evaluation(1).get_absolute_url(),
        "function-board": reverse("board", args=[site.release.slug]),
    }
    listed = function_site.judged(site.own.entrant, site.release, site.track, listed_report())
    evaluation = listed.evaluations.get(problem=site.problem)
    pages |= {
        "function-kernels": evaluation.get_absolute_url(),
        "function-code": reverse("evaluation_machine_code", args=[evaluation.pk]),
    }
    visit.open(site.page)
    visit.page.get_by_text("Sizes of the run").click()
    visit.page.get_by_role("button", name="Run one small case").click()
    visit.page.get_by_text("No node takes track cpu-test: none is granted it.", exact=True).wait_for()
    trial = Trial.objects.get()
    end_trial(trial, report())
    visit.page.get_by_text("1 of 2 elements are wrong").wait_for()
    pages["function-run"] = reverse("trial", args=[trial.pk])
    faults = page_faults(visit, pages)
    visit.context.close()
    assert faults == [], "\n".join(faults)


def test_every_page_of_a_function_problem_for_gpus_is_clean(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    site = make_gpu_function_site(factories.Cast.make())
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.sign_in("owner")
    pages = {
        "gpu-function-problem": reverse("problem", args=[site.problem.release.slug, site.problem.slug]),
        "gpu-function-evaluation": site.judged.get_absolute_url(),
        "gpu-function-running": site.running.get_absolute_url(),
    }
    faults = page_faults(visit, pages)
    assert visit.page.get_by_role("region", name="Cases so far").get_by_text("wrong answer").is_visible()
    for look in visit.looks_of(site.judged.get_absolute_url(), ("light", "phone")):
        tables = visit.page.locator(".observed").all()
        assert len(tables) == 2, "the machine, and what others would tell"
        for table in tables:
            beyond, label = table.evaluate(SCROLLED)
            assert label["width"] > 150
            assert (beyond, label["x"]) == (0, 0) if look == "light" else beyond > 0 and label["x"] == 0
    visit.context.close()
    assert faults == [], "\n".join(faults)


NARROW = "| What is asked | Value |\n| --- | --- |\n| `a_name_that_is_longer_than_a_phone_is_wide` | accumulations |\n"
BREAKS = """cell => {
    const range = document.createRange();
    range.selectNodeContents(document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode());
    return new Set([...range.getClientRects()].map(line => Math.round(line.top))).size - 1;
}"""
"""How often a cell's text breaks."""


def test_words_in_a_statements_tables_do_not_break(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    fields = function_site.function(prompt=f"{'long' * 40}\n\n{NARROW}")
    made = release_actions.import_release(packs.problem_pack([fields], "narrow-1")).release
    Release.objects.filter(pk=made.pk).update(is_public=True)
    visit = Visit(chromium, live_server.url, *LOOKS["phone"])
    factories.Cast.make()
    visit.sign_in("organiser")
    address = reverse("problem", args=[made.slug, "row-softmax"])
    assert page_faults(visit, {"function-statement": address}) == []
    for look in visit.looks_of(address, ("phone",)):
        frame = visit.page.locator(".statement .scroll")
        assert frame.evaluate("frame => frame.scrollWidth > frame.clientWidth"), look
        cells = frame.locator("td")
        assert [cells.nth(n).evaluate(BREAKS) for n in range(cells.count())] == [0, 0]
    visit.context.close()


def test_a_wrong_signature_is_said_where_the_code_stands(chromium: Any, live: Any) -> None:
    site, base = live
    visit = Visit(chromium, base, *LOOKS["phone"])
    visit.sign_in("owner")
    visit.open(site.page)
    visit.type_code(function_site.WRONG_SIGNATURE)
    visit.page.get_by_role("button", name="Submit this solution").click()
    refusal = visit.page.get_by_text("`solution` takes 2 parameters")
    refusal.wait_for()
    in_view = "words => words.getBoundingClientRect().top >= 0 && words.getBoundingClientRect().bottom <= innerHeight"
    assert refusal.evaluate(in_view), "the page opens at its form"
    assert visit.typed_code() == function_site.WRONG_SIGNATURE
    visit.context.close()
