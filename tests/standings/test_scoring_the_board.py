"""From results to standings: aggregates, flags, decisions, voided problems, and recomputation from nothing."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from leaderboard.actions.curation.decide import decide_flag, retract, void_problem
from leaderboard.actions.submissions.record_result import record_result
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Decision, Entrant, Flag, Measurement, ProblemScore, ReleaseTrack, Standing, Submission
from leaderboard.models.boards.estimates import part_of
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.rows.origin import Origin
from leaderboard.standings import rank, scores
from problems.actions import releases
from problems.spec.case import Case
from runners.wire.protocol import (
    Clock,
    FlagReport,
    FlagScope,
    MeasurementReport,
    Provenance,
    Report,
    Role,
    Verdict,
    Witness,
)
from scoring.fast_p import THRESHOLDS
from tests import factories
from tests.estimates import change
from tests.fleet.site import Site
from tests.markup import markup
from tests.packs import problem

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def site() -> Site:
    return Site.make([problem("a/1", benchmark_command="sh test/t.sh"), problem("a/2")])


def timed(candidate_ms: float, baseline_ms: float = 12.0, **changes: object) -> list[MeasurementReport]:
    shared = {"clock": Clock.OUTSIDE, "witness": Witness.SEEN}
    return [
        MeasurementReport(role=Role.BASELINE, median_ms=baseline_ms, runs_ms=[baseline_ms], **shared),
        MeasurementReport(role=Role.CANDIDATE, median_ms=candidate_ms, runs_ms=[candidate_ms], **(shared | changes)),
    ]


def report(verdict: Verdict = Verdict.PASSED, **changes: object) -> Report:
    fields = {"witness": Witness.SEEN, "provenance": Provenance()} | changes
    return Report(verdict=verdict, **fields)


def grade(submission: Submission, task_id: str, *reports: Report) -> None:
    evaluations = submission.evaluations.filter(problem__task_id=task_id).order_by("sample__index")
    for evaluation, one in zip(evaluations, reports, strict=True):
        record_result(evaluation, one, Origin(ResultOrigin.FLEET, attempt=uuid4()))


def test_unwitnessed_passes_are_counted_and_voided_problems_left_out(site: Site) -> None:
    made = site.submit({"a/1": ["exit 0", "exit 0 # b"], "a/2": ["exit 0", "exit 0 # b"]})
    unseen = report(witness=Witness.UNAVAILABLE)
    grade(made, "a/1", report(), unseen)
    grade(made, "a/2", unseen, report(Verdict.TEST_FAILED, witness=Witness.UNAVAILABLE))
    found = standing(site)
    assert (found.n_passed, found.n_unwitnessed) == (3, 2)
    void_problem(site.organiser, site.release.problems.get(task_id="a/2"), "faulty")
    found = standing(site)
    assert (found.n_passed, found.n_unwitnessed) == (2, 1)
    assert rank.rebuild(check=True) == []


def test_fast_p_is_strict_and_counts_absent_samples_as_failed(site: Site) -> None:
    made = site.submit({"a/1": ["exit 0", "exit 0 # b", "exit 0 # c"], "a/2": ["exit 0"]})
    grade(made, "a/1", report(measurements=timed(12.0)), report(measurements=timed(6.0)), report(Verdict.TEST_FAILED))
    grade(made, "a/2", report(measurements=timed(4.0)))
    curve = dict(zip(THRESHOLDS, standing(site).fast_p, strict=True))
    # of three samples of each problem: 1× and 2×; 3× and two that are absent
    assert [curve[p] for p in (0.0, 1.0, 2.0, 3.0)] == pytest.approx([3 / 6, 2 / 6, 1 / 6, 0.0])


def standing(site: Site) -> Standing:
    assert rank.rank_touched() >= 0
    return Standing.objects.get(entrant=site.entrant)


def graded(site: Site) -> Submission:
    submission = site.submit({"a/1": ["exit 0", "exit 1"], "a/2": ["exit 0", "exit 1"]})
    grade(submission, "a/1", report(measurements=timed(6.0)), report(measurements=timed(24.0)))
    grade(submission, "a/2", report(), report(Verdict.TEST_FAILED))
    return submission


def test_a_board_row_shows_pass_and_speedup_with_intervals(site: Site) -> None:
    graded(site)
    row = standing(site)
    assert (row.rank, row.is_incomplete) == (1, False)
    assert row.pass_at_1 == pytest.approx(0.75)
    assert (row.n_solved, row.n_problems, row.n_samples) == (2, 2, 4)
    # one problem with a baseline: samples at 2.0 and 0.5, the latter falls back to 1: exp((ln 2 + ln 1) / 2)
    assert row.speedup == pytest.approx(2**0.5)
    assert row.figure("correct_speedup")[0] == pytest.approx(1.0)
    value, low, high = row.figure("pass@1")
    assert low < value < high
    assert (row.primary_value, row.primary_low, row.primary_high) == (value, low, high)


def test_an_unfinished_submission_is_incomplete_and_not_ranked(site: Site) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    grade(submission, "a/1", report())
    row = standing(site)
    assert (row.rank, row.is_incomplete) == (None, True)
    assert row.incomplete_reason == "1 sample not yet decided"


def test_a_platform_error_keeps_a_standing_incomplete(site: Site) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    grade(submission, "a/1", report())
    grade(submission, "a/2", report(Verdict.PLATFORM_ERROR))
    assert standing(site).is_incomplete


def test_an_unwitnessed_pass_counts_but_its_time_never_ranks(site: Site) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    grade(submission, "a/1", report(witness=Witness.UNAVAILABLE, measurements=timed(1.0)))
    grade(submission, "a/2", report())
    row = standing(site)
    assert row.pass_at_1 == 1.0
    assert row.speedup == 1.0
    assert not Measurement.objects.get(role="candidate").ranks


def test_a_clock_of_the_contestants_own_never_ranks(site: Site) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    grade(submission, "a/1", report(measurements=timed(1.0, clock=Clock.SELF)))
    grade(submission, "a/2", report())
    assert standing(site).speedup == 1.0


@pytest.mark.parametrize(("policy", "ranks"), [("quick", True), ("ranked", False)])
def test_a_quick_time_is_provisional_and_does_not_rank_unless_the_release_chose_quick(policy: str, ranks: bool) -> None:
    site = Site.make([problem("a/1", benchmark_command="sh test/t.sh")], timing_policy=policy)
    submission = site.submit({"a/1": ["exit 0"]})
    provenance = Provenance(timing_policy="quick")
    grade(submission, "a/1", report(measurements=timed(6.0), provenance=provenance))
    assert {one.ranks for one in Measurement.objects.all()} == {ranks}
    assert part_of(standing(site).estimates, "speedup", "problems") == int(ranks)
    site_client = Client()
    site_client.force_login(site.organiser)
    text = markup(site_client.get(submission.evaluations.get().get_absolute_url()))
    assert ("These times are provisional" in text) == (not ranks)


def flagged(site: Site, scope: FlagScope) -> Submission:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    grade(submission, "a/1", report(measurements=timed(6.0), flags=[FlagReport(code="odd", scope=scope)]))
    grade(submission, "a/2", report())
    return submission


def test_a_verdict_flag_holds_the_pass_back_until_somebody_decides(site: Site) -> None:
    flagged(site, FlagScope.VERDICT)
    assert standing(site).is_incomplete
    decide_flag(site.organiser, Flag.objects.get(), upheld=False, public_reason="An honest trick.")
    assert standing(site).pass_at_1 == 1.0


def test_an_upheld_verdict_flag_is_a_fail(site: Site) -> None:
    flagged(site, FlagScope.VERDICT)
    decide_flag(site.organiser, Flag.objects.get(), upheld=True, public_reason="It reads the answer.")
    row = standing(site)
    assert (row.pass_at_1, row.is_incomplete) == (0.5, False)


def test_a_time_flag_leaves_the_pass_and_takes_the_time(site: Site) -> None:
    flagged(site, FlagScope.TIME)
    row = standing(site)
    assert (row.pass_at_1, row.speedup, row.is_incomplete) == (1.0, 1.0, False)
    decide_flag(site.organiser, Flag.objects.get(), upheld=False, public_reason="Measured again by hand.")
    assert standing(site).speedup == pytest.approx(2.0)


def test_only_organisers_decide_and_always_with_a_reason(site: Site) -> None:
    flagged(site, FlagScope.TIME)
    with pytest.raises(NotAllowed):
        decide_flag(site.owner, Flag.objects.get(), upheld=False, public_reason="Mine.")
    with pytest.raises(Refused, match="public reason"):
        decide_flag(site.organiser, Flag.objects.get(), upheld=False, public_reason=" ")


def test_a_voided_problem_leaves_every_denominator(site: Site) -> None:
    graded(site)
    void_problem(site.organiser, site.release.problems.get(task_id="a/2"), "Its test accepts nothing.")
    row = standing(site)
    assert (row.pass_at_1, row.n_problems) == (1.0, 1)


def test_a_retracted_submission_leaves_the_board(site: Site) -> None:
    retract(site.organiser, graded(site), "Submitted under the wrong name.")
    rank.rank_touched()
    assert not Standing.objects.exists()


def test_a_baseline_entrant_is_shown_without_a_rank(site: Site) -> None:
    Entrant.objects.update(kind="baseline")
    graded(site)
    assert standing(site).rank is None


def test_a_shared_baseline_has_one_row_that_results_refer_to(site: Site) -> None:
    submission = site.submit({"a/1": ["exit 0", "exit 1"], "a/2": ["exit 0", "exit 1"]})
    shared = [m.model_copy(update={"shared": m.role == Role.BASELINE, "key": "node-1@10"}) for m in timed(6.0)]
    grade(submission, "a/1", report(measurements=shared), report(measurements=shared))
    baseline = Measurement.objects.get(role="baseline")
    assert baseline.result is None
    assert baseline.candidates.count() == 2


def test_stored_equals_recomputed(site: Site) -> None:
    graded(site)
    rank.rank_touched()
    assert rank.rebuild(check=True) == []


def test_a_tampered_row_is_found_and_mended(site: Site) -> None:
    graded(site)
    rank.rank_touched()
    ProblemScore.objects.filter(problem__task_id="a/2").update(n_passed=2)
    change(Standing.objects.all(), **{"pass@1": {"value": 1.0}})
    lines = rank.rebuild(check=True)
    assert len(lines) == 3, "the aggregate, the standing and the problem's sums"
    assert Standing.objects.get().pass_at_1 == 1.0
    rank.rebuild()
    assert rank.rebuild(check=True) == []
    assert Standing.objects.get().pass_at_1 == pytest.approx(0.75)


def test_ranking_is_done_once_per_change(site: Site) -> None:
    graded(site)
    assert rank.rank_touched() == 1
    assert rank.rank_touched() == 0
    scores.touch(site.release.pk, site.track.pk)
    assert ReleaseTrack.objects.get().touched_at is not None
    assert rank.rank_touched() == 1


def test_two_entrants_are_ranked_by_the_primary_metric(site: Site) -> None:
    graded(site)
    other = Entrant.objects.create(slug="two", name="Two", owner=site.owner)
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]}, other)
    grade(submission, "a/1", report())
    grade(submission, "a/2", report())
    rank.rank_touched()
    rows = Standing.objects.order_by("rank").values_list("entrant__slug", "rank")
    assert list(rows) == [("two", 1), ("one", 2)]


def test_a_problem_is_voided_once(site: Site) -> None:
    problem = site.release.problems.get(task_id="a/2")
    void_problem(site.organiser, problem, "faulty")
    with pytest.raises(Conflict, match="a/2 is void already"):
        void_problem(site.organiser, problem, "faulty again")
    assert Decision.objects.filter(problem=problem).count() == 1


def test_a_newcomer_who_passes_one_problem_changes_no_gflops_of_others(cast: Any) -> None:
    made = factories.release(3, publish=False)
    made.problems.update(cases=[Case(flops=1e9).model_dump(mode="json")])
    releases.publish(made)
    track = factories.offer(made)
    factories.judged_submission(cast.entrant, made, track)
    of_entrant = Standing.objects.filter(entrant=cast.entrant).values_list("estimates__gflops", flat=True)
    before = of_entrant.get()
    assert before == {
        "value": pytest.approx(1e9 / 5.0 * 1e-6),
        "problems": 3,
        "own": 3,
    }  # each in half of the baseline's 10 ms
    fails = factories.report(Verdict.TEST_FAILED)
    factories.judged_submission(
        cast.strangers_entrant, made, track, lambda one: fails if one.problem.position else factories.report()
    )
    assert of_entrant.get() == before
    newcomer = Standing.objects.get(entrant=cast.strangers_entrant).estimates["gflops"]
    assert (newcomer["problems"], newcomer["own"]) == (3, 1)
    assert newcomer["value"] == pytest.approx((200.0 * 100.0 * 100.0) ** (1 / 3)), "the baseline's count on two"
