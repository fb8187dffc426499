"""Two requests at the same moment: whoever is first, every row ends as if they had come one after the other."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

import pytest
from django.db import connections, transaction

from leaderboard.actions.intake.submit import submit
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.actions.submissions.rerun import rerun
from leaderboard.errors import Conflict
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Counted, Evaluation, EvaluationState, Result, Submission, SubmissionState
from leaderboard.rows.submissions import SubmissionMetadata
from leaderboard.standings import scores
from leaderboard.standings.rank import rank_touched
from problems.formats.submission import read_submission
from runners.fleet.models import Attempt, AttemptState, Job, JobState
from tests.fleet.site import Site, WireNode, add_node, passed
from tests.packs import solution, solution_pack
from tests.patience import SOON

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

ROUNDS = 6


@pytest.fixture
def site() -> Site:
    return Site.make()


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls at the same moment, each on a connection of its own; their values, or what they raised."""
    gate = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            gate.wait(SOON)
            return call()
        except Exception as error:  # noqa: BLE001 - handed to the test, which says what may be raised
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def nodes(site: Site, n: int) -> list[WireNode]:
    for number in range(n):
        add_node(f"racer-{number}", site.track, f"secret-{number}")
    return [WireNode(token=f"secret-{number}") for number in range(n)]


def test_nodes_that_claim_at_once_get_each_job_once(site: Site) -> None:
    site.submit({"a/1": [f"exit {n}" for n in range(6)], "a/2": [f"exit {n}" for n in range(6)]})
    answers = together(*(lambda one=one: one.take_up_to(4) for one in nodes(site, 4)))
    taken = [work["evaluation"] for answer in answers for work in answer]
    assert len(taken) == len(set(taken)) == 12
    assert Attempt.objects.filter(state=AttemptState.LEASED).count() == 12


def test_the_same_report_at_once_is_taken_once_and_acknowledged_to_both(site: Site) -> None:
    site.submit({"a/1": ["exit 0"] * 1, "a/2": ["exit 0"]})
    node = WireNode()
    for _ in range(2):
        work = node.take()
        answers = together(*(lambda work=work: WireNode().report(work) for _ in range(4)))
        assert [answer.status_code for answer in answers] == [200] * 4, [answer.content for answer in answers]
        assert sorted(answer.json()["duplicate"] for answer in answers) == [False, True, True, True]
    assert Result.objects.count() == 2


def test_reports_of_one_submission_at_once_finish_it(site: Site) -> None:
    submission = site.submit({"a/1": [f"exit {n}" for n in range(4)], "a/2": [f"exit {n}" for n in range(4)]})
    work = WireNode().take_up_to(8)
    answers = together(*(lambda one=one: WireNode().report(one) for one in work))
    assert [answer.status_code for answer in answers] == [200] * 8, [answer.content for answer in answers]
    submission.refresh_from_db()
    assert submission.state == SubmissionState.DONE
    scores = submission.problem_scores.values_list("n_samples", "n_passed", "n_pending")
    assert sorted(scores) == [(4, 4, 0), (4, 4, 0)]


def test_a_report_and_a_cancel_at_once_leave_no_lease_behind(site: Site) -> None:
    for number in range(ROUNDS):
        submission = site.submit({"a/1": [f"exit {number}"], "a/2": [f"exit {number}"]})
        work = WireNode().take_up_to(2)
        outcome, *answers = together(
            lambda submission=submission: cancel(site.owner, submission),
            *(lambda one=one: WireNode().report(one, passed()) for one in work),
        )
        assert isinstance(outcome, int | Conflict), outcome
        assert {answer.status_code for answer in answers} <= {200, 409}, [answer.content for answer in answers]
        assert_settled(submission)


def test_a_claim_and_a_cancel_at_once_leave_no_lease_behind(site: Site) -> None:
    for number in range(ROUNDS):
        submission = site.submit({"a/1": [f"exit {number}"], "a/2": [f"exit {number}"]})
        taken, outcome = together(
            lambda: WireNode().take_up_to(2), lambda submission=submission: cancel(site.owner, submission)
        )
        assert isinstance(taken, list), taken
        assert outcome == 2
        assert_settled(submission)


def assert_settled(submission: Submission) -> None:
    """Nothing of it is queued, leased or waited for."""
    states = set(Evaluation.objects.filter(submission=submission).values_list("state", flat=True))
    assert states <= {EvaluationState.DONE, EvaluationState.CANCELLED}
    jobs = Job.objects.filter(evaluation__submission=submission)
    assert set(jobs.values_list("state", flat=True)) <= {JobState.DONE, JobState.CANCELLED}
    assert not Attempt.objects.filter(job__in=jobs, state=AttemptState.LEASED).exists()


def test_two_cancels_at_once_withdraw_it_once(site: Site) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    outcomes = together(*(lambda: cancel(site.owner, Submission.objects.get(pk=submission.pk)) for _ in range(3)))
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "Conflict", "int"], outcomes


def test_two_reruns_at_once_queue_it_once(site: Site) -> None:
    submission = site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    for work in WireNode().take_up_to(2):
        WireNode().report(work)

    def again() -> int:
        rows = Evaluation.objects.filter(submission=submission).select_related("submission__entrant", "current_result")
        return rerun(site.owner, list(rows), "the node was hot")

    outcomes = together(*[again] * 3)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "Conflict", "int"], outcomes
    assert Job.objects.filter(state=JobState.QUEUED).count() == 2


def test_the_same_pack_sent_at_once_is_one_submission(site: Site) -> None:
    receipts = together(*[lambda: _send(site, "exit 0")] * 4)
    assert len({receipt.submission.pk for receipt in receipts}) == 1, receipts
    assert sorted(receipt.created for receipt in receipts) == [False, False, False, True]


def test_of_full_submissions_sent_at_once_the_latest_counts(site: Site) -> None:
    for number in range(ROUNDS):
        receipts = together(*(lambda n=n, number=number: _send(site, f"exit {number}{n}") for n in range(3)))
        assert all(not isinstance(receipt, Exception) for receipt in receipts), receipts
        assert Counted.objects.get().submission_id == max(receipt.submission.pk for receipt in receipts)


def _send(site: Site, script: str) -> Any:
    rows = [solution(task_id, script) for task_id in ("a/1", "a/2")]
    draft = read_submission(solution_pack(rows), "test-1-one-solutions.tar.gz", catalogue_of(site.release))
    return submit(site.owner, SubmissionMetadata(site.entrant, site.release, [site.track]), draft)


def test_a_change_that_commits_while_its_track_is_ranked_is_ranked_next(site: Site) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    touched, ranking = Event(), Event()

    def change() -> None:
        with transaction.atomic():
            scores.touch(site.release.pk, site.track.pk)
            touched.set()
            ranking.wait(SOON)
            time.sleep(0.3)

    def rank_meanwhile() -> int:
        touched.wait(SOON)
        ranking.set()
        return rank_touched()

    assert together(change, rank_meanwhile) == [None, 1]
    assert rank_touched() == 1
    assert rank_touched() == 0
