"""In a browser: a pack is imported into a draft that is there, weights are calibrated, and a folder is packed."""

import io
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.cache import cache
from django.urls import reverse

from leaderboard.actions.problems import drafts, pack_uploads
from leaderboard.packing import step
from problems.formats.compute_eval.packs import write_problem_pack
from problems.formats.packing_events import NO_SANDBOX, Failed, PackingKind
from problems.models import Release
from tests import factories, packs
from tests.packing.uploads import CHECKOUT, FUNCTIONS, uploaded, zipped
from tests.requirements import requires
from tests.web.site.test_browser import LOOKS, Visit, faults_as_it_stands, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]
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
    page.get_by_text("What differs in Shell/0").click()
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


@pytest.mark.django_db(transaction=True)
def test_a_checkout_is_uploaded_followed_and_imported(chromium: Any, live_site: Any) -> None:
    _, url = live_site
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    page = visit.page
    visit.open("/admin/problems/release/")
    page.get_by_role("link", name="Pack a folder").click()
    page.select_option("#id_kind", label="PMPP checkout")
    page.fill("#id_release", "pmpp-1")
    content = zipped(CHECKOUT | {"pmpp/eval-tasks/ch06-odd/README.md": "no Makefile"})
    page.set_input_files("#id_archive", {"name": "pmpp-main.zip", "mimeType": "application/zip", "buffer": content})
    page.get_by_role("button", name="Upload and pack").click()
    page.get_by_role("heading", name="Waiting").wait_for()
    faults = faults_as_it_stands(visit, "packing-waiting", LOOKED_AT)
    held = pack_uploads.take()
    assert held is not None
    held.n_begun, held.n_problems, held.at = 1, 2, "ch05-scale"
    pack_uploads.beat(held)
    page.get_by_text("Problem 1 of 2: ch05-scale").wait_for()
    faults += faults_as_it_stands(visit, "packing-packing", LOOKED_AT)
    pack_uploads.give_back(held)
    step.pack_next()
    page.get_by_role("heading", name="Packed", exact=True).wait_for()
    faults += faults_as_it_stands(visit, "packing-done", LOOKED_AT)
    page.get_by_role("button", name="Import the pack").click()
    page.get_by_text("The pack of").wait_for()
    faults += faults_as_it_stands(visit, "import-packed", LOOKED_AT)
    page.get_by_role("button", name="Check the file").click()
    page.get_by_role("button", name="Import it so").click()
    page.get_by_role("heading", name="Imported").wait_for()
    visit.context.close()
    assert "\n".join(faults) == ""
    assert Release.objects.filter(datapack_release="pmpp-1").exists()


@pytest.mark.django_db(transaction=True)
def test_pages_of_uploads_that_failed_are_clean(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    words = "bubblewrap is not installed: apt install bubblewrap, or pip install 'podium[node]'"
    cache.set("packing-ground", [words, datetime.now(UTC).isoformat()])
    faults_of = {
        "no-sandbox": Failed(code=NO_SANDBOX, faults=[words]),
        "faults": Failed(code="bad_definition", faults=[f"a-{n}/def.py line {n}: {'x' * 90}" for n in range(3)]),
    }
    pages = {"packing-list": reverse("admin:problems_release_packings")}
    for name, why in faults_of.items():
        made = uploaded(site.cast.organiser, FUNCTIONS, PackingKind.FUNCTIONS)
        held = pack_uploads.take()
        assert held is not None
        pack_uploads.fail(held, why)
        pages[f"packing-{name}"] = made.get_absolute_url()
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("organiser")
    faults = page_faults(visit, pages)
    visit.context.close()
    cache.delete("packing-ground")
    assert "\n".join(faults) == ""
