"""A pack is imported into a draft that is there: a report, choices, and nothing lost."""

import io
import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.actions.curation.verify import verify
from leaderboard.actions.problems import drafts
from leaderboard.models import AuditEntry, Evaluation, ProblemTrack
from problems.actions.drafts import fields_of
from problems.formats.compute_eval.packs import write_problem_pack
from problems.models import Problem, Release
from tests import factories, packs
from tests.admin.pages import folder_zip, signed_in, text
from tests.admin.sent_form import sent_by
from tests.question_records import choice

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def draft() -> Release:
    """A draft with the problems Shell/0 to Shell/3."""
    return factories.release(4, publish=False)


def upload(problems: list[dict[str, Any]], name: str = "test-1", **more: Any) -> SimpleUploadedFile:
    pack, file = packs.problem_pack(problems, name, **more), io.BytesIO()
    write_problem_pack(file, pack.metadata_bytes, pack.jsonl_bytes)
    return SimpleUploadedFile("pack.tar.gz", file.getvalue())


def changed_pack() -> SimpleUploadedFile:
    """Shell/0 as it is, Shell/1 with other words, Shell/2 with another test, a new one; Shell/3 is not in it."""
    other_test = [{"path": "test/t.sh", "content": "sh solution.sh # other\n"}]
    return upload([
        factories.example_problem(0),
        factories.example_problem(1, prompt="Other words."),
        factories.example_problem(2, test_files=other_test, podium={"build_only": []}),
        factories.example_problem(7),
    ])  # fmt: skip


IMPORT = "admin:problems_release_import"


def into(release: Release) -> str:
    return reverse("admin:problems_release_draft_import", args=[release.pk])


def reported(user: Any, release: Release, pack: SimpleUploadedFile) -> tuple[str, dict[str, str]]:
    """The report, and what its form would send."""
    answer = signed_in(user).post(reverse(IMPORT), {"pack": pack, "into": release.pk})
    page = text(answer)
    assert answer.status_code == 200, page
    return unescape(page), sent_by(page, "draft-form")


def lines_of(release: Release) -> dict[str, str]:
    return dict(release.problems.order_by("position").values_list("task_id", "record_md5"))


def test_the_report_names_what_is_new_changed_the_same_and_missing_and_stores_nothing(
    cast: Any, draft: Release
) -> None:
    before, entries = lines_of(draft), AuditEntry.objects.count()
    page, said = reported(cast.organiser, draft, changed_pack())
    assert "1 new, 2 changed, 1 the same, 1 in the draft alone" in page
    assert "Shell/7" in page.split('id="new"')[1].split('id="changed"')[0]
    table = page.split('id="changed"')[1].split('id="missing"')[0]
    rows = table.split("</table>")[0].split("Shell/2")
    assert "prompt" in rows[0]
    assert "stays as it is" in rows[0]
    assert "test_files: test/t.sh" in rows[1]
    assert "must be verified anew" in rows[1]
    assert "<ins><code>Other words.</code></ins>" in table
    assert "<del><code># Task 1</code></del>" in table
    assert "Shell/3" in page.split('id="missing"')[1]
    assert {name: said.get(name) for name in ("take_new", "replace_changed", "leave_out_missing")} == {
        "take_new": "on", "replace_changed": "on", "leave_out_missing": None,
    }  # fmt: skip
    assert (lines_of(draft), AuditEntry.objects.count()) == (before, entries)


def test_what_is_chosen_is_done_in_one_act_and_audited_with_old_and_new_values(cast: Any, draft: Release) -> None:
    factories.offer(draft)
    digest, before = draft.digest, lines_of(draft)
    _, said = reported(cast.organiser, draft, changed_pack())
    page = text(signed_in(cast.organiser).post(into(draft), said))
    assert "1 problem taken." in page
    assert "2 problems replaced." in page
    assert "To be verified: 2." in page
    draft.refresh_from_db()
    after = lines_of(draft)
    assert list(after) == ["Shell/0", "Shell/1", "Shell/2", "Shell/3", "Shell/7"]
    assert [name for name in before if before[name] != after[name]] == ["Shell/1", "Shell/2"]
    assert draft.digest != digest
    assert ProblemTrack.objects.filter(problem__release=draft).count() == 5
    entry = AuditEntry.objects.filter(action="import into draft").get()
    assert (entry.actor, entry.detail["added"], entry.detail["n_replaced"]) == (cast.organiser, ["Shell/7"], 2)
    words = AuditEntry.objects.get(action="change problem", detail__problem="Shell/1").detail
    assert (words["now"]["prompt"], words["regraded"]) == ("Other words.", False)
    assert words["was"]["prompt"].startswith("# Task 1")


def test_what_is_not_ticked_is_not_done_and_nothing_ticked_is_said(cast: Any, draft: Release) -> None:
    _, said = reported(cast.organiser, draft, changed_pack())
    kept = {name: said[name] for name in ("opened", "confirm")}
    answer = signed_in(cast.organiser).post(into(draft), kept)
    assert answer.status_code == 422
    assert "Tick what to import" in text(answer)
    before = lines_of(draft)
    answer = signed_in(cast.organiser).post(into(draft), {**kept, "leave_out_missing": "on"})
    assert "1 problem left out." in text(answer)
    del before["Shell/3"]
    assert lines_of(draft) == before
    assert Problem.with_left_out.get(release=draft, task_id="Shell/3").is_left_out


def test_a_draft_that_was_changed_since_its_report_is_refused_and_reported_anew(cast: Any, draft: Release) -> None:
    _, said = reported(cast.organiser, draft, changed_pack())
    row = draft.problems.select_related("release").get(task_id="Shell/0")
    drafts.change_problem(cast.organiser, row, fields_of(row.spec) | {"prompt": "Typed meanwhile."}, row.record_md5)
    before = lines_of(draft)
    answer = signed_in(cast.organiser).post(into(draft), said)
    page = unescape(text(answer))
    assert answer.status_code == 422
    assert "were changed after the report was made by organiser" in page
    assert "1 new, 3 changed, 0 the same, 1 in the draft alone" in page
    assert lines_of(draft) == before
    again = sent_by(text(answer), "draft-form")
    assert signed_in(cast.organiser).post(into(draft), again).status_code == 200
    assert lines_of(draft) != before
    assert signed_in(cast.organiser).post(into(draft), again).status_code == 422  # sent twice


def test_the_same_pack_again_has_nothing_to_import(cast: Any, draft: Release) -> None:
    page, said = reported(cast.organiser, draft, upload([factories.example_problem(n) for n in range(4)]))
    assert "There is nothing to import." in page
    assert said == {}


def test_a_left_out_problem_of_the_pack_is_brought_back_as_the_pack_has_it(cast: Any, draft: Release) -> None:
    row = draft.problems.select_related("release").get(task_id="Shell/1")
    drafts.leave_out(cast.organiser, row)
    page, said = reported(cast.organiser, draft, changed_pack())
    assert "it is brought back" in page
    signed_in(cast.organiser).post(into(draft), said)
    row = draft.problems.select_related("release").get(pk=row.pk)
    assert row.spec.prompt == "Other words."


def test_the_packs_own_head_is_not_taken_and_its_groups_without_weight_are_told(cast: Any, draft: Release) -> None:
    Release.objects.filter(pk=draft.pk).update(weights={"strings": 1.0, "sums": 1.0})
    pack = upload([factories.example_problem(0), factories.example_problem(9, group="matrices")], title="Another title")
    page, said = reported(cast.organiser, draft, pack)
    assert "the pack says otherwise of the release itself: title" in page
    assert "the draft's weights have none for matrices" in page
    signed_in(cast.organiser).post(into(draft), said)
    draft.refresh_from_db()
    assert (draft.title, draft.weights) == ("Release test-1", {"strings": 1.0, "sums": 1.0})


def test_evaluations_of_what_is_replaced_or_left_out_are_withdrawn(cast: Any, draft: Release) -> None:
    track = factories.offer(draft)
    verify(cast.organiser, draft, track)
    _, said = reported(cast.organiser, draft, changed_pack())
    signed_in(cast.organiser).post(into(draft), {**said, "leave_out_missing": "on"})
    cancelled = Evaluation.objects.filter(state="cancelled").values_list("problem__task_id", flat=True)
    assert set(cancelled) == {"Shell/2", "Shell/3"}


def test_a_zip_without_release_yaml_needs_no_name_for_a_draft(cast: Any, draft: Release) -> None:
    page, said = reported(cast.organiser, draft, folder_zip())
    assert "1 new, 0 changed, 0 the same, 4 in the draft alone" in page
    signed_in(cast.organiser).post(into(draft), said)
    assert draft.problems.count() == 5


def test_faults_stand_in_the_summary_and_a_strict_draft_says_what_it_cannot_hold(cast: Any, draft: Release) -> None:
    browser = signed_in(cast.organiser)
    answer = browser.post(
        reverse(IMPORT), {"pack": upload([packs.problem("t/a", timeout_seconds=-5)]), "into": draft.pk}
    )
    assert answer.status_code == 422
    summary = unescape(text(answer)).split('class="error-summary"')[1].split("</div>")[0]
    assert "`t/a`: field `timeout_seconds`" in summary
    answer = browser.post(reverse(IMPORT), {"into": draft.pk})
    assert 'href="#id_pack"' in text(answer)
    Release.objects.filter(pk=draft.pk).update(profile="compute-eval")
    question = {**choice(), "task_id": "q/1"}
    answer = browser.post(reverse(IMPORT), {"pack": upload([question]), "into": draft.pk})
    assert (answer.status_code, "read under the draft's profile" in unescape(text(answer))) == (422, True)


def test_only_drafts_are_offered_and_strangers_find_nothing(cast: Any, draft: Release) -> None:
    published = factories.release(1, "other-1")
    page = text(signed_in(cast.organiser).get(reverse(IMPORT) + f"?into={draft.pk}"))
    assert f'<option value="{draft.pk}" selected>' in page
    assert f'<option value="{published.pk}"' not in page
    browser = signed_in(cast.organiser)
    assert browser.get(into(draft)).url == reverse(IMPORT) + f"?into={draft.pk}"
    assert browser.post(into(published), {"confirm": "x"}).status_code == 404
    _, said = reported(cast.organiser, draft, changed_pack())
    before = lines_of(draft)
    for user in (cast.stranger, cast.owner):
        assert signed_in(user).post(into(draft), said).status_code == 302  # to the sign-in page
    assert lines_of(draft) == before
    assert browser.post(into(draft), {**said, "confirm": "forged"}).status_code == 422


def test_a_report_on_many_problems_costs_no_more_queries(cast: Any, django_assert_max_num_queries: Any) -> None:
    made = factories.release(60, "many-1", publish=False)
    pack = upload([factories.example_problem(n, prompt="Other words.") for n in range(60)], "many-1")
    browser = signed_in(cast.organiser)
    with django_assert_max_num_queries(25):
        page = text(browser.post(reverse(IMPORT), {"pack": pack, "into": made.pk}))
    assert "0 new, 60 changed" in page


def test_the_releases_page_leads_to_the_import(cast: Any, draft: Release) -> None:
    browser = signed_in(cast.organiser)
    page = text(browser.get(reverse("admin:problems_release_change", args=[draft.pk])))
    link = re.search(r'href="([^"]*)"[^>]*>Import a pack into it', page)
    assert link is not None
    assert browser.get(link[1], follow=True).status_code == 200
