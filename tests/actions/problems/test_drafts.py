"""A draft's problem that changes is unverified until it is verified as it is now."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.verify import verify
from leaderboard.actions.problems import drafts
from leaderboard.curation.verification import missing_lines, verification_report
from leaderboard.errors import NotAllowed
from leaderboard.models import AuditEntry, Evaluation, ProblemTrack, Submission, Track
from problems.actions.releases import ReleaseRefused
from problems.models import Problem, Release
from runners.fleet.models import Job
from runners.wire.protocol import Verdict
from tests import factories, packs
from tests.question_records import choice

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def draft() -> Release:
    made = factories.release(2, publish=False, problem=lambda n: packs.problem(f"a/{n}"))
    factories.offer(made)
    return made


def track() -> Track:
    return Track.objects.get(slug="cpu-test")


def judged(made: list[Submission], draft: Release) -> None:
    """References pass and the rest fails, as nodes would report."""
    for one in made:
        verdict = Verdict.PASSED if one.entrant.slug == "_reference" else Verdict.TEST_FAILED
        report = factories.report(verdict)
        factories.judge(one, lambda _, report=report: report)  # type: ignore[misc]
    assert missing_lines(draft) == []


def changed(user: Any, draft: Release, task_id: str, **fields: Any) -> Problem:
    row = draft.problems.get(task_id=task_id)
    return drafts.change_problem(user, row, packs.problem(task_id, **fields), row.record_md5).problem


def test_a_changed_problem_is_unverified_until_its_own_evaluations_pass(cast: Any, draft: Release) -> None:
    judged(verify(cast.organiser, draft, track()), draft)
    other_test = [{"path": "test/t.sh", "content": "sh solution.sh && true\n"}]
    changed(cast.organiser, draft, "a/1", test_files=other_test)
    assert missing_lines(draft) == ["problem a/1: its reference has not been run on cpu-test"]
    with pytest.raises(Exception, match="is not verified"):
        curate.publish(cast.organiser, draft)
    before = set(Evaluation.objects.values_list("pk", flat=True))
    made = verify(cast.organiser, draft, track())
    new = Evaluation.objects.exclude(pk__in=before)
    assert {(one.problem.task_id, one.submission.entrant.slug) for one in new} == {
        ("a/1", "_reference"),
        ("a/1", "_empty"),
    }
    assert verification_report(draft, track()).pending == 2
    assert {one.pk for one in verify(cast.organiser, draft, track())} == {one.pk for one in made}
    judged([one for one in made if one.evaluations.filter(pk__in=new).exists()], draft)
    curate.publish(cast.organiser, draft)


def test_a_second_change_back_is_verified_again(cast: Any, draft: Release) -> None:
    judged(verify(cast.organiser, draft, track()), draft)
    changed(cast.organiser, draft, "a/0", test_command="sh test/t.sh now")
    changed(cast.organiser, draft, "a/0")
    assert missing_lines(draft) == ["problem a/0: its reference has not been run on cpu-test"]


def test_other_words_leave_it_verified(cast: Any, draft: Release) -> None:
    judged(verify(cast.organiser, draft, track()), draft)
    changed(cast.organiser, draft, "a/1", prompt="Other words.")
    assert missing_lines(draft) == []


def test_what_nodes_have_still_to_do_is_withdrawn(cast: Any, draft: Release) -> None:
    made = verify(cast.organiser, draft, track())
    changed(cast.organiser, draft, "a/1", timeout_seconds=9.0)
    states = dict(Evaluation.objects.filter(submission=made[0]).values_list("problem__task_id", "state"))
    assert states == {"a/0": "queued", "a/1": "cancelled"}
    assert Job.objects.filter(evaluation__problem__task_id="a/1", state="queued").count() == 0


def test_a_problem_left_out_is_asked_for_no_more(cast: Any, draft: Release) -> None:
    row = draft.problems.get(task_id="a/1")
    judged(verify(cast.organiser, draft, track()), draft)
    drafts.leave_out(cast.organiser, row)
    assert missing_lines(draft) == []
    assert not ProblemTrack.objects.filter(problem=row).exists()
    with pytest.raises(ReleaseRefused, match="results are kept for good"):
        drafts.delete_problem(cast.organiser, row)
    drafts.bring_back(cast.organiser, row)
    assert missing_lines(draft) == ["problem a/1: its reference has not been run on cpu-test"]
    verify(cast.organiser, draft, track())
    assert verification_report(draft, track()).pending == 2


def test_many_problems_left_out_are_one_entry_of_the_audit_and_cost_no_query_each(cast: Any) -> None:
    found = []
    for n in (5, 50):
        made = factories.release(n, f"of-{n}", publish=False, problem=lambda n: packs.problem(f"a/{n}"))
        verify(cast.organiser, made, factories.offer(made))
        rows = list(made.problems.select_related("release").order_by("position"))
        with CaptureQueriesContext(connection) as queries:
            drafts.leave_out(cast.organiser, *rows)
            drafts.bring_back(cast.organiser, *rows)
        found.append(len(queries))
        assert not Evaluation.objects.filter(problem__release=made, state="queued").exists()
        entries = AuditEntry.objects.filter(target=f"release {made}", action__endswith="problem").order_by("pk")
        assert [one.action for one in entries] == ["leave out problem", "bring back problem"]
        assert entries[0].detail == {"n": n, "problems": [f"a/{n}" for n in range(n)]}
        assert made.problems.count() == n
    assert found[0] == found[1]


def test_tracks_look_again_whether_they_can_run_it(cast: Any, draft: Release) -> None:
    row = changed(cast.organiser, draft, "a/1", type="cuda_cpp")
    assert "CUDA problem" in ProblemTrack.objects.get(problem=row).skip_reason


def test_a_draft_of_questions_is_offered_without_hardware(cast: Any) -> None:
    made = drafts.new_draft(cast.organiser, "quiz-1", "Quiz")
    drafts.add_problem(cast.organiser, made, choice())
    assert [place.track.slug for place in made.on_tracks.all()] == ["no-hardware"]


def test_the_next_revision_is_offered_on_the_same_tracks(cast: Any, draft: Release) -> None:
    judged(verify(cast.organiser, draft, track()), draft)
    curate.publish(cast.organiser, draft)
    made = drafts.next_revision(cast.organiser, draft)
    assert [place.track.slug for place in made.on_tracks.all()] == ["cpu-test"]
    assert len(missing_lines(made)) == 2


def test_every_change_is_in_the_audit(cast: Any) -> None:
    made = drafts.new_draft(cast.organiser, "spring-1", "")
    row = drafts.add_problem(cast.organiser, made, packs.problem("a/1"))
    changed(cast.organiser, made, "a/1", timeout_seconds=9.0)
    drafts.move_problem(cast.organiser, row, 1)
    drafts.leave_out(cast.organiser, row)
    drafts.delete_problem(cast.organiser, row)
    actions = AuditEntry.objects.filter(target=f"release {made}").order_by("pk").values_list("action", flat=True)
    assert list(actions) == [
        "add", "add problem", "change problem", "move problem", "leave out problem", "delete problem",
    ]  # fmt: skip


def test_only_organisers_edit(cast: Any, draft: Release) -> None:
    row = draft.problems.get(task_id="a/1")
    for edit in (
        lambda: drafts.new_draft(cast.owner, "spring-1", ""),
        lambda: drafts.next_revision(cast.owner, draft),
        lambda: drafts.add_problem(cast.owner, draft, packs.problem("a/9")),
        lambda: drafts.change_problem(cast.owner, row, packs.problem("a/1"), row.record_md5),
        lambda: drafts.leave_out(cast.owner, row),
        lambda: drafts.bring_back(cast.owner, row),
        lambda: drafts.delete_problem(cast.owner, row),
        lambda: drafts.move_problem(cast.owner, row, 1),
        lambda: drafts.move_to(cast.owner, 1, row),
    ):
        with pytest.raises(NotAllowed):
            edit()
