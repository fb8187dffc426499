"""The pages on which an organiser makes and edits the problems of a draft."""

import io
import json
import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.actions.problems import drafts
from leaderboard.admin.drafts.new_page import TEMPLATES
from leaderboard.models import AuditEntry
from problems.actions.drafts import fields_of, record_with
from problems.formats.compute_eval.packs import write_problem_pack
from problems.models import Problem, Release
from problems.spec.profile import Profile
from tests import factories, packs
from tests.admin import pages
from tests.admin.pages import act, folder_zip, signed_in, text
from tests.admin.sent_form import sent_by
from tests.question_records import choice, short

pytestmark = pytest.mark.django_db
RELEASE = "problems_release"


def address(name: str, *arguments: Any) -> str:
    return reverse(f"admin:problems_release_{name}", args=arguments)


@pytest.fixture
def draft() -> Release:
    return factories.release(2, publish=False)


def page_of(row: Problem) -> str:
    return address("draft_problem", row.release_id, row.pk)


def opened(user: Any, row: Problem) -> dict[str, Any]:
    return dict(sent_by(text(signed_in(user).get(page_of(row))), "draft-form"))


def save(user: Any, row: Problem, **changes: Any) -> Any:
    said = opened(user, row) | changes
    return signed_in(user).post(page_of(row), {name: value for name, value in said.items() if value is not None})


def now(row: Problem) -> Problem:
    return Problem.objects.select_related("release").get(pk=row.pk)


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_is_a_valid_problem_that_is_made_by_one_click(cast: Any, name: str) -> None:
    new_draft = reverse("admin:problems_release_list_act", args=["new-draft"])
    made = signed_in(cast.organiser).post(new_draft, {"name": "spring-1", "title": "Spring"})
    release = Release.objects.get(slug="spring-1")
    assert made.url == address("draft", release.pk)
    answer = signed_in(cast.organiser).post(address("draft_new", release.pk), {"template": name, "task_id": "a/1"})
    row = release.problems.get()
    assert answer.url == page_of(row)
    assert row.task_id == "a/1"
    assert row.title != "a/1"
    assert text(signed_in(cast.organiser).get(address("draft", release.pk))).count("a/1")


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_page_that_is_saved_as_it_was_opened_changes_nothing(cast: Any, draft: Release, name: str) -> None:
    from problems.actions.drafts import add_problem

    row = add_problem(draft, TEMPLATES[name].record("a/1"))
    assert save(cast.organiser, row).status_code == 302
    assert now(row).record_md5 == row.record_md5
    assert not AuditEntry.objects.filter(action="change problem").exists()


@pytest.mark.parametrize("made", [choice, short])
def test_questions_survive_their_form(cast: Any, draft: Release, made: Any) -> None:
    from problems.actions.drafts import add_problem

    row = add_problem(draft, made())
    save(cast.organiser, row)
    assert now(row).record_md5 == row.record_md5
    assert save(cast.organiser, row, explanation="Because.").status_code == 302
    assert now(row).spec.after_closing == "Because."


def test_commands_files_and_limits_are_edited(cast: Any, draft: Release) -> None:
    row = draft.problems.get(task_id="Shell/0")
    answer = save(
        cast.organiser, row, build_command="make", timeout_seconds="7.5", tags="one, two", limit_memory_bytes="1000000",
        timing_mode="kernels", timing_include="a*\r\nb*", **{
            "file-tests-0-content": "sh solution.sh && true\r\n", "file-context-0-remove": "1",
            "file-known_bad-9-path": "solution.sh", "file-known_bad-9-name": "ends",
            "file-known_bad-9-expect": "invalid",
            "file-tests-7-upload": SimpleUploadedFile("more.sh", b"true\r\n"), "file-tests-7-path": "test/more.sh",
        },
    )  # fmt: skip
    assert answer.status_code == 302
    record = fields_of(now(row).spec)
    assert (record["build_command"], record["timeout_seconds"]) == ("make", 7.5)
    assert record["timing_mode"] == {"type": "kernels", "include": ["a*", "b*"], "exclude": None}
    assert record["context_files"] == []
    assert {one["path"]: one["content"] for one in record["test_files"]} == {
        "test/t.sh": "sh solution.sh && true\n", "test/visible.sh": "echo visible test\n", "test/more.sh": "true\r\n",
    }  # fmt: skip
    podium = record["metadata"]["podium"]
    assert podium["visible_tests"] == ["test/visible.sh"]
    assert podium["limits"] == {"memory_bytes": 1000000}
    assert podium["known_bad"] == [
        {"name": "ends", "expect": "invalid", "files": [{"path": "solution.sh", "content": ""}]}
    ]
    assert now(row).tags == ["one", "two"]
    assert AuditEntry.objects.filter(action="change problem", actor=cast.organiser).count() == 1


def test_what_is_wrong_stands_at_its_field_and_nothing_typed_is_lost(cast: Any, draft: Release) -> None:
    row = draft.problems.get(task_id="Shell/0")
    answer = save(
        cast.organiser, row, prompt="Typed words <b>", flops="-3", compute_capability="x", visible_test_command="sh x",
        **{"file-shown_tests-0-remove": "1", "file-tests-0-path": "../t.sh", "file-tests-0-content": "typed test"},
    )  # fmt: skip
    page = text(answer)
    assert answer.status_code == 422
    assert "Typed words &lt;b&gt;" in page
    assert "typed test" in page
    assert "leaves its folder" in page
    assert now(row).record_md5 == row.record_md5
    answer = save(cast.organiser, row, visible_test_command="sh x", **{"file-shown_tests-0-remove": "1"})
    assert answer.status_code == 422
    assert "needs `visible_tests`" in text(answer)
    answer = save(cast.organiser, row, bytes="5", output_bytes="6", task_id="Shell/1")
    assert "must not exceed" in text(answer)
    answer = save(cast.organiser, row, task_id="Shell/1")
    errors = text(answer).split('name="task_id"')[0]
    assert "another problem with this task_id is in this draft" in errors


@pytest.mark.parametrize("bad", [b"\xff\xfe", b"a\0b"])
def test_an_upload_that_is_no_text_is_refused(cast: Any, draft: Release, bad: bytes) -> None:
    row = draft.problems.get(task_id="Shell/0")
    answer = save(
        cast.organiser, row, **{"file-tests-5-path": "", "file-tests-5-upload": SimpleUploadedFile("t.bin", bad)}
    )
    assert answer.status_code == 422
    assert "files are texts" in text(answer)


def test_a_file_more_and_the_preview_keep_what_is_typed_and_save_nothing(cast: Any, draft: Release) -> None:
    row = draft.problems.get(task_id="Shell/0")
    upload = SimpleUploadedFile("up.sh", b"uploaded words")
    answer = save(
        cast.organiser, row, add="tests", title="Typed", **{"file-tests-5-path": "", "file-tests-5-upload": upload}
    )
    page = text(answer)
    assert answer.status_code == 200
    assert 'value="Typed"' in page
    assert "uploaded words" in page
    assert page.count("file-tests-") > text(signed_in(cast.organiser).get(page_of(row))).count("file-tests-")
    assert "<em>seen</em>" in text(save(cast.organiser, row, preview="1", prompt="*seen*", flops="-1"))
    assert now(row).record_md5 == row.record_md5


def test_the_preview_is_the_statement_as_pages_show_it(cast: Any, draft: Release) -> None:
    browser = signed_in(cast.organiser)
    page = text(browser.post(address("draft_preview", draft.pk), {"prompt": "# A\n\n<script>x</script> *b*"}))
    assert "<h3>A</h3>" in page
    assert "<script>" not in page
    assert browser.get(address("draft_preview", draft.pk)).status_code == 405


def test_formulas_are_shown_as_the_help_of_the_statement_says(cast: Any, draft: Release) -> None:
    row = draft.problems.first()
    assert row is not None
    page = text(signed_in(cast.organiser).get(page_of(row)))
    words = page.partition('id="prompt-help">')[2].partition("</div>")[0]
    assert r"formulas in TeX, as \(x^2\). HTML is shown as text." in words
    shown = text(signed_in(cast.organiser).post(address("draft_preview", draft.pk), {"prompt": words}))
    assert re.search(r'<code class="math[^>]*>\\\(x\^2\\\)</code>', shown)


def test_the_second_of_two_editors_loses_nothing(cast: Any, draft: Release) -> None:
    row = draft.problems.get(task_id="Shell/0")
    mine = opened(cast.organiser, row)
    save(cast.organiser, row, title="First")
    answer = signed_in(cast.organiser).post(page_of(row), mine | {"title": "Second"})
    assert answer.status_code == 422
    assert "was changed or left out while you edited it" in text(answer)
    assert 'value="Second"' in text(answer)
    assert now(row).title == "First"


def test_a_strict_pack_has_no_fields_of_podium(cast: Any) -> None:
    from problems.actions.releases import import_release
    from problems.formats.compute_eval.packs import problem_pack_from

    fields = packs.problem("CUDA/1", type="cuda_cpp", group="cuda-runtime", podium=None)
    fields["metadata"]["releases"] = ["2025-1"]
    line = packs.line(fields)
    head = {"release": "2025-1", "total_count": 1, "created_at": "2026-01-01T00:00:00"}
    release = import_release(problem_pack_from(json.dumps(head).encode(), line)).release
    row = release.problems.get()
    page = text(signed_in(cast.organiser).get(page_of(row)))
    assert 'name="limit_memory_bytes"' not in page
    assert "file-known_bad" not in page
    assert save(cast.organiser, row, test_command="true").status_code == 302
    assert fields_of(now(row).spec)["test_command"] == "true"


def packed(record: dict[str, Any]) -> SimpleUploadedFile:
    line = record_with(record, Profile.PODIUM).line
    head = {"release": "x", "total_count": 1, "created_at": "2026-01-01T00:00:00", "profile": "podium/1"}
    file = io.BytesIO()
    write_problem_pack(file, json.dumps(head).encode(), [line])
    return SimpleUploadedFile("problem.tar.gz", file.getvalue())


def test_a_functions_definition_comes_from_a_pack_and_its_words_from_the_form(cast: Any, draft: Release) -> None:
    from problems.actions.drafts import add_problem

    row = add_problem(draft, TEMPLATES["function"].record("f/1"))
    other = TEMPLATES["function"].record("g/2")
    other["definition"]["content"] += "\n# packed again\n"
    other["prompt"] = "Other words"
    assert save(cast.organiser, row, title="Mine", packed=packed(other)).status_code == 302
    record = fields_of(now(row).spec)
    assert record["definition"]["content"].endswith("# packed again\n")
    assert (now(row).title, record["task_id"], record["prompt"]) == ("Mine", "f/1", fields_of(row.spec)["prompt"])
    answer = save(cast.organiser, row, packed=packed(packs.problem("a/1")))
    assert "The pack has 0 function problems" in text(answer)
    assert "podium functions pack" in text(answer)


def test_rows_are_moved_and_deleted_by_their_buttons(cast: Any, draft: Release) -> None:
    browser = signed_in(cast.organiser)
    first, last = draft.problems.order_by("position")

    def press(row: Problem, name: str) -> Any:
        return browser.post(address("draft_act", draft.pk, row.pk, name), follow=True)

    press(last, "up")
    assert list(draft.problems.order_by("position")) == [last, first]
    assert "leave it out first" in text(press(first, "delete"))
    drafts.leave_out(cast.organiser, first)
    press(first, "delete")
    assert Problem.with_left_out.filter(release=draft).count() == 1
    assert press(last, "nonsense").status_code == 404
    assert browser.get(address("draft_act", draft.pk, last.pk, "up")).status_code == 405


def test_a_revision_is_compared_with_the_last_one(cast: Any) -> None:
    first = factories.release(2)
    act(cast.organiser, RELEASE, "next-revision", first)
    second = Release.objects.get(previous=first)
    row = second.problems.get(task_id="Shell/0")
    save(cast.organiser, row, timeout_seconds="9", **{"file-tests-0-content": "sh solution.sh # other <words>"})
    browser = signed_in(cast.organiser)
    drafts.leave_out(cast.organiser, second.problems.get(task_id="Shell/1"))
    page = text(browser.get(address("difference", second.pk)))
    assert "0 added, 1 removed, 1 changed, 0 the same" in page
    assert "test_files: test/t.sh" in page
    assert "timeout_seconds" in page
    assert "# other &lt;words&gt;" in page
    assert "Its results do not hold" in page
    assert browser.get(address("difference", first.pk)).status_code == 404


HEAD = "release: mine-1\nprofile: podium/1\n"


def test_a_zip_of_a_problems_folder_is_reported_and_then_imported(cast: Any) -> None:
    browser = signed_in(cast.organiser)
    page = text(browser.post(address("import"), {"pack": folder_zip(**{"mine/release.yaml": HEAD})}))
    assert "nothing is stored yet" in page
    assert "1 problems read" in page
    assert not Release.objects.exists()
    assert not AuditEntry.objects.filter(action="import").exists()
    confirm = re.search(r'name="confirm" value="([^"]*)"', page)
    assert confirm is not None
    assert "Imported" in text(browser.post(address("import"), {"confirm": confirm[1]}))
    assert Release.objects.get().problems.count() == 1


def _hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None
    return found[1]


def test_a_zip_without_release_yaml_is_asked_about(cast: Any) -> None:
    browser = signed_in(cast.organiser)
    page = text(browser.post(address("import"), {"pack": folder_zip()}))
    assert "What is the release called?" in page
    assert "The zip has no release.yaml" in page
    asked = {"describe": _hidden(page, "describe")}
    for name in ("", "x y", "../x"):
        answer = browser.post(address("import"), {**asked, "name": name})
        assert (answer.status_code, "What is the release called?" in text(answer)) == (422, True)
    page = text(browser.post(address("import"), {**asked, "name": "spring-1", "title": "Spring"}))
    assert "nothing is stored yet" in page
    assert not Release.objects.exists()
    assert "Imported" in text(browser.post(address("import"), {"confirm": _hidden(page, "confirm")}))
    made = Release.objects.get()
    assert (made.datapack_release, made.title, made.profile) == ("spring-1", "Spring", "podium/1")


def test_all_faults_of_a_file_are_listed(cast: Any) -> None:
    browser = signed_in(cast.organiser)
    bad = [
        packs.problem("t/a", timeout_seconds=-5, date="31/12/2026"),
        packs.problem("t/b", min_cuda_toolkit=12),
        packs.problem("t/c", min_cuda_toolkit="thirteen"),
    ]
    lines = b"".join(map(packs.line, bad))
    metadata = json.dumps({"release": "bad-1", "total_count": 3, "profile": "podium/1"}).encode()
    file = io.BytesIO()
    write_problem_pack(file, metadata, lines)
    answer = browser.post(address("import"), {"pack": SimpleUploadedFile("bad.tar.gz", file.getvalue())})
    page = unescape(text(answer))
    assert answer.status_code == 422
    for words in ("`t/a`: field `timeout_seconds`", "`t/a`: field `date`", "`t/b`: field `min_cuda_toolkit`",
                  "`t/c`: field `min_cuda_toolkit` must be a version"):  # fmt: skip
        assert words in page
    assert not Release.objects.exists()


def test_an_import_warns_of_problems_without_tests_or_a_reference(cast: Any) -> None:
    bare = [packs.problem(f"t/{n}", test_files=[], baseline_solution=None, test_command="true") for n in range(5)]
    file = io.BytesIO()
    pack = packs.problem_pack(bare)
    write_problem_pack(file, pack.metadata_bytes, pack.jsonl_bytes)
    browser = signed_in(cast.organiser)
    upload = SimpleUploadedFile("bare.tar.gz", file.getvalue())
    page = unescape(text(browser.post(address("import"), {"pack": upload})))
    assert "Warning: no test files: t/0, t/1, t/2 and 2 more." in page
    assert "Warning: no reference solution" in page


def test_a_bad_file_is_refused_and_stores_nothing(cast: Any) -> None:
    browser = signed_in(cast.organiser)
    bad = {
        "is not a gzipped tar": SimpleUploadedFile("x.tar.gz", b"nothing"),
        "the zip is": SimpleUploadedFile("x.zip", b"PK\x03\x04 cut"),
        "leaves its folder": folder_zip(**{"../evil": "x"}),
        "never on the site": folder_zip(**{"mine/f/def.py": "raise SystemExit", "mine/f/problem.md": "x"}),
        "unknown field `nonsense`": folder_zip(**{"mine/b/problem-spec.yaml": "nonsense: 1\ntype: cpp\ngroup: x"}),
    }
    for words, upload in bad.items():
        answer = browser.post(address("import"), {"pack": upload})
        assert (answer.status_code, words in unescape(text(answer))) == (422, True), words
        assert "/tmp" not in text(answer)
    assert browser.post(address("import"), {"confirm": "forged"}).status_code == 422
    assert not Release.objects.exists()


IMPOSSIBLE = {
    "timeout_seconds": ("-5", "1e9"),
    "min_cuda_toolkit": ("thirteen",),
    "compute_capability": ("nine",),
    "date": ("31/12/2026",),
    "limit_memory_bytes": ("1000000000000000",),
    "limit_processes": ("-1", "1000000000000000"),
    "bytes": ("1e15",),
    "test_command": ("  ",),
}


@pytest.mark.parametrize(("field", "value"), [(name, one) for name, some in IMPOSSIBLE.items() for one in some])
def test_values_that_cannot_work_are_refused_at_their_field(cast: Any, draft: Release, field: str, value: str) -> None:
    row = draft.problems.get(task_id="Shell/0")
    answer = save(cast.organiser, row, **{field: value})
    assert answer.status_code == 422
    assert list(answer.context_data["form"].errors) == [field]
    assert draft.problems.get(pk=row.pk).record_md5 == row.record_md5


def test_a_withheld_file_that_is_not_there_is_refused_at_its_field(cast: Any, draft: Release) -> None:
    row = draft.problems.get(task_id="Shell/0")
    answer = save(cast.organiser, row, build_only_known="yes", build_only="test/none.h")
    assert list(answer.context_data["form"].errors) == ["build_only"]


def test_one_path_as_context_and_test_is_refused_at_the_files(cast: Any, draft: Release) -> None:
    row = draft.problems.get(task_id="Shell/0")
    sent = {"file-context-8-path": "test/t.sh", "file-context-8-content": "x"}
    answer = save(cast.organiser, row, **sent)
    assert answer.status_code == 422
    assert "is a context file, too" in unescape(text(answer))


def test_a_slow_pattern_is_refused_at_its_field_and_one_without_a_group_is_warned_of(cast: Any, draft: Release) -> None:
    signed_in(cast.organiser).post(address("draft_new", draft.pk), {"template": "short_answer", "task_id": "q/1"})
    row = draft.problems.get(task_id="q/1")
    answer = save(cast.organiser, row, final_answer_patterns="(a+)+")
    assert "final_answer_patterns" in answer.context_data["form"].errors
    said = opened(cast.organiser, row) | {"final_answer_patterns": row.spec.answer}
    page = text(signed_in(cast.organiser).post(page_of(row), said, follow=True))
    assert "is saved" in page
    assert "has no group" in page


def test_weights_of_a_group_that_is_not_there_are_refused_at_their_field(cast: Any, draft: Release) -> None:
    browser = signed_in(cast.organiser)
    change = reverse("admin:problems_release_change", args=[draft.pk])
    form = browser.get(change).context_data["adminform"].form
    sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    sent |= pages.opened(browser, change)
    answer = browser.post(change, {**sent, "weights": json.dumps({"even": 1.0, "none": 2.0})})
    assert list(answer.context_data["adminform"].form.errors) == ["weights"]
    assert "which is no group of its problems" in unescape(text(answer))
    assert draft.weights == Release.objects.get(pk=draft.pk).weights


def test_published_releases_with_such_values_are_shown(cast: Any, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("problems.actions.releases.problem_faults", lambda _: [])  # as an older site imported it
    bad = {"timeout_seconds": 1e308, "date": "31/12/2026", "min_cuda_toolkit": "thirteen"}
    made = factories.release(1, problem=lambda n: factories.example_problem(n, **bad))
    factories.offer(made)
    row = made.problems.get()
    assert client.get(reverse("problem", args=[made.slug, row.slug])).status_code == 200
    assert client.get(made.get_absolute_url()).status_code == 200
    assert "time limit of 1e+308" in row.on_tracks.get().skip_reason


def test_published_releases_have_none_of_these_pages(cast: Any) -> None:
    made = factories.release(1)
    row = made.problems.get()
    browser = signed_in(cast.organiser)
    for path in (
        address("draft", made.pk),
        address("draft_new", made.pk),
        page_of(row),
        address("draft_copy", made.pk),
    ):
        assert browser.get(path).status_code == 404
    assert browser.post(page_of(row), {"opened": row.record_md5}).status_code == 404
    assert browser.post(address("draft_act", made.pk, row.pk, "last")).status_code == 404
    assert browser.post(address("draft_chosen", made.pk), {"act": "leave-out"}).status_code == 404


def test_strangers_and_clerks_are_refused_everywhere(cast: Any, draft: Release, client: Any) -> None:
    row = draft.problems.first()
    clerk = factories.UserFactory(username="clerk", is_staff=True)
    assert row is not None
    arguments: dict[str, tuple[Any, ...]] = {
        "import": (), "draft": (draft.pk,), "draft_new": (draft.pk,), "draft_copy": (draft.pk,),
        "draft_preview": (draft.pk,), "draft_problem": (draft.pk, row.pk), "draft_act": (draft.pk, row.pk, "last"),
        "difference": (draft.pk,), "draft_chosen": (draft.pk,),
    }  # fmt: skip
    for user, status in ((None, 302), (cast.stranger, 302), (cast.owner, 302), (clerk, 403)):
        client.logout()
        if user:
            client.force_login(user)
        for name, given in arguments.items():
            for method in (client.get, client.post):
                assert method(address(name, *given)).status_code == status, (user, name)
    assert draft.problems.count() == 2


def test_the_pages_ask_a_constant_number_of_queries(
    cast: Any, draft: Release, django_assert_max_num_queries: Any
) -> None:
    big = factories.release(40, "big-1", publish=False)
    factories.offer(big)
    browser = signed_in(cast.organiser)
    for path in (address("draft", big.pk), page_of(big.problems.all()[5])):
        with django_assert_max_num_queries(21):
            browser.get(path)


def test_the_releases_page_leads_to_them(cast: Any, draft: Release) -> None:
    browser = signed_in(cast.organiser)
    page = text(browser.get(address("change", draft.pk)))
    assert f'href="{address("draft", draft.pk)}"' in page
    assert "next-revision" not in page
    published = factories.release(1, "other-1")
    page = text(browser.get(address("change", published.pk)))
    assert "next-revision" in page
    assert address("draft", published.pk) not in page
    assert f'href="{address("import")}"' in text(browser.get(address("changelist")))
