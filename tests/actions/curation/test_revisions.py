"""The parts of a release that its next revision keeps: its audience, rulings on flags and errata."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.carry import carry
from leaderboard.actions.curation.decide import appeal, decide_flag, restore_problem, void_problem
from leaderboard.actions.curation.revisions import Answer, answer
from leaderboard.actions.problems import drafts
from leaderboard.curation.revisions import questions
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.flags import queue as flag_queue
from leaderboard.models import (
    Appeal,
    AuditEntry,
    Decision,
    Evaluation,
    Flag,
    Result,
    RevisionAnswer,
    Standing,
    Submission,
)
from leaderboard.standings.rank import rank_touched
from problems import triggers
from problems.models import Problem, Release
from problems.spec.kinds import Kind
from runners.wire.protocol import JUDGE_VERSIONS, FlagReport, FlagScope, Report
from tests import factories, packs

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

VERDICT_FLAG = FlagReport(code="no_device_work", scope=FlagScope.VERDICT)


def flagged(_: object = None) -> Report:
    return factories.report(flags=[VERDICT_FLAG])


@pytest.fixture
def first(cast: Any) -> Release:
    """Two problems; the entrant passes both, and each pass is flagged."""
    made = factories.release(2)
    factories.judged_submission(cast.entrant, made, factories.offer(made), flagged, n_samples=1)
    return made


def flags_of(release: Release) -> list[Flag]:
    return list(Flag.objects.filter(result__evaluation__submission__release=release).order_by("pk"))


def uphold(cast: Any, flags: Iterable[Flag]) -> list[Decision]:
    return [decide_flag(cast.organiser, one, upheld=True, public_reason="It ran nothing.") for one in flags]


def changed_test(cast: Any, draft: Release, task_id: str) -> Problem:
    """The problem with another test: graded otherwise."""
    row = draft.problems.get(task_id=task_id)
    number = int(task_id.rsplit("/", 1)[1])
    tests = [{"path": "test/t.sh", "content": "sh solution.sh && true\n"},
             {"path": "test/visible.sh", "content": "echo visible test\n"}]  # fmt: skip
    fields = factories.example_problem(number, test_files=tests)
    return drafts.change_problem(cast.organiser, row, fields, row.record_md5).problem


def published(cast: Any, draft: Release) -> Release:
    curate.publish(cast.organiser, draft, "Not verified in this test.")
    return draft


def following(cast: Any, release: Release) -> Release:
    return published(cast, drafts.next_revision(cast.organiser, release))


def solved(release: Release) -> tuple[int, int]:
    rank_touched()
    return Standing.objects.values_list("n_solved", "n_problems").get(release=release)


def test_the_next_revision_keeps_its_audience(cast: Any, first: Release) -> None:
    until = timezone.now() + timedelta(days=3)
    Release.objects.update(is_public=False, results_are_public=True, invited_may_read=False, hidden_until=until)
    first.refresh_from_db()
    first.invited.set([cast.stranger])
    made = drafts.next_revision(cast.organiser, first)
    made.refresh_from_db()
    kept = (made.is_public, made.results_are_public, made.invited_may_read, made.hidden_until)
    assert kept == (False, True, False, until)
    assert list(made.invited.all()) == [cast.stranger]


def test_a_pack_of_the_next_revision_is_for_the_same_people(cast: Any, first: Release) -> None:
    Release.objects.filter(pk=first.pk).update(is_public=False)
    first.invited.set([cast.stranger])
    changed = packs.problem_pack([factories.example_problem(0, prompt="Said better.")], "test-1")
    made = curate.import_pack(cast.organiser, changed).release
    assert (made.previous, made.is_public, list(made.invited.all())) == (first, False, [cast.stranger])


def test_a_revision_of_an_older_one_is_for_those_who_may_see_both(cast: Any, first: Release) -> None:
    second = following(cast, first)
    Release.objects.filter(pk=second.pk).update(is_public=False)
    assert not drafts.next_revision(cast.organiser, first).is_public


def test_a_ruling_is_carried_with_its_result_and_names_the_old_one(cast: Any, first: Release) -> None:
    old = uphold(cast, flags_of(first))
    second = following(cast, first)
    carry(cast.organiser, second)
    new = list(Decision.objects.filter(flag__in=flags_of(second)).order_by("pk"))
    assert [(one.kind, one.earlier, one.decided_by) for one in new] == [
        ("flag_upheld", one, cast.organiser) for one in old
    ]
    assert new[0].carried_from == f"carried over from decision {old[0].pk} by organiser on {old[0].at:%Y-%m-%d}"
    assert solved(second) == (0, 2)
    assert AuditEntry.objects.get(action="carry", detail__rulings=2).actor == cast.organiser
    assert AuditEntry.objects.filter(action="carry ruling", detail__author="organiser").count() == 2


def test_carrying_twice_makes_no_second_decision(cast: Any, first: Release) -> None:
    uphold(cast, flags_of(first))
    void_problem(cast.organiser, first.problems.get(task_id="Shell/0"), "Its test is wrong.")
    second = following(cast, first)
    carry(cast.organiser, second)
    n = Decision.objects.count()
    carry(cast.organiser, second)
    assert Decision.objects.count() == n


def test_an_open_appeal_goes_with_its_ruling(cast: Any, first: Release) -> None:
    old = uphold(cast, flags_of(first)[:1])
    appeal(cast.owner, old[0], "It did.")
    second = following(cast, first)
    carry(cast.organiser, second)
    carried = Appeal.objects.get(decision__earlier=old[0])
    assert (carried.words, carried.appealed_by) == ("It did.", cast.owner)
    assert flags_of(second)[0] in flag_queue.queue({"state": "appealed"})


def test_an_undecided_flag_stays_undecided(cast: Any, first: Release) -> None:
    second = following(cast, first)
    carry(cast.organiser, second)
    assert len(flags_of(second)) == 2
    assert not Decision.objects.exists()


def test_an_erratum_is_carried_onto_a_problem_that_is_graded_the_same(cast: Any, first: Release) -> None:
    old = void_problem(cast.organiser, first.problems.get(task_id="Shell/0"), "Its test is wrong.")
    uphold(cast, flags_of(first))
    second = following(cast, first)
    new = Decision.objects.get(problem__release=second)
    assert (new.problem and new.problem.task_id, new.earlier, new.decided_by) == ("Shell/0", old, cast.organiser)
    assert new.public_reason == "Its test is wrong."
    carry(cast.organiser, second)
    assert solved(second) == (0, 1)


def test_an_erratum_that_was_undone_is_not_carried(cast: Any, first: Release) -> None:
    problem = first.problems.get(task_id="Shell/0")
    void_problem(cast.organiser, problem, "Its test is wrong.")
    restore_problem(cast.organiser, problem, "It was right.")
    second = following(cast, first)
    carry(cast.organiser, second)
    assert not Decision.objects.filter(problem__release=second).exists()


def test_an_erratum_undone_in_the_new_revision_stays_undone(cast: Any, first: Release) -> None:
    void_problem(cast.organiser, first.problems.get(task_id="Shell/0"), "Its test is wrong.")
    second = following(cast, first)
    restore_problem(cast.organiser, second.problems.get(task_id="Shell/0"), "It was right.")
    carry(cast.organiser, second)
    assert not Decision.objects.errata().filter(problem__release=second).exists()


@pytest.fixture
def asked(cast: Any, first: Release) -> Release:
    """A draft whose first problem has another test, after an erratum and rulings on both problems."""
    uphold(cast, flags_of(first))
    void_problem(cast.organiser, first.problems.get(task_id="Shell/0"), "Its test is wrong.")
    draft = drafts.next_revision(cast.organiser, first)
    changed_test(cast, draft, "Shell/0")
    return draft


def test_what_cannot_be_carried_is_asked_before_publishing(cast: Any, asked: Release) -> None:
    about = [(one.about, one.why) for one in questions(asked)]
    assert about == [
        ("Problem Shell/0 is voided", "the problem is graded otherwise now"),
        ("Flag no_device_work is upheld on Shell/0, sample 1 of Alpha (cpu-test)",
         "the problem is graded otherwise now"),
    ]  # fmt: skip
    with pytest.raises(Refused, match="cannot be carried over without asking: 2"):
        curate.publish(cast.organiser, asked, "Not verified.")
    with pytest.raises(CommandError, match="Keep or drop each, with a reason"):
        call_command("publish_release", asked.slug, unverified="Not verified.")
    assert Release.objects.get(pk=asked.pk).is_draft


def answers(cast: Any, draft: Release, *, keeps: bool) -> None:
    said = Answer(keeps, "Looked at again.")
    answer(cast.organiser, draft, {one.decision.pk: said for one in questions(draft)})


def test_what_is_kept_holds_for_the_new_revision(cast: Any, asked: Release) -> None:
    answers(cast, asked, keeps=True)
    second = published(cast, asked)
    void = Decision.objects.get(problem__release=second)
    assert (void.public_reason, void.earlier is not None) == ("Looked at again.", True)
    (made,) = carry(cast.organiser, second)
    factories.judge(made, flagged)
    kinds = Decision.objects.filter(flag__in=flags_of(second)).values_list("kind", "public_reason")
    assert set(kinds) == {("flag_upheld", "Looked at again."), ("flag_upheld", "It ran nothing.")}


def test_a_kept_ruling_is_for_the_same_flag_and_code_alone(cast: Any, asked: Release) -> None:
    answers(cast, asked, keeps=True)
    second = published(cast, asked)
    track = second.on_tracks.get().track
    other = factories.submission(cast.entrant, second, track, n_samples=1, script="exit 0 # other code")
    factories.judge(other, flagged)
    (made,) = carry(cast.organiser, second)
    report = factories.report(flags=[FlagReport(code="throttled", scope=FlagScope.TIME)])
    factories.judge(made, lambda _: report)
    ruled = Decision.objects.filter(flag__in=flags_of(second), flag__result__reused_from=None)
    assert not ruled.exists()


def test_what_is_dropped_is_open_again(cast: Any, asked: Release) -> None:
    answers(cast, asked, keeps=False)
    second = published(cast, asked)
    (made,) = carry(cast.organiser, second)
    factories.judge(made, flagged)
    assert not Decision.objects.filter(problem__release=second).exists()
    assert Decision.objects.filter(flag__in=flags_of(second)).count() == 1


def test_answers_are_an_organisers_with_a_reason_about_what_is_asked(cast: Any, asked: Release) -> None:
    pk = questions(asked)[0].decision.pk
    with pytest.raises(NotAllowed):
        answer(cast.owner, asked, {pk: Answer(True, "x")})
    with pytest.raises(Refused, match="public reason"):
        answer(cast.organiser, asked, {pk: Answer(True, " ")})
    carried = Decision.objects.filter(flag__result__evaluation__problem__task_id="Shell/1").get()
    with pytest.raises(Conflict, match="not asked about"):
        answer(cast.organiser, asked, {carried.pk: Answer(True, "x")})
    answers(cast, asked, keeps=False)
    answers(cast, asked, keeps=True)
    assert set(RevisionAnswer.objects.values_list("keeps", flat=True)) == {True}
    with pytest.raises(Conflict, match="is published"):
        answer(cast.organiser, published(cast, asked), {pk: Answer(False, "x")})


def test_standings_agree_after_all_of_it(cast: Any, asked: Release) -> None:
    answers(cast, asked, keeps=True)
    second = published(cast, asked)
    (made,) = carry(cast.organiser, second)
    factories.judge(Submission.objects.get(pk=made.pk), flagged)
    rank_touched()
    call_command("rebuild_standings", check=True)


def test_a_ruling_on_a_result_of_an_older_judge_or_weaker_times_is_asked_about(cast: Any, first: Release) -> None:
    uphold(cast, flags_of(first))
    draft = drafts.next_revision(cast.organiser, first)
    assert questions(draft) == []
    Evaluation.objects.filter(problem__task_id="Shell/0").update(judge_version="0")
    assert [one.why for one in questions(draft)] == ["it will be judged again, by another version of the judge"]
    Evaluation.objects.filter(problem__task_id="Shell/0").update(judge_version=JUDGE_VERSIONS[Kind.COMMAND])
    with_policy = {one.pk: one.provenance | {"timing_policy": "quick"} for one in Result.objects.all()}
    triggers.remove(connection)
    for pk, provenance in with_policy.items():
        Result.objects.filter(pk=pk).update(provenance=provenance)
    triggers.install(connection)
    assert {one.why for one in questions(draft)} == {
        "it will be timed again, under the timing policy of the new revision"
    }


def test_more_rulings_cost_no_more_queries(cast: Any, first: Release, django_assert_num_queries: Any) -> None:
    uphold(cast, flags_of(first)[:1])
    draft = drafts.next_revision(cast.organiser, first)
    for task_id in ("Shell/0", "Shell/1"):
        changed_test(cast, draft, task_id)
    with CaptureQueriesContext(connection) as one:
        assert len(questions(draft)) == 1
    uphold(cast, flags_of(first)[1:])
    with django_assert_num_queries(len(one)):
        assert len(questions(draft)) == 2
