"""In a browser: a pack is imported into a draft that is there, and a draft's weights are calibrated."""

import io
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions import drafts
from problems.formats.compute_eval.packs import write_problem_pack
from problems.models import Release
from tests import factories, packs
from tests.requirements import requires
from tests.web.test_browser import LOOKS, Visit, faults_as_it_stands

pytestmark = [requires("chromium")]
LOOKED_AT = ("light", "dark", "phone")


def pack_file() -> dict[str, Any]:
    other_test = [{"path": "test/t.sh", "content": "sh solution.sh # other\n"}]
    made, file = packs.problem_pack([
        factories.example_problem(0, prompt="Other words."),
        factories.example_problem(1, test_files=other_test, podium={"build_only": []}),
        factories.example_problem(7),
    ], title="Spring"), io.BytesIO()  # fmt: skip
    write_problem_pack(file, made.metadata_bytes, made.jsonl_bytes)
    return {"name": "spring.tar.gz", "mimeType": "application/gzip", "buffer": file.getvalue()}


@pytest.mark.django_db(transaction=True)
def test_a_pack_goes_into_a_draft_by_report_and_choice(chromium: Any, live_site: Any) -> None:
    _, url = live_site
    draft = factories.release(4, "browser-2", publish=False)
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    page = visit.page
    visit.open(reverse("admin:problems_release_change", args=[draft.pk]))
    page.get_by_role("link", name="Import a pack into it").click()
    assert page.locator("#id_into").evaluate("it => it.selectedOptions[0].text") == "browser-2"
    page.set_input_files("input[name=pack]", {"name": "x.tar.gz", "mimeType": "x/y", "buffer": b"nothing"})
    page.get_by_role("button", name="Check the file").click()
    page.locator(".error-summary", has_text="is not a gzipped tar").wait_for()
    visit.complaints.clear()  # of the 422
    faults = faults_as_it_stands(visit, "import-refused", LOOKED_AT)
    page.select_option("#id_into", label="browser-2")
    page.set_input_files("input[name=pack]", pack_file())
    page.get_by_role("button", name="Check the file").click()
    page.get_by_text("1 new, 2 changed, 0 the same, 2 in the draft alone").wait_for()
    faults += faults_as_it_stands(visit, "import-into-report", LOOKED_AT)
    page.get_by_label("Take the new problems").uncheck()
    page.get_by_label("Leave out the problems").check()
    page.get_by_role("button", name="Import into browser-2").click()
    page.get_by_text("2 problems left out.").wait_for()
    faults += faults_as_it_stands(visit, "import-into-done", LOOKED_AT)
    visit.context.close()
    assert "\n".join(faults) == ""
    rows = Release.objects.get(pk=draft.pk).problems.order_by("position")
    assert list(rows.values_list("task_id", flat=True)) == ["Shell/0", "Shell/1"]


@pytest.mark.django_db(transaction=True)
def test_weights_are_calibrated_in_the_browser(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    draft = drafts.next_revision(site.cast.organiser, site.release)
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    page = visit.page
    visit.open(reverse("admin:problems_release_change", args=[draft.pk]))
    page.get_by_role("link", name="Calibrate its weights").click()
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Show the weights").click()
    page.get_by_role("heading", name="The weights that follow").wait_for()
    faults = faults_as_it_stands(visit, "weights-shown", LOOKED_AT)
    page.get_by_role("button", name="Use these weights").click()
    page.get_by_text("has the calibrated weights").wait_for()
    visit.context.close()
    assert "\n".join(faults) == ""
    assert Release.objects.get(pk=draft.pk).weights
