"""The form to submit a file, in a real browser: by drop, by keyboard, without JavaScript, in every look."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Submission
from tests import factories
from tests.patience import SOON
from tests.requirements import requires
from tests.web.site.test_browser import EACH_WIDTH, LOOKS, Visit, faults_as_it_stands

pytestmark = [requires("chromium"), pytest.mark.rest]

DROP = """([zone, name, base64]) => {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  const carried = new DataTransfer();
  carried.items.add(new File([bytes], name));
  const dropped = new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true });
  document.querySelector(zone).dispatchEvent(dropped);
}"""


def zipped(tmp_path: Path, *task_folders: str) -> Path:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for folder in task_folders:
            archive.writestr(f"{folder}/solution.sh", "exit 0 # by browser\n")
    path = tmp_path / "mine.zip"
    path.write_bytes(target.getvalue())
    return path


def report(visit: Visit) -> Any:
    return visit.page.locator("[data-report]")


@pytest.mark.parametrize("looks", EACH_WIDTH)
def test_a_file_is_checked_before_it_is_sent(
    looks: tuple[str, ...], chromium: Any, live_site: Any, tmp_path: Path
) -> None:
    site, base = live_site
    other = factories.release(2, "other-1")
    factories.offer(other, "gpu-test")
    visit = Visit(chromium, base, *LOOKS[looks[0]])
    visit.sign_in("owner")
    visit.open(reverse("submit", query={"release": site.release.slug}))
    visit.keep_picture(f"submit-{looks[0]}")
    visit.page.set_input_files("input[type=file]", zipped(tmp_path, "Shell_0", "Shell_1"))
    report(visit).get_by_text("samples of 2 of 6 problems and does not say").wait_for()
    assert faults_as_it_stands(visit, "submit-undecided", looks) == []
    visit.page.get_by_label("Submit as partial").check()
    report(visit).get_by_text("The site would take this.").wait_for()
    assert not Submission.objects.filter(name="mine").exists()
    visit.page.fill("input[name=licence]", "MIT")
    assert faults_as_it_stands(visit, "submit-accepted", looks) == []
    visit.page.get_by_role("button", name="Submit", exact=True).click()
    visit.page.wait_for_url("**/submissions/*/")
    assert visit.page.get_by_text("Submitted. Nothing is lost if you leave this page").is_visible()
    assert (Submission.objects.get(name="mine").licence, visit.complaints) == ("MIT", [])
    visit.context.close()


def test_another_release_changes_the_tracks_and_nothing_else(chromium: Any, live_site: Any, tmp_path: Path) -> None:
    site, base = live_site
    other = factories.release(2, "other-1")
    factories.offer(other, "gpu-test")
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.sign_in("owner")
    visit.open(reverse("submit", query={"release": site.release.slug}))
    visit.page.set_input_files("input[type=file]", zipped(tmp_path, "Shell_0"))
    report(visit).get_by_text("1 of 6 problems").first.wait_for()
    visit.page.fill("input[name=note]", "temperature 0")
    visit.page.select_option("select[name=release]", "other-1")
    visit.page.get_by_label("Track gpu-test").wait_for()
    report(visit).get_by_text("1 of 2 problems").first.wait_for()
    assert visit.page.input_value("input[name=note]") == "temperature 0"
    assert visit.page.url.endswith("release=other-1")
    visit.open("/about/")
    visit.page.go_back()
    assert visit.page.input_value("select[name=release]") == "other-1"
    assert visit.page.get_by_label("Track gpu-test").is_visible()
    visit.context.close()


def test_a_dropped_file_is_refused_with_its_reason_and_the_form_stays(
    chromium: Any, live_site: Any, settings: Any
) -> None:
    site, base = live_site
    settings.UPLOAD_MAX_BYTES = 1024
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.sign_in("owner")
    visit.open(reverse("submit", query={"release": site.release.slug}))
    visit.page.fill("input[name=note]", "temperature 0")
    for name, base64, words in [
        ("notes.txt", "aGVsbG8=", "neither a solutions pack (.tar.gz), a zip nor a .jsonl file"),
        ("empty.zip", "", "empty.zip is empty."),
        ("big.zip", "A" * 4000, "the most that this site takes"),
    ]:
        visit.page.evaluate(DROP, ["[data-drop]", name, base64])
        report(visit).get_by_text(words).wait_for()
    assert visit.page.input_value("input[name=note]") == "temperature 0"
    assert not Submission.objects.filter(note="temperature 0").exists()
    visit.context.close()


def test_the_keyboard_alone_will_do(chromium: Any, live_site: Any, tmp_path: Path) -> None:
    site, base = live_site
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.sign_in("owner")
    visit.open(reverse("submit", query={"release": site.release.slug}))
    path = zipped(tmp_path, *[f"Shell_{n}" for n in range(6)])
    visit.page.on("filechooser", lambda chooser: chooser.set_files(path))
    visit.page.locator("input[name=tracks]").focus()
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Space")
    report(visit).get_by_text("The site would take this.").wait_for()
    visit.page.get_by_role("button", name="Submit", exact=True).focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**/submissions/*/")
    visit.context.close()


def test_without_javascript_a_second_button_checks(chromium: Any, live_site: Any, tmp_path: Path) -> None:
    site, base = live_site
    context = chromium.new_context(base_url=base, java_script_enabled=False)
    context.set_default_timeout(1e3 * SOON)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.fill("input[name=login]", "owner")
    page.fill("input[name=password]", factories.PASSWORD)
    page.click("main button[type=submit]")
    page.goto(reverse("submit", query={"release": site.release.slug}))
    page.fill("input[name=note]", "temperature 0")
    page.get_by_label("Submit as partial").check()
    page.set_input_files("input[type=file]", zipped(tmp_path, "Shell_0"))
    page.click("text=Check only")
    assert page.get_by_text("The site would take this.").is_visible()
    assert page.input_value("input[name=note]") == "temperature 0"
    assert page.get_by_label("Submit as partial").is_checked()
    page.set_input_files("input[type=file]", zipped(tmp_path, "Shell_0"))
    page.click("button[data-send]")
    page.wait_for_url("**/submissions/*/")
    assert Submission.objects.filter(note="temperature 0", is_full=False).exists()
    context.close()


def test_a_slow_upload_shows_its_progress_and_can_be_stopped(chromium: Any, live_site: Any, tmp_path: Path) -> None:
    site, base = live_site
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.sign_in("owner")
    visit.open(reverse("submit", query={"release": site.release.slug}))
    rows = "".join(f'{{"task_id": "Shell/0", "files": [], "note": "{n:050}"}}\n' for n in range(4000))
    path = tmp_path / "mine.jsonl"
    path.write_text(rows)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 64 * 1024}
    visit.context.new_cdp_session(visit.page).send("Network.emulateNetworkConditions", slow)
    visit.page.set_input_files("input[type=file]", path)
    visit.page.wait_for_function("() => document.querySelector('[data-sending] progress').value > 20")
    visit.keep_picture("submit-sending")
    visit.page.get_by_role("button", name="Stop").click()
    report(visit).get_by_text("Stopped. Nothing was stored.").wait_for()
    assert visit.page.locator("[data-sending]").is_hidden()
    assert visit.page.evaluate("() => document.querySelector('input[type=file]').files.length") == 1
    visit.context.close()


def test_the_state_of_a_track_follows_the_fleet(chromium: Any, live_site: Any) -> None:
    site, base = live_site
    visit = Visit(chromium, base, *LOOKS["light"])
    visit.page.clock.install()
    visit.sign_in("owner")
    visit.open(reverse("submit", query={"release": site.release.slug}))
    assert visit.page.get_by_text("1 node online, busy: 1 job running").is_visible()
    type(site.node).objects.update(last_seen_at=None)
    visit.page.clock.fast_forward(16_000)
    visit.page.get_by_text("no node online: queued until one returns").wait_for()
    assert visit.page.locator("input[name=tracks]").is_checked()
    assert visit.complaints == []
    visit.context.close()
