"""A draft that was never published can be deleted with all that verifying has left; nothing else can."""

from typing import Any

import pytest
from django.apps import apps
from django.db import Error, connection, transaction
from django.db.models.signals import pre_migrate

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.decide import decide_flag
from leaderboard.actions.curation.verify import verify
from leaderboard.actions.problems import drafts
from leaderboard.actions.problems.delete_draft import contents, delete_draft
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import (
    Appeal,
    AuditEntry,
    Clarification,
    Decision,
    Evaluation,
    Flag,
    Measurement,
    Result,
    ResultCase,
    Submission,
    Trial,
    VoidedResult,
    Voiding,
)
from problems import triggers
from problems.models import Release
from runners.fleet.models import Attempt, Job
from runners.wire.protocol import CaseReport, FlagReport, FlagScope, Report, Verdict
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def report(evaluation: Evaluation) -> Report:
    good = evaluation.submission.entrant.slug == "_reference"
    made = factories.report(
        Verdict.PASSED if good else Verdict.TEST_FAILED, flags=[FlagReport(code="throttled", scope=FlagScope.TIME)]
    )
    return made.model_copy(update={"cases": [CaseReport(name="small", verdict=Verdict.PASSED)]})


@pytest.fixture
def verified(cast: Any) -> Release:
    """A draft with runs of every kind: judged, flagged, ruled on, voided, tried, asked about, one left out."""
    made = factories.release(3, publish=False)
    track = factories.offer(made)
    for one in verify(cast.organiser, made, track):
        factories.judge(one, report)
    decide_flag(cast.organiser, Flag.objects.all()[0], upheld=True, public_reason="Hot.")
    voiding = Voiding.objects.create(node="n", until="2026-01-01T00:00Z", public_reason="x", voided_by=cast.organiser)
    VoidedResult.objects.create(voiding=voiding, result=Result.objects.order_by("pk")[0])
    Evaluation.objects.filter(pk=Evaluation.objects.order_by("pk")[0].pk).update(state="queued", current_result=None)
    problem = made.problems.order_by("position")[0]
    Trial.objects.create(user=cast.organiser, problem=problem, track=track, solution_sha256="0" * 64, solution_bytes=1)
    Clarification.objects.create(problem=problem, text="Why?", asked_by=cast.organiser)
    drafts.leave_out(cast.organiser, made.problems.order_by("position")[2])
    return made


def rows_of_content() -> dict[str, int]:
    """All rows of the tables that a draft fills, by table."""
    names = ("leaderboard", "fleet", "problems")
    models = [one for one in apps.get_models() if one._meta.app_label in names]
    kept = {"auditentry", "entrant", "track", "voiding", "membership", "team", "tasklock", "nameskeleton"}
    return {
        str(one._meta.model_name): n
        for one in models
        if one._meta.model_name not in kept and (n := one._base_manager.count())
    }


def test_all_of_a_draft_goes_and_the_audit_says_what(cast: Any, verified: Release) -> None:
    before = contents(verified)
    assert before["problems"] == 3
    assert before["results"] == Result.objects.count() > 0
    assert delete_draft(cast.organiser, verified) == before
    assert rows_of_content() == {}
    entry = AuditEntry.objects.get(action="delete draft")
    assert (entry.actor, entry.target) == (cast.organiser, f"release {verified.slug}")
    assert (entry.detail["problems"], entry.detail["rulings_on_their_flags"]) == (3, 1)
    with pytest.raises(Conflict, match="is deleted already"):
        delete_draft(cast.organiser, verified)


def test_other_releases_keep_everything(cast: Any) -> None:
    other = factories.release(2, "other-1")
    factories.judged_submission(cast.entrant, other, factories.offer(other), report)
    before = rows_of_content()
    draft = factories.release(1, publish=False)
    for one in verify(cast.organiser, draft, factories.offer(draft, "another")):
        factories.judge(one, report)
    delete_draft(cast.organiser, draft)
    assert rows_of_content() == before


def test_an_open_job_is_withdrawn_and_its_node_told(cast: Any) -> None:
    made = factories.release(1, publish=False)
    verify(cast.organiser, made, factories.offer(made))
    assert Job.objects.exists()
    delete_draft(cast.organiser, made)
    assert not Job.objects.exists()
    assert not Attempt.objects.exists()


def test_a_next_revision_that_reuses_results_is_deleted_alone(cast: Any) -> None:
    first = factories.release(2, publish=False)
    track = factories.offer(first)
    for one in verify(cast.organiser, first, track):
        factories.judge(one, report)
    curate.publish(cast.organiser, first)
    n = Result.objects.count()
    draft = drafts.next_revision(cast.organiser, first)
    verify(cast.organiser, draft, track)
    assert Result.objects.count() == 2 * n
    delete_draft(cast.organiser, draft)
    assert Result.objects.count() == n


def test_a_published_release_is_never_deleted(cast: Any, verified: Release) -> None:
    curate.publish(cast.organiser, verified, "In haste.")
    with pytest.raises(Refused, match="was published is never deleted"):
        delete_draft(cast.organiser, verified)
    guarded = (Result, ResultCase, Measurement, Flag, Decision, VoidedResult)
    for model in guarded:
        with pytest.raises(Error, match=r"never changes|stays void"), transaction.atomic():
            model._base_manager.all()._raw_delete(using="default")


def test_an_appeal_of_a_published_release_is_never_deleted(cast: Any) -> None:
    made = factories.release(1)
    factories.judged_submission(cast.entrant, made, factories.offer(made), report, n_samples=1)
    ruling = decide_flag(cast.organiser, Flag.objects.get(), upheld=True, public_reason="Hot.")
    Appeal.objects.create(decision=ruling, appealed_by=cast.owner, words="No.")
    with pytest.raises(Error, match="an appeal never changes"), transaction.atomic():
        Appeal.objects.all().delete()


def test_a_draft_that_another_names_or_that_has_submissions_is_kept(cast: Any, verified: Release) -> None:
    later = Release.objects.create(slug="later", datapack_release="later", digest="0", profile="podium/1",
                                   pack_metadata="{}", title="Later", previous=verified)  # fmt: skip
    with pytest.raises(Refused, match="later is the next revision"):
        delete_draft(cast.organiser, verified)
    later.delete()
    Submission.objects.filter(release=verified).update(entrant=cast.entrant)
    with pytest.raises(Refused, match="kept for good"):
        delete_draft(cast.organiser, verified)


def test_only_organisers_delete(cast: Any, verified: Release) -> None:
    with pytest.raises(NotAllowed):
        delete_draft(cast.owner, verified)


def test_triggers_step_aside_for_a_migration_and_come_back(db: None) -> None:
    """SQLite renames no table while a trigger names a table that is just being made anew."""
    pre_migrate.send(apps.get_app_config("problems"), using="default", plan=[])
    assert triggers.missing(connection) == []
    pre_migrate.send(apps.get_app_config("problems"), using="default", plan=["a migration"])
    assert "podium_leaderboard_appeal_kept" in triggers.missing(connection)
    triggers.install(connection)
