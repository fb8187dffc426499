"""The pages on which an organiser uploads a folder, follows its packing and imports the pack."""

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.actions.problems import pack_uploads
from leaderboard.models import Packing
from leaderboard.packing import step
from problems.formats.packing_events import NO_SANDBOX, Failed, PackingKind
from problems.models import Release
from tests import factories
from tests.admin.pages import signed_in, text
from tests.admin.sent_form import sent_by
from tests.packing.test_archives import HOSTILE
from tests.packing.uploads import CHECKOUT, FUNCTIONS, now, uploaded, zipped

pytestmark = pytest.mark.django_db
LIST = "admin:problems_release_packings"
IMPORT = "admin:problems_release_import"


def address(name: str, packing: Packing, *more: str) -> str:
    return reverse(f"admin:problems_release_{name}", args=[packing.pk, *more])


def send(user: Any, content: bytes, kind: str = "pmpp", **more: str) -> Any:
    said = {"archive": SimpleUploadedFile("pmpp-main.zip", content), "kind": kind, "release": "spring-1", **more}
    return signed_in(user).post(reverse(LIST), said)


@pytest.fixture
def packed(cast: Any) -> Packing:
    made = uploaded(cast.organiser, CHECKOUT, PackingKind.PMPP)
    step.pack_next()
    return now(made)


def test_a_checkout_is_uploaded_packed_and_imported_as_a_new_draft(cast: Any) -> None:
    answer = send(cast.organiser, zipped(CHECKOUT))
    made = Packing.objects.get()
    assert answer.url == made.get_absolute_url()
    browser = signed_in(cast.organiser)
    waiting = text(browser.get(answer.url))
    assert 'hx-trigger="every 2s"' in waiting
    assert "You may close this page" in waiting
    step.pack_next()
    state = text(browser.get(address("packing_state", made)))
    assert "1 problem packed." in state
    assert "hx-trigger" not in state
    link = re.search(r'href="([^"]*\?packed=\d+)"', state)
    assert link is not None
    form = text(browser.get(link[1]))
    assert 'type="file"' not in form
    assert "pmpp-main.zip" in form
    report = text(browser.post(reverse(IMPORT), {"packed": made.pk, "slug": "", "into": ""}))
    assert "1 problems read" in report
    kept = re.search(r'name="confirm" value="([^"]*)"', report)
    assert kept is not None
    browser.post(reverse(IMPORT), {"confirm": kept[1]})
    assert Release.objects.get().datapack_release == "spring-1"


def test_a_pack_made_here_goes_into_a_draft_that_is_there(cast: Any, packed: Packing) -> None:
    draft = factories.release(1, "other-1", publish=False)
    browser = signed_in(cast.organiser)
    report = text(browser.post(reverse(IMPORT), {"packed": packed.pk, "into": draft.pk}))
    assert "1 new, 0 changed" in report
    said = sent_by(report, "draft-form")
    browser.post(reverse("admin:problems_release_draft_import", args=[draft.pk]), said)
    assert draft.problems.count() == 2


def test_a_pack_that_is_gone_is_told_and_a_file_can_be_chosen_instead(cast: Any, packed: Packing) -> None:
    browser = signed_in(cast.organiser)
    pack_uploads.remove(cast.organiser, packed)
    for given in (str(packed.pk), "x", "9" * 30):
        answer = browser.post(reverse(IMPORT), {"packed": given, "into": ""})
        assert (answer.status_code, "is here no more" in text(answer)) == (422, True), given
        assert 'type="file"' in text(answer)
        assert browser.get(reverse(IMPORT) + f"?packed={given}").status_code == 200


@pytest.mark.parametrize("name", [one for one in HOSTILE if one != "a file that is a folder, too"])
def test_a_hostile_archive_is_refused_on_the_page_and_nothing_is_kept(cast: Any, name: str) -> None:
    content, words = HOSTILE[name]
    answer = send(cast.organiser, content)
    summary = unescape(text(answer)).split('class="error-summary"')[1].split("</div>")[0]
    assert answer.status_code == 422
    assert words in summary or "The submitted file is empty" in summary
    assert not Packing.objects.exists()


def test_what_was_typed_is_kept_when_something_is_wrong(cast: Any) -> None:
    answer = send(cast.organiser, zipped(FUNCTIONS), release="no name!")
    assert answer.status_code == 422
    assert 'value="no name!"' in text(answer)
    assert 'href="#id_release"' in text(answer)
    assert '<option value="pmpp" selected' in text(answer)
    assert "no Makefile among its" in text(send(cast.organiser, zipped(FUNCTIONS)))


def test_a_failed_upload_tells_its_faults_and_is_tried_again_or_removed(cast: Any) -> None:
    made = uploaded(cast.organiser, FUNCTIONS)
    held = pack_uploads.take()
    assert held is not None
    pack_uploads.fail(held, Failed(code="bad_definition", faults=["a/def.py line 1: <b>", "b/def.py line 2: x"]))
    browser = signed_in(cast.organiser)
    page = text(browser.get(made.get_absolute_url()))
    assert "No pack was made, for 2 reasons" in page
    assert "a/def.py line 1: &lt;b&gt;" in page
    answer = browser.post(address("packing_act", made, "retry"), follow=True)
    assert "waits to be packed again" in text(answer)
    assert now(made).state == "queued"
    assert "has not failed" in text(browser.post(address("packing_act", made, "retry"), follow=True))
    assert browser.get(address("packing_act", made, "remove")).status_code == 405
    assert browser.post(address("packing_act", made, "nonsense")).status_code == 404
    assert "is removed with its files" in text(browser.post(address("packing_act", made, "remove"), follow=True))
    assert browser.get(made.get_absolute_url()).status_code == 404


def test_a_site_without_a_sandbox_says_so_before_anything_is_uploaded(cast: Any) -> None:
    browser = signed_in(cast.organiser)
    cache.delete("packing-ground")
    assert "the site's worker has not looked" in unescape(text(browser.get(reverse(LIST))))
    cache.set("packing-ground", ["bubblewrap is not installed: apt install it", datetime.now(UTC).isoformat()])
    page = text(browser.get(reverse(LIST)))
    assert "Function problems and problem sets cannot be packed on this site" in page
    assert "apt install it" in page
    browser.post(reverse(LIST), {"look": "1"})
    assert "has not looked" in text(browser.get(reverse(LIST)))
    made = uploaded(cast.organiser, FUNCTIONS)
    held = pack_uploads.take()
    assert held is not None
    pack_uploads.fail(held, Failed(code=NO_SANDBOX, faults=["apt install it"]))
    page = text(browser.get(made.get_absolute_url()))
    assert "has no sandbox" in page
    assert "Try again" in page


def test_the_pack_is_downloaded_whole(cast: Any, packed: Packing) -> None:
    answer = signed_in(cast.organiser).get(address("packing_file", packed))
    content = b"".join(answer.streaming_content)
    assert content[:2] == b"\x1f\x8b"
    assert "spring-1-problems.tar.gz" in answer["Content-Disposition"]
    other = uploaded(cast.organiser, FUNCTIONS)
    assert signed_in(cast.organiser).get(address("packing_file", other)).status_code == 404


def test_strangers_find_none_of_it(cast: Any, packed: Packing) -> None:
    pages = [reverse(LIST), *(address(name, packed) for name in ("packing", "packing_state", "packing_file"))]
    acts = [address("packing_act", packed, name) for name in ("retry", "remove")]
    staff = factories.UserFactory(username="staff-without-rights", is_staff=True)
    for user, status in ((cast.stranger, 302), (cast.owner, 302), (staff, 403)):
        browser = signed_in(user)
        assert [browser.get(one).status_code for one in pages] == [status] * 4
        assert [browser.post(one).status_code for one in acts] == [status] * 2
        assert send(user, zipped(CHECKOUT)).status_code == status
    assert Packing.objects.count() == 1


def test_the_list_makes_a_constant_number_of_queries(cast: Any, django_assert_max_num_queries: Any) -> None:
    for _ in range(5):
        uploaded(cast.organiser, FUNCTIONS)
    browser = signed_in(cast.organiser)
    with django_assert_max_num_queries(12):
        page = text(browser.get(reverse(LIST)))
    assert page.count("mine.zip") == 5
