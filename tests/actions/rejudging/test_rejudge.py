"""Rejudges: shadow evaluations change nothing until an organiser applies them, and then what a rerun would."""

from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from leaderboard.actions.curation.decide import appeal, decide_flag
from leaderboard.actions.rejudging import rejudge as rejudges
from leaderboard.actions.rejudging.apply_rejudge import apply
from leaderboard.actions.rejudging.rejudge import RejudgeScope, drop, start
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.actions.submissions.rerun import rerun
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.flags import queue as flag_queue
from leaderboard.models import (
    AuditEntry,
    Evaluation,
    Flag,
    Measurement,
    ProblemScore,
    ProblemTrack,
    Rejudge,
    RejudgeItem,
    Result,
    Standing,
)
from leaderboard.standings.rank import rank_touched
from runners.fleet.attempts.returns import lose
from runners.fleet.models import Attempt, AttemptState, Job
from runners.wire.protocol import Clock, MeasurementReport, Purpose, Report, Role, TimingPolicy, Verdict, Witness
from tests.fleet.site import Site, WireNode, passed
from tests.made_once import of_module, part
from tests.packs import problem

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
FAILED = passed().model_copy(update={"verdict": Verdict.TEST_FAILED})


def timed(candidate_ms: float, baseline_ms: float = 10.0, spread: float = 0.001) -> Report:
    def one(role: Role, ms: float) -> MeasurementReport:
        return MeasurementReport(
            role=role, median_ms=ms, runs_ms=[ms] * 6, clock=Clock.OUTSIDE, witness=Witness.SEEN,
            ci_low_ms=ms * (1 - spread), ci_high_ms=ms * (1 + spread),
        )  # fmt: skip

    report = passed(measurements=[one(Role.BASELINE, baseline_ms), one(Role.CANDIDATE, candidate_ms)])
    ranked = report.provenance.model_copy(update={"timing_policy": TimingPolicy.RANKED})
    return report.model_copy(update={"provenance": ranked})


def work_all(node: WireNode, report: Report | None = None) -> int:
    works = node.take_up_to(100)
    for work in works:
        assert node.report(work, report).status_code == 200
    return len(works)


def _make() -> tuple[Site, WireNode]:
    """Three problems, one sample each, all passed and timed at 5 ms; ranked."""
    site, node = Site.make([problem("a/1"), problem("a/2"), problem("a/3")]), WireNode()
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"], "a/3": ["exit 0"]})
    assert work_all(node, timed(5.0)) == 3
    rank_touched()
    return site, node


made_site = of_module(_make)
judged, node = part(0), part(1)


def state_of_the_board() -> list[Any]:
    fields = "problem_id", "n_samples", "n_passed", "n_pending", "ln_speedup_sum", "times_ms", "best_evaluation"
    tables = [
        ProblemScore.objects.order_by("pk").values_list(*fields),
        Standing.objects.values_list("rank", "primary_value", "estimates__speedup__value"),
    ]
    tables.append(ProblemTrack.objects.order_by("pk").values_list("has_rankable_baseline", "baseline_cases_ms"))
    return [list(one) for one in tables]


def test_a_rejudge_changes_nothing_until_it_is_applied(judged: Site, node: WireNode) -> None:
    before = state_of_the_board()
    made = start(judged.organiser, RejudgeScope(judged.release), "A harness was mended.")
    assert (made.state, made.n_evaluations, made.n_left_out) == ("running", 3, 0)
    assert work_all(node, FAILED) == 3
    rank_touched()
    assert state_of_the_board() == before
    made.refresh_from_db()
    assert made.state == "ready"
    assert set(made.items.values_list("change", "before_verdict", "after_verdict")) == {
        ("verdict", "passed", "test_failed")
    }
    assert apply(judged.organiser, made, "The harness accepted wrong sums.") == {"applied": 3}
    rank_touched()
    assert Standing.objects.get().pass_at_1 == 0.0
    live = Evaluation.objects.live().first()
    assert live is not None and live.current_result is not None
    assert live.results.count() == 2
    assert live.current_result.reused_from == made.items.get(live=live).after
    entry = AuditEntry.objects.get(action="rejudge", target=f"evaluation {live}")
    assert entry.reason == "The harness accepted wrong sums."


def test_live_work_goes_first_and_takes_turns_as_without_the_rejudge(judged: Site, node: WireNode) -> None:
    start(judged.organiser, RejudgeScope(judged.release), "why")
    first = judged.submit({"a/1": ["exit 1"], "a/2": ["exit 1"], "a/3": ["exit 1"]})
    begun = [node.take()["evaluation"], node.take()["evaluation"]]
    assert {Evaluation.objects.get(pk=pk).submission_id for pk in begun} == {first.pk}
    second = judged.submit({"a/1": ["exit 2"], "a/2": ["exit 2"]})
    rest = [Evaluation.objects.get(pk=work["evaluation"]) for work in node.take_up_to(9)]
    assert [one.purpose for one in rest] == ["live"] * 3 + ["shadow"] * 3
    assert rest[0].submission_id == first.pk, "the older submission keeps its turn"
    assert [one.submission_id for one in rest[1:3]] == [second.pk] * 2


def test_waiting_shadow_work_is_no_sign_of_a_slow_site(judged: Site) -> None:
    start(judged.organiser, RejudgeScope(judged.release), "why")
    assert Client().get("/readyz").json()["oldest_queued_job_seconds"] is None


def test_its_work_is_graded_anew(judged: Site, node: WireNode) -> None:
    start(judged.organiser, RejudgeScope(judged.release), "why")
    work = node.take()
    assert work["rules"]["purpose"] == "rerun"


def test_starting_twice_is_one_rejudge(judged: Site) -> None:
    scope = RejudgeScope(judged.release, judged.track)
    assert start(judged.organiser, scope, "why") == start(judged.organiser, scope, "why again")
    assert Job.objects.filter(state="queued").count() == 3


def test_what_another_open_rejudge_holds_is_left_out_and_told(judged: Site) -> None:
    (first, *_) = judged.release.problems.order_by("position")
    start(judged.organiser, RejudgeScope(judged.release, problems=[first]), "one problem")
    made = start(judged.organiser, RejudgeScope(judged.release), "all of it")
    assert (made.n_evaluations, made.n_left_out) == (2, 1)
    with pytest.raises(Refused, match="3 are part of another open rejudge"):
        start(judged.organiser, RejudgeScope(judged.release, judged.track), "again")


def test_by_node_and_by_counted_submissions(judged: Site, node: WireNode) -> None:
    judged.submit({"a/1": ["exit 3"]})  # the newer one counts from now on
    assert work_all(node, timed(5.0)) == 1
    rank_touched()
    assert rejudges.chosen(RejudgeScope(judged.release)).count() == 4
    assert rejudges.chosen(RejudgeScope(judged.release, counted_only=True)).count() == 1
    assert rejudges.chosen(RejudgeScope(node="node-1")).count() == 4
    assert rejudges.chosen(RejudgeScope(node="node-2")).count() == 0


@pytest.mark.parametrize(
    ("scope", "reason", "words"),
    [
        (RejudgeScope(), "why", "Name a release or a node"),
        (RejudgeScope(node="nobody"), "why", "no finished evaluation"),
        (RejudgeScope(node="node-1"), "  ", "Say why"),
    ],
)
def test_bad_scopes_are_refused(judged: Site, scope: RejudgeScope, reason: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        start(judged.organiser, scope, reason)
    assert not Rejudge.objects.exists()


def test_too_many_are_refused_with_their_number(judged: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejudges, "MAX_EVALUATIONS", 2)
    with pytest.raises(Refused, match="has 3 evaluations; one rejudge may have 2"):
        start(judged.organiser, RejudgeScope(judged.release), "why")


def test_only_organisers_rejudge(judged: Site) -> None:
    with pytest.raises(NotAllowed):
        start(judged.owner, RejudgeScope(judged.release), "why")
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    for act in (lambda: drop(judged.owner, made), lambda: apply(judged.owner, made, "why")):
        with pytest.raises(NotAllowed):
            act()


def test_a_result_delivered_twice_counts_once(judged: Site, node: WireNode) -> None:
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    works = node.take_up_to(9)
    for work in [*works, *works]:
        assert node.report(work, FAILED).status_code == 200
    assert Result.objects.filter(evaluation__purpose=Purpose.SHADOW).count() == 3
    made.refresh_from_db()
    assert made.state == "ready"


def test_a_node_killed_between_loses_nothing(judged: Site, node: WireNode) -> None:
    node.hello()
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    work = node.begin(node.take())
    node.start_anew()
    assert Attempt.objects.get(pk=work["attempt"]).state == "expired"
    assert work_all(node, timed(5.0)) == 3
    made.refresh_from_db()
    assert made.state == "ready"


def test_a_kill_while_applying_leaves_all_as_it_was(
    judged: Site, node: WireNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    work_all(node, FAILED)
    before = state_of_the_board(), Result.objects.count()
    with monkeypatch.context() as patched:
        patched.setattr("leaderboard.standings.scores.rescore_places", lambda _touched: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            apply(judged.organiser, made, "public")
    made.refresh_from_db()
    assert (made.state, (state_of_the_board(), Result.objects.count())) == ("ready", before)
    assert apply(judged.organiser, made, "public") == {"applied": 3}


def test_it_is_applied_once(judged: Site, node: WireNode) -> None:
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    with pytest.raises(Conflict, match="is running"):
        apply(judged.organiser, made, "public")
    work_all(node, FAILED)
    with pytest.raises(Refused, match="public reason"):
        apply(judged.organiser, made, " ")
    apply(judged.organiser, made, "public")
    for act in (lambda: apply(judged.organiser, made, "public"), lambda: drop(judged.organiser, made)):
        with pytest.raises(Conflict, match="is applied"):
            act()
    with pytest.raises(DatabaseError), transaction.atomic():
        Rejudge.objects.update(state="ready")


def test_live_results_that_changed_meanwhile_are_told_and_left(judged: Site, node: WireNode) -> None:
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    work_all(node, FAILED)
    changed = Evaluation.objects.live().order_by("pk").first()
    assert changed is not None
    rerun(judged.organiser, [changed], "once more")
    work_all(node, timed(4.0))
    assert apply(judged.organiser, made, "public") == {"applied": 2, "changed": 1}
    changed.refresh_from_db()
    assert changed.current_result is not None and changed.current_result.passed
    assert made.items.get(outcome="changed").live == changed


def test_an_evaluation_with_an_open_appeal_is_left_and_the_appeal_stays_open(judged: Site, node: WireNode) -> None:
    live = Evaluation.objects.live().select_related("current_result").order_by("pk")[0]
    flag = Flag.objects.create(result_id=live.current_result_id or 0, code="throttled", scope="time")
    ruling = decide_flag(judged.organiser, flag, upheld=True, public_reason="Too hot.")
    appeal(judged.owner, ruling, "The fan was broken.")
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    work_all(node, FAILED)
    assert apply(judged.organiser, made, "public") == {"applied": 2, "appealed": 1}
    before, live.current_result = live.current_result, None
    live.refresh_from_db()
    assert live.current_result == before
    assert flag in flag_queue.queue({"state": "appealed"})


def test_an_answered_appeal_holds_nothing_up(judged: Site, node: WireNode) -> None:
    live = Evaluation.objects.live().select_related("current_result").order_by("pk")[0]
    flag = Flag.objects.create(result_id=live.current_result_id or 0, code="throttled", scope="time")
    appeal(judged.owner, decide_flag(judged.organiser, flag, upheld=True, public_reason="Hot."), "No.")
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    work_all(node, FAILED)
    decide_flag(judged.organiser, flag, upheld=True, public_reason="It was.")
    assert apply(judged.organiser, made, "public") == {"applied": 3}


def test_a_rerun_drops_no_open_appeal(judged: Site, node: WireNode) -> None:
    live = Evaluation.objects.live().select_related("current_result").order_by("pk")[0]
    flag = Flag.objects.create(result_id=live.current_result_id or 0, code="throttled", scope="time")
    appeal(judged.owner, decide_flag(judged.organiser, flag, upheld=True, public_reason="Hot."), "No.")
    rerun(judged.organiser, [live], "once more")
    work_all(node)
    for state in ("", "appealed"):
        assert flag in flag_queue.queue({"state": state})


def test_a_platform_error_is_never_applied(judged: Site, node: WireNode) -> None:
    made = start(
        judged.organiser, RejudgeScope(judged.release, problems=[judged.release.problems.get(task_id="a/1")]), "why"
    )
    for _ in range(3):
        attempt = Attempt.objects.get(pk=node.take()["attempt"])
        lose(attempt, AttemptState.FAULTED, "disk full")
    made.refresh_from_db()
    assert made.state == "ready"
    assert apply(judged.organiser, made, "public") == {"platform_error": 1}


def test_dropping_cancels_what_runs_and_frees_the_evaluations(judged: Site, node: WireNode) -> None:
    before = state_of_the_board()
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    work = node.take()
    drop(judged.organiser, made, "not needed")
    assert node.report(work, FAILED).json()["code"] == "cancelled"
    assert node.claim().status_code == 204
    assert (made.state, state_of_the_board()) == ("dropped", before)
    again = start(judged.organiser, RejudgeScope(judged.release), "now it is")
    assert Evaluation.objects.filter(purpose=Purpose.SHADOW).count() == 3
    assert work_all(node, timed(5.0)) == 3
    again.refresh_from_db()
    assert again.state == "ready"


def test_a_cancelled_submission_does_not_hold_a_rejudge_up(judged: Site, node: WireNode) -> None:
    stuck = judged.submit({"a/1": ["exit 4"], "a/2": ["exit 4"]})
    node.report(node.take(), timed(5.0))
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    running = node.take()  # the submission's second sample, which is live
    assert cancel(judged.owner, stuck) == 1
    assert node.report(running).status_code == 409
    assert work_all(node, FAILED) == 3
    made.refresh_from_db()
    assert made.state == "ready"
    assert apply(judged.organiser, made, "public") == {"applied": 3, "cancelled": 1}


@pytest.mark.parametrize(
    ("candidate_ms", "spread", "change"),
    [(5.01, 0.01, "same"), (5.1, 0.001, "time"), (5.1, 0.05, "same"), (5.3, 0.1, "time"), (4.0, 0.001, "time")],
)
def test_times_beyond_the_interval_or_three_percent_are_changes(
    judged: Site, node: WireNode, candidate_ms: float, spread: float, change: str
) -> None:
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    work_all(node, timed(candidate_ms, spread=spread))
    item = made.items.first()
    assert item is not None
    assert (item.change, item.time_ratio) == (change, pytest.approx(candidate_ms / 5.0))


def test_an_applied_time_ranks_against_its_own_baseline(judged: Site, node: WireNode) -> None:
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    work_all(node, timed(2.0, baseline_ms=8.0))
    apply(judged.organiser, made, "public")
    rank_touched()
    assert Standing.objects.get().speedup == pytest.approx(4.0)
    row = Measurement.objects.filter(result__current_of__purpose=Purpose.LIVE, role=Role.CANDIDATE).first()
    assert row is not None and row.baseline is not None
    assert (row.median_ms, row.baseline.median_ms) == (2.0, 8.0)


def test_shared_baselines_of_shadow_work_are_their_own(judged: Site, node: WireNode) -> None:
    def shared(ms: float) -> Report:
        made = timed(ms, baseline_ms=ms * 2)
        rows = [one.model_copy(update={"shared": one.role == Role.BASELINE, "key": "k"}) for one in made.measurements]
        return made.model_copy(update={"measurements": rows})

    start(judged.organiser, RejudgeScope(judged.release), "why")
    work_all(node, shared(7.0))
    judged.submit({"a/1": ["exit 5"]})
    work_all(node, shared(3.0))
    live = Measurement.objects.filter(result__evaluation__purpose=Purpose.LIVE, median_ms=3.0).get()
    assert live.baseline is not None and live.baseline.median_ms == 6.0


def test_an_item_belongs_to_one_open_rejudge(judged: Site) -> None:
    made = start(judged.organiser, RejudgeScope(judged.release), "why")
    item = made.items.first()
    assert item is not None
    twin = Rejudge.objects.create(release=judged.release, scope="other", reason="x")
    with pytest.raises(DatabaseError), transaction.atomic():
        RejudgeItem.objects.create(
            rejudge=twin, live=item.live, shadow=item.shadow, before=item.before, before_verdict="passed"
        )
