"""Draft releases are made and edited; what is published is not."""

import io

import pytest

from problems.actions import draft_places, drafts
from problems.actions.releases import ReleaseRefused, export_release, import_release, publish, settle_build_only
from problems.formats.compute_eval.packs import read_problem_pack
from problems.models import Problem, Release
from tests import packs

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def draft() -> Release:
    return import_release(packs.problem_pack([packs.problem(f"a/{n}") for n in (1, 2, 3)])).release


def order(release: Release) -> list[str]:
    return list(release.problems.order_by("position").values_list("task_id", flat=True))


def exported(release: Release) -> list[str]:
    """The task_ids of the pack, read back by the reader that checks its hashes and its count."""
    file = io.BytesIO()
    release.refresh_from_db()
    export_release(release, file)
    file.seek(0)
    pack = read_problem_pack(file)
    assert pack.digest == release.digest
    return [one.problem.task_id for one in pack.records]


def test_an_empty_draft_takes_problems_and_is_exported() -> None:
    made = drafts.new_draft("spring-1", "Spring")
    assert (made.slug, made.state, made.profile, made.revision) == ("spring-1", "draft", "podium/1", 1)
    assert exported(made) == []
    drafts.add_problem(made, packs.problem("a/1"))
    drafts.add_problem(made, packs.problem("a-1"))
    assert exported(made) == ["a/1", "a-1"]
    assert list(made.problems.values_list("slug", flat=True)) == ["a-1", "a-1-2"]


@pytest.mark.parametrize("name", ["", "-x", "a b", "a/b", "é", "x" * 61])
def test_a_release_needs_a_plain_name(name: str) -> None:
    with pytest.raises(ReleaseRefused, match="is no name for a release"):
        drafts.new_draft(name, "")


def test_a_name_is_given_once(draft: Release) -> None:
    with pytest.raises(ReleaseRefused, match="Start its next revision"):
        drafts.new_draft(draft.datapack_release, "")


def test_a_changed_problem_has_a_new_record_and_new_columns(draft: Release) -> None:
    row = draft.problems.get(task_id="a/2")
    fields = packs.problem("b/2", group="other", podium={"title": "New", "build_only": []})
    change = drafts.change_problem(row, fields, row.record_md5)
    assert (change.changed, change.regraded) == (True, True)
    row = draft.problems.get(pk=row.pk)
    assert (row.task_id, row.slug, row.group, row.title, row.position) == ("b/2", "b-2", "other", "New", 1)
    assert row.graded_since is not None
    assert exported(draft) == ["a/1", "b/2", "a/3"]


def test_words_for_people_change_no_result(draft: Release) -> None:
    row = draft.problems.get(task_id="a/1")
    settle_build_only(row, ["test/t.sh"])
    change = drafts.change_problem(row, packs.problem("a/1", prompt="Other words."), row.record_md5)
    assert (change.changed, change.regraded) == (True, False)
    changed = draft.problems.get(pk=row.pk)
    assert (changed.build_only, changed.graded_since) == (["test/t.sh"], None)
    assert (changed.grading_digest, changed.spec.prompt) == (row.grading_digest, "Other words.")


def test_a_known_bad_solution_more_must_be_verified(draft: Release) -> None:
    row = draft.problems.get(task_id="a/1")
    bad = {"name": "bad", "expect": "test_failed", "files": [{"path": "solution.sh", "content": "exit 1"}]}
    fields = packs.problem("a/1", podium={"build_only": [], "known_bad": [bad]})
    assert drafts.change_problem(row, fields, row.record_md5).regraded


def test_the_same_record_again_changes_nothing(draft: Release) -> None:
    row = draft.problems.get(task_id="a/1")
    digest = draft.digest
    assert not drafts.change_problem(row, packs.problem("a/1"), row.record_md5).changed
    draft.refresh_from_db()
    assert draft.digest == digest


def test_the_second_of_two_editors_is_refused(draft: Release) -> None:
    row = draft.problems.get(task_id="a/1")
    drafts.change_problem(row, packs.problem("a/1", prompt="First."), row.record_md5)
    with pytest.raises(ReleaseRefused, match="was changed or left out while you edited it"):
        drafts.change_problem(row, packs.problem("a/1", prompt="Second."), row.record_md5)
    assert draft.problems.get(task_id="a/1").spec.prompt == "First."


def test_a_bad_record_is_refused_field_by_field(draft: Release) -> None:
    row = draft.problems.get(task_id="a/1")
    fields = packs.problem("a/1", timeout_seconds="soon", podium={"flops": -1, "dtype": "fp99"})
    with pytest.raises(drafts.RecordRefused) as refused:
        drafts.change_problem(row, fields, row.record_md5)
    assert {one.path for one in refused.value.faults} >= {("timeout_seconds",)}
    fields = packs.problem("a/1", podium={"flops": -1, "dtype": "fp99"})
    with pytest.raises(drafts.RecordRefused) as refused:
        drafts.change_problem(row, fields, row.record_md5)
    assert {one.path for one in refused.value.faults} == {
        ("metadata", "podium", "flops"),
        ("metadata", "podium", "dtype"),
    }


def test_a_task_id_is_given_once(draft: Release) -> None:
    row = draft.problems.get(task_id="a/1")
    for refuse in (
        lambda: drafts.change_problem(row, packs.problem("a/2"), row.record_md5),
        lambda: drafts.add_problem(draft, packs.problem("a/3")),
    ):
        with pytest.raises(drafts.RecordRefused, match="is in this draft"):
            refuse()


def test_a_problem_is_left_out_and_brought_back(draft: Release) -> None:
    row = draft.problems.get(task_id="a/2")
    draft_places.leave_out(row)
    assert exported(draft) == ["a/1", "a/3"]
    with pytest.raises(drafts.RecordRefused, match="is left out of this draft"):
        drafts.add_problem(draft, packs.problem("a/2"))
    with pytest.raises(ReleaseRefused, match="left out already"):
        draft_places.leave_out(row)
    draft_places.bring_back(row)
    assert exported(draft) == ["a/1", "a/2", "a/3"]


def test_only_what_is_left_out_is_deleted(draft: Release) -> None:
    row = draft.problems.get(task_id="a/2")
    with pytest.raises(ReleaseRefused, match="leave it out first"):
        drafts.delete_problem(row)
    draft_places.leave_out(row)
    drafts.delete_problem(row)
    assert Problem.with_left_out.filter(release=draft).count() == 2


def test_problems_are_moved(draft: Release) -> None:
    first, last = draft.problems.get(task_id="a/1"), draft.problems.get(task_id="a/3")
    draft_places.move_problem(last, -1)
    assert order(draft) == exported(draft) == ["a/1", "a/3", "a/2"]
    draft_places.leave_out(first)
    draft_places.move_problem(last, 9)
    assert order(draft) == ["a/2", "a/3"]
    with pytest.raises(ReleaseRefused, match="is no part"):
        draft_places.move_problem(first, 1)


def test_a_next_revision_begins_as_a_copy(draft: Release) -> None:
    publish(draft)
    made = drafts.next_revision(draft)
    assert (made.slug, made.revision, made.previous, made.state) == ("test-1-r2", 2, draft, "draft")
    assert (made.digest, exported(made)) == (draft.digest, ["a/1", "a/2", "a/3"])
    assert draft.problems.count() == 3
    with pytest.raises(ReleaseRefused, match="is a draft of the same name already"):
        drafts.next_revision(draft)


def test_a_published_release_is_not_edited(draft: Release) -> None:
    row = draft.problems.get(task_id="a/1")
    publish(draft)
    for edit in (
        lambda: drafts.add_problem(draft, packs.problem("a/9")),
        lambda: drafts.change_problem(row, packs.problem("a/1", prompt="x"), row.record_md5),
        lambda: draft_places.leave_out(row),
        lambda: draft_places.move_problem(row, 1),
        lambda: drafts.delete_problem(row),
    ):
        with pytest.raises(ReleaseRefused, match="Start its next revision"):
            edit()
