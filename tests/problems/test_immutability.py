"""A published release never changes: not through the actions, not through the ORM, not through SQL."""

import pytest
from django.db import DatabaseError, connection, transaction

from problems import triggers
from problems.actions.releases import ReleaseRefused, export_release, freeze, import_release, publish
from problems.models import Problem, Release
from tests.packs import problem, problem_pack

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def release() -> Release:
    return import_release(problem_pack([problem("a/1"), problem("a/2")])).release


def refuses(statement: str, *values: object) -> None:
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_a_draft_may_be_changed_and_deleted(release: Release) -> None:
    release.problems.filter(task_id="a/1").delete()
    Release.objects.filter(pk=release.pk).update(primary_metric="speedup")
    assert release.problems.count() == 1


def test_a_published_release_keeps_its_content(release: Release) -> None:
    publish(release)
    refuses("UPDATE problems_release SET digest = 'x' WHERE id = %s", release.pk)
    refuses("UPDATE problems_release SET primary_metric = 'speedup' WHERE id = %s", release.pk)
    refuses("UPDATE problems_problem SET title = 'x' WHERE release_id = %s", release.pk)
    refuses("DELETE FROM problems_problem WHERE release_id = %s", release.pk)
    refuses("DELETE FROM problems_release WHERE id = %s", release.pk)


def test_a_published_release_takes_no_new_problem(release: Release) -> None:
    publish(release)
    another = release.problems.get(task_id="a/1")
    another.pk, another.task_id, another.slug, another.position = None, "a/3", "a-3", 3
    with pytest.raises(DatabaseError), transaction.atomic():
        another.save(force_insert=True)
    assert Problem.objects.count() == 2


def test_what_is_said_about_a_published_release_may_change(release: Release) -> None:
    publish(release)
    Release.objects.filter(pk=release.pk).update(description="Better words.", is_public=True)
    release.refresh_from_db()
    assert release.description == "Better words."


def test_states_only_move_forward(release: Release) -> None:
    with pytest.raises(ReleaseRefused, match="only a published release can become frozen"):
        freeze(release)
    publish(release)
    freeze(release)
    refuses("UPDATE problems_release SET state = 'published' WHERE id = %s", release.pk)
    with pytest.raises(ReleaseRefused):
        publish(release)


def test_a_missing_trigger_is_noticed(release: Release) -> None:
    assert triggers.missing(connection) == []
    suffix = "" if connection.vendor == "sqlite" else " ON problems_release"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER podium_problems_release_kept{suffix}")
    assert triggers.missing(connection) == ["podium_problems_release_kept"]
    assert [warning.id for warning in triggers.check_triggers(databases=["default"])] == ["podium.W010"]
    triggers.install(connection)
    assert triggers.missing(connection) == []


def test_the_same_pack_again_changes_nothing(release: Release) -> None:
    again = import_release(problem_pack([problem("a/1"), problem("a/2")]))
    assert not again.created
    assert again.release == release


def test_a_changed_pack_is_the_next_revision_and_says_what_holds(release: Release) -> None:
    publish(release)
    changed = [problem("a/1", prompt="Said better."), problem("a/2", timeout_seconds=9.0), problem("a/3")]
    report = import_release(problem_pack(changed))
    assert report.release.slug == "test-1-r2"
    assert report.release.revision == 2
    assert report.release.previous == release
    assert report.still_holding == ["a/1"]
    assert report.changed == ["a/1", "a/2", "a/3"]
    assert "  a/1: changed, its results still hold" in report.lines
    assert "  a/2: changed, its results do not hold" in report.lines
    assert "  a/3: added" in report.lines


def test_an_export_is_byte_for_byte_the_import(release: Release) -> None:
    import io

    from problems.formats.compute_eval.packs import read_problem_pack

    pack = problem_pack([problem("a/1"), problem("a/2")])
    file = io.BytesIO()
    assert export_release(release, file) == 2
    file.seek(0)
    back = read_problem_pack(file)
    assert back.jsonl_bytes == pack.jsonl_bytes
    assert back.metadata_bytes == pack.metadata_bytes
