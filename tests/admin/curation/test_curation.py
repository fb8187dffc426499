"""A release's way through the admin: import, offer, verify, publish, freeze, export."""

import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.models import AuditEntry, Decision, Evaluation, ReleaseTrack
from problems.formats.compute_eval.packs import read_problem_pack, write_problem_pack
from problems.models import Release
from runners.wire.protocol import Verdict
from tests import factories, packs
from tests.admin.pages import act, imported, opened, signed_in, text

pytestmark = pytest.mark.django_db
RELEASE = "problems_release"


def uploaded(*task_ids: str, **metadata: Any) -> SimpleUploadedFile:
    pack = packs.problem_pack([packs.problem(task_id) for task_id in task_ids], **metadata)
    file = io.BytesIO()
    write_problem_pack(file, pack.metadata_bytes, [record.line for record in pack.records])
    return SimpleUploadedFile("test-1-problems.tar.gz", file.getvalue())


def test_an_import_reports_line_by_line(cast: Any) -> None:
    page = imported(cast.organiser, uploaded("a/1", "a/2"))
    assert "2 problems read" in page
    assert "Draft test-1 made" in page
    assert Release.objects.get().state == "draft"
    assert AuditEntry.objects.filter(action="import", actor=cast.organiser).exists()


def reported(organiser: Any, pack: SimpleUploadedFile) -> str:
    return text(signed_in(organiser).post(reverse("admin:problems_release_import"), {"pack": pack}))


def test_the_report_before_an_import_speaks_of_what_it_would_make(cast: Any) -> None:
    page = reported(cast.organiser, uploaded("a/1"))
    assert "An import would make the draft test-1 (revision 1" in page
    assert "made (" not in page
    assert not Release.objects.exists()


def test_hashes_agree_only_where_the_file_states_them(cast: Any) -> None:
    assert "1 problems read; every hash and the count agree" in reported(cast.organiser, uploaded("a/1"))
    without = reported(cast.organiser, uploaded("a/1", task_id_hashes={}))
    assert "1 problems read; the count agrees with metadata.json, which states no hashes." in without
    assert "every hash" not in without


def test_a_zip_of_folders_states_nothing_that_could_agree(cast: Any) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        fields = {key: value for key, value in packs.problem("a/1").items() if key not in ("type", "baseline_solution")}
        fields |= {"type": "cpp", "context_files": None, "test_files": None}
        spec = {key: value for key, value in fields.items() if value is not None}
        archive.writestr("one/problem-spec.yaml", json.dumps(spec))
        archive.writestr("one/test/t.sh", "sh solution.sh\n")
        archive.writestr("release.yaml", "release: mine-1\nprofile: podium/1\n")
    page = reported(cast.organiser, SimpleUploadedFile("mine.zip", file.getvalue()))
    assert "1 problems read." in page
    assert "metadata.json" not in page


def test_a_changed_pack_says_which_tasks_changed(cast: Any) -> None:
    imported(cast.organiser, uploaded("a/1", "a/2"))
    page = imported(cast.organiser, uploaded("a/1", "a/3"))
    assert "a/3: added" in page
    assert "a/2: removed" in page
    assert Release.objects.filter(slug="test-1-r2").exists()


def test_a_bad_pack_is_refused_above_the_form_and_changes_nothing(cast: Any) -> None:
    answer = act(cast.organiser, RELEASE, "import", pack=SimpleUploadedFile("x.tar.gz", b"not a pack"))
    assert answer.status_code == 422
    assert "error-summary" in text(answer)
    assert not Release.objects.exists()


def test_a_release_is_offered_verified_published_and_frozen(cast: Any) -> None:
    made, track = factories.release(2, publish=False), factories.TrackFactory()
    assert "offered on cpu-test" in text(act(cast.organiser, RELEASE, "offer", made, tracks=[track.pk]))
    assert ReleaseTrack.objects.filter(release=made, track=track).exists()
    address = reverse("admin:problems_release_change", args=[made.pk])
    assert act(cast.organiser, RELEASE, "verify", made, track=track.pk)["Location"] == f"{address}#verification"
    browser = signed_in(cast.organiser)
    assert "4 evaluations to come" in text(browser.get(address))
    part = reverse("admin:problems_release_verification", args=[made.pk])
    assert f'hx-get="{part}"' in text(browser.get(part))
    for one in Evaluation.objects.select_related("submission__entrant"):
        good = one.submission.entrant.slug == "_reference"
        factories.judge(
            one.submission, lambda _one, it=good: factories.report(Verdict.PASSED if it else Verdict.TEST_FAILED)
        )
    assert "Verified: all is as it should be." in text(browser.get(address))
    assert "hx-get" not in text(browser.get(part))
    assert "every problem is verified" in text(act(cast.organiser, RELEASE, "publish", made))
    assert "is frozen" in text(act(cast.organiser, RELEASE, "freeze", made))
    made.refresh_from_db()
    assert made.state == "frozen"
    audit = AuditEntry.objects.filter(target=f"release {made.slug}").order_by("id")
    assert list(audit.values_list("action", flat=True)) == ["offer", "verify", "publish", "freeze"]


def test_what_is_published_can_no_longer_be_edited(cast: Any) -> None:
    made = factories.release(1)
    browser = signed_in(cast.organiser)
    page = text(browser.get(reverse("admin:problems_release_change", args=[made.pk])))
    assert 'name="title"' in page
    assert 'name="primary_metric"' not in page
    assert 'name="digest"' not in page
    address = reverse("admin:problems_release_change", args=[made.pk])
    said = {"title": "Better", "primary_metric": "speedup", "max_samples": "20"}
    browser.post(address, said | opened(browser, address))
    made.refresh_from_db()
    assert (made.title, made.primary_metric) == ("Better", "pass@1")
    fields = AuditEntry.objects.get(action="edit").detail["fields"]
    assert "title" in fields
    assert "primary_metric" not in fields


def test_an_export_is_the_pack_that_came_in(cast: Any) -> None:
    file = uploaded("a/1", "a/2")
    before = read_problem_pack(io.BytesIO(file.read()))
    file.seek(0)
    imported(cast.organiser, file)
    answer = act(cast.organiser, RELEASE, "export", Release.objects.get())
    after = read_problem_pack(io.BytesIO(answer.getvalue()))
    assert [one.line for one in after.records] == [one.line for one in before.records]


def test_a_faulty_problem_is_voided_with_a_public_reason(cast: Any) -> None:
    problem = factories.release(1).problems.get()
    assert act(cast.organiser, "problems_problem", "void", problem).status_code == 422
    assert "is void" in text(act(cast.organiser, "problems_problem", "void", problem, reason="wrong test"))
    assert Decision.objects.get().public_reason == "wrong test"


def test_only_organisers_enter(cast: Any) -> None:
    made = factories.release(1, publish=False)
    assert act(cast.owner, RELEASE, "publish", made).status_code == 302
    made.refresh_from_db()
    assert made.state == "draft"


def test_a_member_of_staff_without_leave_does_not_act(cast: Any) -> None:
    clerk = factories.UserFactory(username="clerk", is_staff=True)
    made = factories.release(1, publish=False)
    assert act(clerk, RELEASE, "publish", made).status_code == 403
    made.refresh_from_db()
    assert made.state == "draft"


@pytest.mark.parametrize("depth", [101, 900, 980, 100_000])
def test_deep_json_in_a_form_is_refused_in_place(cast: Any, depth: int) -> None:
    draft = factories.release(1, publish=False)
    deep = "[" * depth + "]" * depth
    address = reverse("admin:problems_release_change", args=[draft.pk])
    answer = signed_in(cast.organiser).post(address, {"title": "T", "slug": "s", "ks": deep, "weights": deep})
    assert answer.status_code == 200
    assert text(answer).count("Enter a valid JSON.") == 4, "each at its field and in the summary"
