"""A share of a joined node's evaluations is judged again by another node: a node that lies is found out."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from leaderboard.models import Evaluation, Flag, Result, Submission
from runners.fleet.attempts.claim import digest_of
from runners.fleet.models import Job, JobState, Node, Recheck, Service
from runners.fleet.nodes.joining import join, make_token
from runners.fleet.queue.top_up import queued_jobs
from runners.fleet.web.fleet_state import explained, queues
from runners.fleet.worker.score import score_reported
from runners.wire.protocol import Provenance, Purpose, Report, Stage, Verdict
from tests.fleet.site import Site, WireNode
from tests.markup import markup

pytestmark = [pytest.mark.django_db]
FAILED = Report(verdict=Verdict.TEST_FAILED, provenance=Provenance())


@pytest.fixture
def site() -> Site:
    made = Site.make()
    made.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    return made


def nodes_of(site: Site, name: str, n: int, judged_again: float = 1.0) -> list[WireNode]:
    expires_at = timezone.now() + timedelta(days=1)
    _, secret = make_token(None, name, [site.track], [Stage.BOTH], n, expires_at, judged_again)
    made = [WireNode(token=join(digest_of(secret), name, "127.0.0.1")[1]) for _ in range(n)]
    for node in made:
        node.hello()
    return made


def judge_all(node: WireNode, report: Report | None = None) -> int:
    works = node.take_up_to(10)
    for work in works:
        assert node.report(node.begin(work), report).status_code == 200
    return len(works)


def test_a_joined_node_s_results_are_judged_again_by_an_enrolled_one(site: Site) -> None:
    first, second = nodes_of(site, "cluster", 2)
    assert judge_all(first) == 2
    assert Evaluation.objects.filter(purpose=Purpose.SHADOW).count() == 2
    assert judge_all(first) == judge_all(second) == 0, "no node of the same token judges again"
    assert judge_all(WireNode()) == 2
    assert set(Recheck.objects.values_list("agrees", "node__slug")) == {(True, "cluster")}
    assert not Flag.objects.exists()
    assert Result.objects.filter(current_of__purpose=Purpose.LIVE).count() == 2


def test_a_node_of_another_token_may_judge_again(site: Site) -> None:
    (first,) = nodes_of(site, "one", 1)
    (second,) = nodes_of(site, "two", 1, judged_again=0)
    judge_all(first)
    assert judge_all(second) == 2


def test_a_lie_becomes_a_flag_and_counts_no_more_until_a_person_has_decided(site: Site) -> None:
    (liar,) = nodes_of(site, "cluster", 1)
    judge_all(liar)
    submission = Submission.objects.get()
    assert sum(submission.problem_scores.values_list("n_passed", flat=True)) == 2
    judge_all(WireNode(), FAILED)
    score_reported()
    details = set(Flag.objects.values_list("code", "scope"))
    assert details == {("judged_otherwise", "verdict")}
    assert "Node cluster judged it, and node node-1, which judged it again, found test_failed." in str(
        Flag.objects.first().detail
    )
    assert sum(submission.problem_scores.values_list("n_passed", flat=True)) == 0
    assert sum(submission.problem_scores.values_list("n_unresolved", flat=True)) == 2


def test_nothing_is_judged_again_where_the_share_is_nought_or_the_node_is_enrolled(site: Site) -> None:
    (node,) = nodes_of(site, "cluster", 1, judged_again=0)
    work = node.take()
    node.report(node.begin(work))
    judge_all(WireNode())
    assert not Recheck.objects.exists()


def test_a_submission_is_done_before_its_results_are_judged_again(site: Site) -> None:
    (node,) = nodes_of(site, "cluster", 1)
    judge_all(node)
    assert Submission.objects.get().state == "done"
    assert Job.objects.filter(state=JobState.QUEUED).count() == 2


def test_what_another_node_cannot_judge_says_nothing(site: Site) -> None:
    (node,) = nodes_of(site, "cluster", 1)
    judge_all(node)
    judge_all(WireNode(), Report(verdict=Verdict.SKIPPED, provenance=Provenance()))
    assert set(Recheck.objects.values_list("agrees", flat=True)) == {None}
    assert not Flag.objects.exists()


def test_a_recheck_calls_no_node_that_could_not_run_it(site: Site, client: Any, settings: Any) -> None:
    settings.METRICS_TOKEN = "of-the-scraper"

    def told() -> int:
        address = f"/metrics/jobs?track={site.track.slug}&stage=both"
        return int(client.get(address, headers={"Authorization": "Bearer of-the-scraper"}).json()["open"])

    first, second = nodes_of(site, "slurm", 2)
    assert told() == 2
    judge_all(first)
    assert Job.objects.filter(state=JobState.QUEUED, apart_from__isnull=False).count() == 2
    assert (told(), judge_all(second)) == (0, 0)
    [other] = nodes_of(site, "elsewhere", 1, judged_again=0.0)
    assert len(other.take_up_to(10)) == 2
    assert told() == 0, "nothing waits"
    site.submit({"a/1": ["exit 1"], "a/2": ["exit 1"]})
    assert told() == 4, "a node that works on rechecks counts beside what waits"


def test_rechecks_that_no_granted_node_may_run_are_no_fault(site: Site, client: Any, settings: Any) -> None:
    enrolled = Node.objects.filter(joined_by=None)
    enrolled.update(service=Service.RETIRED)
    (node,) = nodes_of(site, "cluster", 1)
    judge_all(node)
    Job.objects.update(queued_at=timezone.now() - timedelta(days=3))
    settings.METRICS_TOKEN = "of-the-scraper"
    told = markup(client.get("/metrics", headers={"Authorization": "Bearer of-the-scraper"}))
    assert f'podium_jobs{{stage="both",state="held",track="{site.track.slug}"}} 2.0' in told
    assert "podium_oldest_queued_job_seconds{" not in told
    (queue,) = explained(queues())
    assert (queue.n_queued, queue.oldest_queued_at) == (0, None)
    assert [(wait.words, wait.is_stuck) for wait in queue.waits] == [
        ("A node of another join token, or an enrolled one, is to judge again: 2 jobs.", False)
    ]
    assert queued_jobs() == {}, "no node is sent a message of what it may not run"
    enrolled.update(service=Service.IN_SERVICE)
    assert queued_jobs() == {(site.track.slug, Stage.BOTH): 2}
    assert judge_all(WireNode()) == 2
