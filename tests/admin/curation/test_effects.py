"""Each act tells what it would change before it is done, and telling changes nothing."""

import html
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.core.management import call_command
from django.urls import reverse

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.carry import carry
from leaderboard.actions.curation.decide import appeal, decide_flag, void_problem
from leaderboard.actions.problems import drafts
from leaderboard.actions.rejudging.rejudge import RejudgeScope, start
from leaderboard.admin.base import Act, ActingAdmin
from leaderboard.models import AuditEntry, Clarification, Decision, Evaluation, Flag, Standing, Submission
from leaderboard.rows.shadows import note_shadow_result
from leaderboard.standings.rank import rank_touched
from problems.models import Release
from runners.wire.protocol import FlagReport, FlagScope, Verdict
from tests import factories
from tests.admin.pages import act, signed_in, text

pytestmark = pytest.mark.django_db
RELEASE, PROBLEM = "problems_release", "problems_problem"

TELLING = {
    "Release": {
        "next-revision", "verify", "audit", "submit-baselines", "answer-revision", "publish", "reveal",
        "correct-ranking", "adopt-rules", "carry", "freeze", "measure-anew", "delete-draft", "export",
        "export-redacted",
        "front-page", "off-front-page",
    },
    "Problem": {"void", "undo-erratum", "audit-reason"},
    "Submission": {"cancel", "rerun", "retract"},
    "Evaluation": {"rerun"},
    "Rejudge": {"apply", "drop", "pause", "resume"},
    "Clarification": {"erratum"},
    "JoinToken": {"revoke"},
    "Node": {"drain", "maintain", "disable", "revoke", "void"},
}  # fmt: skip


def acts_of(model: str) -> Iterator[Act]:
    for one, found in admin.site._registry.items():
        if one.__name__ == model and isinstance(found, ActingAdmin):
            yield from (*found.acts, *found.bulk_acts)


@pytest.mark.parametrize("model", TELLING)
def test_every_act_that_changes_a_board_or_a_node_tells_its_effect(model: str) -> None:
    silent = Act.__dataclass_fields__["effect"].default
    found = {one.name: one.effect is not silent for one in acts_of(model)}
    assert {name for name, tells in found.items() if tells} == TELLING[model]


@pytest.fixture
def board(cast: Any) -> Release:
    made = factories.board_of_two(cast)
    rank_touched()
    return made


def page_of_act(cast: Any, model: str, pk: int, name: str) -> str:
    answer = signed_in(cast.organiser).get(reverse(f"admin:{model}_act", args=[pk, name]))
    assert answer.status_code == 200
    return html.unescape(text(answer))


def facts() -> list[Any]:
    standings = Standing.objects.order_by("pk").values_list("entrant", "rank", "n_solved", "n_problems")
    return [list(standings), Decision.objects.count(), AuditEntry.objects.count(), Submission.objects.count()]


def test_voiding_and_its_undoing_name_the_standings_that_change(cast: Any, board: Release) -> None:
    problem, before = board.problems.get(task_id="Shell/0"), facts()
    said = page_of_act(cast, PROBLEM, problem.pk, "void")
    assert "Shell/0: 4 results stop counting" in said
    assert "test-1 on cpu-test: 2 of 2 standings change." in said
    assert "Stranger's model: rank 2, 0.5, 2 of 4 solved → rank 2, 0.6667, 2 of 3 solved" in said
    assert facts() == before
    void_problem(cast.organiser, problem, "Wrong.")
    rank_touched()
    said = page_of_act(cast, PROBLEM, problem.pk, "undo-erratum")
    assert "Stranger's model: rank 2, 0.6667, 2 of 3 solved → rank 2, 0.5, 2 of 4 solved" in said


def test_an_erratum_is_undone_with_a_reason_and_the_board_counts_the_problem_again(cast: Any, board: Release) -> None:
    problem, before = board.problems.get(task_id="Shell/0"), facts()[0]
    old = void_problem(cast.organiser, problem, "Wrong.")
    rank_touched()
    assert facts()[0] != before
    answer = act(cast.organiser, PROBLEM, "undo-erratum", problem, reason="It was right.")
    assert "The erratum of Shell/0 is undone" in text(answer)
    rank_touched()
    assert facts()[0] == before
    new = Decision.objects.latest("pk")
    assert (new.kind, new.earlier, new.public_reason) == ("problem_restored", old, "It was right.")
    call_command("rebuild_standings", check=True)
    again = signed_in(cast.organiser).get(reverse("admin:problems_problem_act", args=[problem.pk, "undo-erratum"]))
    assert again.status_code == 404
    void_problem(cast.organiser, problem, "Wrong after all.")


def test_an_undone_erratum_is_told_on_the_public_pages(cast: Any, board: Release, client: Any) -> None:
    problem = board.problems.get(task_id="Shell/0")
    void_problem(cast.organiser, problem, "Wrong.")
    act(cast.organiser, PROBLEM, "undo-erratum", problem, reason="It was right.")
    assert "Voided on" not in text(client.get(problem.get_absolute_url()))
    log = text(client.get(reverse("decisions", args=[board.slug])))
    assert "Erratum undone" in log
    assert "It was right." in log
    assert "Erratum: Shell/0 counts again" in text(client.get(reverse("changelog", args=[board.slug])))


def test_retracting_tells_who_leaves_the_board(cast: Any, board: Release) -> None:
    before = facts()
    one = Submission.objects.get(entrant=cast.entrant)
    said = page_of_act(cast, "leaderboard_submission", one.pk, "retract")
    assert "Alpha: rank 1, 1, 4 of 4 solved → not on the board" in said
    assert "Stranger's model: rank 2, 0.5, 2 of 4 solved → rank 1, 0.5, 2 of 4 solved" in said
    assert facts() == before


def test_freezing_warns_of_undecided_flags_and_open_appeals(cast: Any, capsys: Any) -> None:
    made = factories.release(2)
    report = factories.report(flags=[FlagReport(code="throttled", scope=FlagScope.TIME)])
    factories.judged_submission(cast.entrant, made, factories.offer(made), lambda _: report, n_samples=1)
    appeal(cast.owner, decide_flag(cast.organiser, Flag.objects.all()[0], upheld=True, public_reason="Hot."), "No.")
    said = page_of_act(cast, RELEASE, made.pk, "freeze")
    assert "Warning: undecided flags: 1." in said
    assert "Warning: unanswered appeals: 1." in said
    call_command("freeze_release", made.slug)
    assert "Warning: undecided flags: 1." in capsys.readouterr().err
    made.refresh_from_db()
    assert made.state == "frozen"


def test_publishing_tells_its_audience_and_what_it_waits_for(cast: Any) -> None:
    made = factories.release(2, publish=False, is_public=False)
    made.invited.add(cast.stranger)
    factories.offer(made)
    said = page_of_act(cast, RELEASE, made.pk, "publish")
    assert "2 problems, the metric pass@1" in said
    assert "It is private: organisers and 1 invited user see it. It takes submissions on cpu-test at once." in said
    assert "Not every problem is verified" in said


def test_a_revision_is_answered_for_carried_and_told(cast: Any, board: Release) -> None:
    void_problem(cast.organiser, board.problems.get(task_id="Shell/0"), "Wrong.")
    draft = drafts.next_revision(cast.organiser, board)
    row = draft.problems.get(task_id="Shell/0")
    drafts.change_problem(cast.organiser, row, factories.example_problem(0, timeout_seconds=9.0), row.record_md5)
    page = signed_in(cast.organiser).get(reverse("admin:problems_release_change", args=[draft.pk]))
    assert "1 of the last revision wait for your answer" in text(page)
    said = page_of_act(cast, RELEASE, draft.pk, "publish")
    assert "Refused now. Decisions of the last revision that wait for your answer: 1." in said
    assert "carried over: 0" not in said
    refused = act(cast.organiser, RELEASE, "publish", draft, unverified_reason="In haste.")
    assert "Problem Shell/0 is voided (the problem is graded otherwise now)" in text(refused)
    said = page_of_act(cast, RELEASE, draft.pk, "answer-revision")
    assert "organiser on" in said
    assert "Not carried over: the problem is graded otherwise now." in said
    pk = Decision.objects.get().pk
    empty = act(cast.organiser, RELEASE, "answer-revision", draft, **{f"answer_{pk}": "keep"})
    assert "Give a public reason" in text(empty)
    done = act(cast.organiser, RELEASE, "answer-revision", draft, **{f"answer_{pk}": "keep"}, reason_for_all="Still.")
    assert "Every decision is answered." in text(done)
    assert "Errata of test-1 that are carried over: 1." in page_of_act(cast, RELEASE, draft.pk, "publish")
    act(cast.organiser, RELEASE, "publish", draft, unverified_reason="In haste.")
    said = page_of_act(cast, RELEASE, draft.pk, "carry")
    assert "Stored anew: 2 counted submissions of test-1;" in said
    assert "About 12 results are reused; 4 samples run again." in said


def test_deleting_an_empty_draft_announces_no_list(cast: Any) -> None:
    made = drafts.new_draft(cast.organiser, "spring-2027", "Spring")
    said = page_of_act(cast, RELEASE, made.pk, "delete-draft")
    assert "Nothing was made in it yet." in said
    assert "deleted for good:" not in said


def test_a_draft_is_deleted_on_the_site_once_its_slug_is_typed(cast: Any) -> None:
    made = factories.release(2, publish=False)
    said = page_of_act(cast, RELEASE, made.pk, "delete-draft")
    assert "2 problems" in said
    wrong = act(cast.organiser, RELEASE, "delete-draft", made, slug="other")
    assert (wrong.status_code, "This is not its slug" in text(wrong)) == (422, True)
    assert act(cast.organiser, RELEASE, "delete-draft", made, slug=made.slug).status_code == 302
    assert not Release.objects.exists()
    published = factories.release(2)
    url = reverse("admin:problems_release_act", args=[published.pk, "delete-draft"])
    assert signed_in(cast.organiser).post(url, {"slug": published.slug}).status_code == 404


def test_hidden_results_are_revealed_after_their_number_is_told(cast: Any, board: Release) -> None:
    Release.objects.update(hidden_until="2099-01-01T00:00Z")
    assert "2 submissions of 2 entrants" in page_of_act(cast, RELEASE, board.pk, "reveal")
    act(cast.organiser, RELEASE, "reveal", board)
    board.refresh_from_db()
    assert not board.results_are_hidden
    assert AuditEntry.objects.get(action="reveal").detail["hidden_until"].startswith("2099-01-01")


def test_applying_a_rejudge_tells_its_outcomes_and_standings(cast: Any, board: Release) -> None:
    first = Evaluation.objects.live().filter(submission__entrant=cast.entrant).order_by("pk")[0]
    flag = Flag.objects.create(result_id=first.current_result_id or 0, code="throttled", scope="time")
    appeal(cast.owner, decide_flag(cast.organiser, flag, upheld=True, public_reason="Hot."), "No.")
    rank_touched()
    made = start(cast.organiser, RejudgeScope(board), "why")
    for one in Submission.objects.all():
        factories.judge(one, lambda _: factories.report(Verdict.TEST_FAILED))
    for item in made.items.select_related("shadow__current_result"):
        result = item.shadow.current_result
        assert result is not None
        note_shadow_result(item.shadow, result)
    before = facts()
    said = page_of_act(cast, "leaderboard_rejudge", made.pk, "apply")
    assert "1 left: a ruling on it is appealed." in said
    assert "15 applied." in said
    assert "Answer the open appeals first" in said
    assert "2 of 2 standings change" in said
    assert facts() == before


def test_a_clarifications_erratum_tells_the_same(cast: Any, board: Release) -> None:
    asked = Clarification.objects.create(problem=board.problems.all()[0], text="Wrong?", asked_by=cast.owner)
    assert "stop counting" in page_of_act(cast, "leaderboard_clarification", asked.pk, "erratum")


def test_strangers_see_no_act_and_no_effect(cast: Any, client: Any) -> None:
    made = factories.release(1, publish=False)
    for name in ("answer-revision", "delete-draft", "publish"):
        url = reverse("admin:problems_release_act", args=[made.pk, name])
        for who in (None, cast.stranger):
            visitor = client if who is None else signed_in(who)
            assert visitor.get(url).status_code in (302, 403)
            assert visitor.post(url, {"slug": made.slug}).status_code in (302, 403)
    assert Release.objects.exists()


def test_only_organisers_reveal(cast: Any, board: Release) -> None:
    Release.objects.update(hidden_until="2099-01-01T00:00Z")
    with pytest.raises(Exception, match="Only an organiser"):
        curate.reveal(cast.owner, board)


@pytest.fixture
def flagged(cast: Any) -> list[Flag]:
    made = factories.release(2)
    report = factories.report(flags=[FlagReport(code="no_device_work", scope=FlagScope.VERDICT)])
    factories.judged_submission(cast.entrant, made, factories.offer(made), lambda _: report, n_samples=1)
    rank_touched()
    return list(Flag.objects.order_by("pk"))


def test_a_ruling_on_several_flags_tells_its_effect_before_it_is_made(cast: Any, flagged: list[Flag]) -> None:
    browser, before = signed_in(cast.organiser), facts()
    page = text(browser.get(reverse("admin:leaderboard_flag_changelist")))
    assert "Upheld: The pass does not count. Dismissed: None: the flag is dismissed." in page
    said = {"flag": [f"{one.pk}:0" for one in flagged], "ruling": "dismiss", "foresee": "1"}
    answer = browser.post(reverse("admin:leaderboard_flag_decide"), said)
    assert answer.status_code == 200
    shown = html.unescape(text(answer))
    assert "Alpha: no rank, –, 0 of 0 solved, incomplete → rank 1, 1, 2 of 2 solved" in shown
    assert shown.count(f'value="{flagged[0].pk}:0" checked') == 1
    assert facts() == before


def test_a_flags_page_tells_the_effect_of_a_ruling_and_keeps_what_was_typed(cast: Any, flagged: list[Flag]) -> None:
    one = flagged[0]
    said = {"flag": f"{one.pk}:0", "read": str(one.pk), "ruling": "uphold", "reason": "Typed.", "foresee": "1"}
    answer = signed_in(cast.organiser).post(reverse("admin:leaderboard_flag_decide"), said)
    assert "Alpha: no rank, –, 0 of 0 solved, incomplete → no rank, 0, 0 of 1 solved, incomplete" in text(answer)
    assert "Typed." in text(answer)
    assert not Decision.objects.exists()
    unruled = signed_in(cast.organiser).post(reverse("admin:leaderboard_flag_decide"), said | {"ruling": ""})
    assert (unruled.status_code, "say whether you uphold or dismiss" in text(unruled)) == (422, True)


def test_a_carried_ruling_and_erratum_name_the_old_one_on_the_pages(
    cast: Any, flagged: list[Flag], client: Any
) -> None:
    first = Release.objects.get()
    old = decide_flag(cast.organiser, flagged[0], upheld=True, public_reason="It ran nothing.")
    void = void_problem(cast.organiser, first.problems.get(task_id="Shell/1"), "Wrong.")
    second = drafts.next_revision(cast.organiser, first)
    curate.publish(cast.organiser, second, "In haste.")
    (made,) = carry(cast.organiser, second)
    words = "carried over from decision {} by organiser on"
    evaluation = made.evaluations.get(problem__task_id="Shell/0")
    assert words.format(old.pk) in text(client.get(evaluation.get_absolute_url()))
    problem = second.problems.get(task_id="Shell/1")
    assert words.format(void.pk) in text(client.get(problem.get_absolute_url()))
    log = text(client.get(reverse("decisions", args=[second.slug])))
    assert f"carried over from decision {old.pk}" in log
    flag = Flag.objects.get(result__evaluation=evaluation)
    page = signed_in(cast.organiser).get(reverse("admin:leaderboard_flag_change", args=[flag.pk]))
    assert words.format(old.pk) in text(page)


def test_a_board_is_put_on_the_front_page_and_taken_off_again(cast: Any, board: Release) -> None:
    place = board.on_tracks.get()
    told = page_of_act(cast, RELEASE, board.pk, "front-page")
    assert "which no organiser has chosen so far" in told
    act(cast.organiser, RELEASE, "front-page", board, track=place.track_id)
    place.refresh_from_db()
    assert place.on_front_page
    assert f"in place of {board.slug} on {place.track.slug}" in page_of_act(cast, RELEASE, board.pk, "front-page")
    act(cast.organiser, RELEASE, "off-front-page", board)
    place.refresh_from_db()
    assert not place.on_front_page
    assert act(cast.owner, RELEASE, "front-page", board, track=place.track_id).status_code != 200
    place.refresh_from_db()
    assert not place.on_front_page
