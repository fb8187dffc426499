"""In a real browser: the editor of a problem's page keeps drafts, asks before it discards, and is no keyboard trap."""

import re
from typing import Any

import pytest

from leaderboard.actions.intake.submit import submit
from leaderboard.actions.intake.try_solution import end_trial
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Entrant, Trial
from leaderboard.rows.submissions import SubmissionMetadata
from problems.formats.submission import single_solution
from runners.wire.protocol import LogText, StepReport
from tests import factories, function_site
from tests.patience import SOON
from tests.requirements import requires
from tests.web.functions.mixed_site import FunctionSite, make_function_site
from tests.web.intake.test_trial import report
from tests.web.site.test_browser import EACH_WIDTH, LOOKS, Visit, faults_as_it_stands

pytestmark = [pytest.mark.rest, requires("chromium")]


@pytest.fixture
def site(transactional_db: Any, live_server: Any, settings: Any) -> FunctionSite:
    settings.ALLOWED_HOSTS = ["*"]
    return make_function_site(factories.Cast.make())


@pytest.fixture
def visit(chromium: Any, site: FunctionSite, live_server: Any) -> Any:
    """The owner's, at the problem's page."""
    made = Visit(chromium, live_server.url, *LOOKS["light"])
    made.sign_in("owner")
    made.open(site.page)
    yield made
    assert made.complaints == [], "the policy and the scripts agree"
    made.context.close()


def language(visit: Visit, name: str) -> None:
    visit.page.get_by_role("navigation", name="Language").get_by_role("link", name=name).click()


def test_each_language_has_its_own_draft_that_outlives_the_page(visit: Visit) -> None:
    visit.type_code("// mine\n")
    language(visit, "Python")
    assert "def solution(x, y, rows, cols):" in visit.typed_code()
    assert visit.page.locator("[name=path-0]").input_value() == "solution.py"
    assert "language=python" in visit.page.url
    visit.type_code("# mine as well\n")
    language(visit, "C++")
    assert visit.typed_code() == "// mine\n"
    visit.page.get_by_role("button", name="Save draft").click()
    visit.page.get_by_text("Draft saved at").wait_for()
    visit.page.reload()
    assert visit.typed_code() == "// mine\n"
    language(visit, "Python")
    assert visit.typed_code() == "# mine as well\n"
    assert visit.page.locator("[name=language]").input_value() == "python"


def test_starter_code_replaces_typed_code_only_after_a_question(visit: Visit) -> None:
    starter = visit.typed_code()
    visit.type_code("// mine\n")
    asked: list[str] = []
    visit.page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    visit.page.get_by_role("button", name="Starter code").click()
    assert asked == ["Replace what you typed by the starter code?"]
    assert visit.typed_code() == "// mine\n"
    visit.page.once("dialog", lambda dialog: dialog.accept())
    visit.page.get_by_role("button", name="Starter code").click()
    assert visit.typed_code() == starter
    visit.page.keyboard.press("Control+z")
    assert visit.typed_code() == "// mine\n", "undo brings it back"


def test_another_users_draft_is_not_shown(visit: Visit, site: FunctionSite) -> None:
    visit.type_code("// mine\n")
    visit.page.get_by_role("button", name="Sign out").click()
    visit.page.wait_for_url("**/")
    visit.sign_in("stranger")
    visit.open(site.page)
    assert "solution(const float* x" in visit.typed_code()


def test_control_enter_runs_and_the_result_fills_in(visit: Visit) -> None:
    visit.type_code(function_site.CPP)
    visit.page.keyboard.press("Control+Enter")
    visit.page.get_by_text("No node takes track cpu-test: none is granted it.", exact=True).wait_for()
    assert Trial.objects.count() == 1
    outcome = report()
    log = LogText(text="solution.cpp:2:5: error: no\nother.cpp:9: fine\n<b>solution.cpp(3)</b>")
    end_trial(
        Trial.objects.get(), outcome.model_copy(update={"steps": [StepReport(name="build", exit_code=1, log=log)]})
    )
    visit.page.get_by_text("1 of 2 elements are wrong").wait_for()
    assert visit.page.locator("#trial pre button").all_inner_texts() == ["solution.cpp:2", "solution.cpp(3)"]
    visit.page.get_by_role("button", name="solution.cpp:2").click()
    selected = visit.page.evaluate("() => getSelection().toString()")
    visit.keep_picture("editor-run")
    assert selected == function_site.CPP.split("\n")[1], "the named line is selected"


def is_in_view(visit: Visit) -> bool:
    top_px = visit.page.locator("#trial").bounding_box()["y"]
    return bool(0 <= top_px < visit.page.viewport_size["height"] / 2)


def test_on_a_phone_a_run_that_begins_is_scrolled_into_view(visit: Visit) -> None:
    visit.emulate("phone")
    visit.open(visit.page.url)
    run = visit.page.get_by_role("button", name="Run one small case")
    run.scroll_into_view_if_needed()
    assert not is_in_view(visit)
    run.click()
    visit.page.get_by_text("No node takes track cpu-test: none is granted it.", exact=True).wait_for()
    assert is_in_view(visit)
    visit.page.evaluate("() => window.scrollTo(0, 0)")
    end_trial(Trial.objects.get(), report())
    visit.page.get_by_text("1 of 2 elements are wrong").wait_for()
    assert visit.page.evaluate("() => window.scrollY") == 0, "what is told later leaves the page where it is"


def test_a_run_beside_the_code_moves_nothing(visit: Visit) -> None:
    visit.page.locator("#trial").evaluate("trial => trial.scrollIntoView()")
    before = visit.page.evaluate("() => window.scrollY")
    visit.page.evaluate("() => document.querySelector('[data-run]').click()")
    visit.page.get_by_text("No node takes track cpu-test: none is granted it.", exact=True).wait_for()
    assert visit.page.evaluate("() => window.scrollY") == before


def test_tab_indents_and_escape_then_tab_leaves_the_editor(visit: Visit) -> None:
    visit.type_code("x")
    visit.page.keyboard.press("Tab")
    assert re.fullmatch(r"x +", visit.typed_code())
    visit.page.keyboard.press("Escape")
    visit.page.keyboard.press("Tab")
    focused = visit.page.evaluate("() => document.activeElement.closest('.cm-editor') === null")
    assert focused, "the focus has left the editor"
    assert re.fullmatch(r"x +", visit.typed_code())
    visit.page.keyboard.press("Shift+Tab")
    assert visit.page.evaluate("() => document.activeElement.closest('.cm-editor') !== null"), "it is no one-way door"


def test_without_scripts_the_form_is_a_plain_textarea(chromium: Any, site: FunctionSite, live_server: Any) -> None:
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    context.set_default_timeout(1e3 * SOON)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.fill("input[name=login]", "owner")
    page.fill("input[name=password]", factories.PASSWORD)
    page.click("main button[type=submit]")
    page.goto(f"{site.page}?language=python")
    page.locator("textarea[name=content-0]").fill(function_site.PYTHON)
    page.get_by_role("button", name="Submit this solution").click()
    page.wait_for_url("**/submissions/*/")
    context.close()


SPMV = """#include <cuda_runtime.h>
// __global__ in a comment
__global__ void add(const float* a, float* b, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i] * 2.0f;
}
"""


@pytest.fixture
def command_page(site: FunctionSite) -> str:
    command = site.release.problems.exclude(pk=site.problem.pk).get()
    return f"/releases/{site.release.slug}/problems/{command.slug}/"


@pytest.mark.parametrize("looks", EACH_WIDTH)
def test_files_stand_in_tabs_and_a_bad_path_is_refused_at_its_field(
    looks: tuple[str, ...], chromium: Any, site: FunctionSite, command_page: str, live_server: Any
) -> None:
    visit = Visit(chromium, live_server.url, *LOOKS[looks[0]])
    page = visit.page
    visit.sign_in("owner")
    visit.open(command_page)
    page.fill("[name=path-0]", "kernel.cu")
    visit.type_code(SPMV)
    assert page.locator(".tok-cuda", has_text="__global__").count() == 1, "not in the comment"
    page.get_by_role("button", name="Add a file").click()
    page.locator("[name=path-1]").fill("../up.py")
    page.get_by_text("leaves its folder").wait_for()
    assert page.locator("[name=path-1]").get_attribute("aria-invalid") == "true"
    faults = faults_as_it_stands(visit, "editor-files", looks)
    page.locator("[name=path-1]").fill("helper.py")
    page.get_by_text("leaves its folder").wait_for(state="hidden")
    page.get_by_role("tab", name="helper.py").press("ArrowLeft")
    assert page.get_by_role("tab", name="kernel.cu").get_attribute("aria-selected") == "true"
    page.get_by_role("tabpanel").locator(".cm-content").click()
    page.keyboard.press("Control+f")
    faults += faults_as_it_stands(visit, "editor-search", looks)
    page.keyboard.press("Escape")
    page.reload()
    assert page.get_by_role("tab").all_inner_texts() == ["kernel.cu", "helper.py"], "the draft has both"
    page.get_by_role("tab", name="helper.py").click()
    page.get_by_role("button", name="Remove this file").click()
    assert page.get_by_role("tab").all_inner_texts() == ["kernel.cu"]
    assert (faults, visit.overflow(), visit.complaints) == ([], 0, [])
    visit.context.close()


def _compared(site: FunctionSite) -> str:
    """Two samples of different entrants of which lines are the same, changed and on one side only."""
    track, entrants = site.track, [Entrant.objects.get(slug="alpha"), Entrant.objects.get(owner__username="stranger")]
    made = []
    for n, entrant in enumerate(entrants):
        Entrant.objects.filter(pk=entrant.pk).update(publishes_code=True)
        text = function_site.CPP.replace("{", f"{{ // side {n}", 1) + ("// more\n" if n else "")
        draft = single_solution(site.problem.task_id, {"solution.cpp": text}, catalogue_of(site.release))
        metadata = SubmissionMetadata(entrant=entrant, release=site.release, tracks=[track], asks_to_count=False)
        stored = submit(factories.submitter(entrant), metadata, draft).submission
        factories.judge(stored)
        made.append(stored.evaluations.get().pk)
    return f"/compare/code/?a={made[0]}&b={made[1]}"


def test_two_samples_stand_side_by_side_or_in_one_column(chromium: Any, site: FunctionSite, live_server: Any) -> None:
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    faults = []
    for look in visit.looks_of(_compared(site)):
        visit.keep_picture(f"compare-code-{look}")
        faults += visit.axe_faults(look)
        assert visit.overflow() == 0
        changed = visit.page.locator("tr.changed td code").all()
        tops = [one.bounding_box()["y"] for one in changed[:2]]
        assert (tops[0] == tops[1]) is (look != "phone")
    address = visit.page.get_by_role("link", name="Alpha, submission").get_attribute("href") + "#solution.cpp-L2"
    for looks in EACH_WIDTH:
        visit.open("about:blank")  # from there the address is loaded, not only scrolled to
        visit.emulate(looks[0])
        visit.open(address)
        line = visit.page.locator("#solution\\.cpp-L2")
        assert line.bounding_box()["y"] < LOOKS[looks[0]][1], "the anchor is in view"
        faults += faults_as_it_stands(visit, "evaluation-code", looks)
    assert (faults, visit.complaints) == ([], [])
    visit.context.close()
