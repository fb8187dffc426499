"""Attempts that nodes lose count, until an organiser must decide; attempts that nodes give back do not."""

from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from leaderboard.admin.dashboard import panels
from leaderboard.models import Result
from runners.fleet.attempts.claim import claim
from runners.fleet.models import LAST_PRIORITY, Attempt, Job, JobState, Node, NodeGrant
from runners.fleet.worker.sweep import sweep
from tests.fleet.site import Site, WireNode, add_node
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def site() -> Site:
    """With one job in the queue."""
    made = Site.make()
    made.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    Job.objects.exclude(pk=Job.objects.first().pk).update(state=JobState.DONE)
    return made


@pytest.fixture
def node(site: Site) -> WireNode:
    one = WireNode()
    one.hello()
    return one


@pytest.fixture
def second(site: Site) -> WireNode:
    """Another node that is online."""
    add_node("node-2", site.track, "second")
    one = WireNode(token="second")
    one.hello()
    return one


def as_organiser(site: Site) -> HttpRequest:
    request = HttpRequest()
    request.user = site.organiser
    return request


def lose(node: WireNode) -> dict[str, Any]:
    """Begin an attempt and be killed."""
    work = node.begin(node.take())
    node.start_anew()
    return work


def silence() -> None:
    """Let the leases run out."""
    Job.objects.filter(state=JobState.LEASED).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    sweep()


def test_a_node_that_dies_three_times_on_a_sample_quarantines_it(site: Site, node: WireNode) -> None:
    numbers = [lose(node)["number"] for _ in range(3)]
    assert numbers == [1, 2, 3]
    assert node.claim().status_code == 204, "no fourth lease"
    result = Result.objects.get()
    assert (result.verdict, result.origin) == ("platform_error", "site")
    assert "3 attempts were lost on node-1; the last: node node-1 was started anew" in result.reason


def test_lives_and_leases_that_end_count_together(site: Site, node: WireNode) -> None:
    lose(node)
    node.begin(node.take())
    silence()
    lose(node)
    assert Result.objects.get().verdict == "platform_error"


def test_the_last_attempt_is_left_to_another_node(site: Site, node: WireNode, second: WireNode) -> None:
    lose(node)
    lose(node)
    assert node.claim().status_code == 204, "a third loss here would say nothing of the sample"
    assert lose(second)["number"] == 3
    result = Result.objects.get()
    assert result.verdict == "platform_error"
    assert "lost on node-1, node-2" in result.reason


def test_a_sample_that_breaks_one_node_alone_is_graded_by_the_other(
    site: Site, node: WireNode, second: WireNode
) -> None:
    lose(node)
    lose(node)
    assert second.report(second.begin(second.take())).status_code == 200
    assert Result.objects.get().verdict == "passed"


@pytest.mark.parametrize(
    "change",
    [{"disabled_reason": "broken"}, {"obstacle": "disk full"}, {"last_seen_at": timezone.now() - timedelta(hours=1)}],
)
def test_a_node_that_serves_nothing_is_not_waited_for(
    site: Site, node: WireNode, second: WireNode, change: dict[str, Any]
) -> None:
    Node.objects.filter(slug="node-2").update(**change)
    for _ in range(3):
        lose(node)
    assert Result.objects.get().verdict == "platform_error"


def test_three_losses_on_one_node_are_not_enough_once_another_serves(site: Site, node: WireNode) -> None:
    lose(node)
    lose(node)
    work = node.begin(node.take())
    add_node("node-2", site.track, "second")
    second = WireNode(token="second")
    second.hello()
    node.start_anew()
    assert not Result.objects.exists()
    assert node.claim().status_code == 204
    assert second.take()["number"] == work["number"] + 1


def test_three_losses_on_two_nodes_are_enough_though_a_third_serves(
    site: Site, node: WireNode, second: WireNode
) -> None:
    add_node("node-3", site.track, "third")
    WireNode(token="third").hello()
    lose(node)
    lose(node)
    lose(second)
    assert Result.objects.get().verdict == "platform_error"


def test_other_jobs_are_not_held_up_by_one_that_waits_for_another_node(
    site: Site, node: WireNode, second: WireNode
) -> None:
    lose(node)
    lose(node)
    Job.objects.filter(state=JobState.DONE).update(state=JobState.QUEUED)
    assert node.take()["number"] == 1


def test_a_job_that_waits_for_another_node_is_not_taken_along_with_others(
    site: Site, node: WireNode, second: WireNode
) -> None:
    lose(node)
    lose(node)
    Job.objects.filter(state=JobState.DONE).update(state=JobState.QUEUED, fair_tag=0)
    assert len(claim(NodeGrant.objects.get(node__slug="node-1"), most=2)) == 1
    assert second.take()["number"] == 3


def test_an_attempt_that_had_not_begun_does_not_count(site: Site, node: WireNode) -> None:
    for _ in range(4):
        node.take()
        node.start_anew()
    job = Job.objects.get(state=JobState.QUEUED)
    assert (job.n_attempts, job.n_given_back, job.n_unbegun) == (0, 0, 4)
    assert node.take()["number"] == 5


def test_a_lease_that_ends_before_the_work_begins_does_not_count(site: Site, node: WireNode, second: WireNode) -> None:
    for _ in range(4):
        node.take()
        silence()
    job = Job.objects.get(state=JobState.QUEUED)
    assert (job.n_attempts, job.n_unbegun) == (0, 4)
    lose(node)
    lose(node)
    assert second.report(second.begin(second.take())).status_code == 200
    assert Result.objects.get().verdict == "passed"


def test_a_job_that_is_lost_unbegun_too_often_is_placed_last(site: Site, node: WireNode, settings: Any) -> None:
    for _ in range(settings.MAX_UNBEGUN):
        node.take()
        silence()
    job = Job.objects.get(state=JobState.QUEUED)
    assert job.priority == LAST_PRIORITY
    assert not Result.objects.exists()
    Job.objects.filter(state=JobState.DONE).update(state=JobState.QUEUED)
    assert node.take()["number"] == 1, "all other work comes first"


def test_a_late_start_of_an_expired_attempt_does_not_make_it_count(site: Site, node: WireNode) -> None:
    work = node.take()
    silence()
    node.begin(work)
    assert not Attempt.objects.filter(began_at__isnull=False).exists()


def test_a_job_that_is_given_back_too_often_is_placed_last(site: Site, node: WireNode, settings: Any) -> None:
    for _ in range(settings.MAX_GIVEN_BACK):
        assert Job.objects.get(state=JobState.QUEUED).priority == 0
        node.release(node.begin(node.take()))
    job = Job.objects.get(state=JobState.QUEUED)
    assert (job.priority, job.n_given_back) == (LAST_PRIORITY, settings.MAX_GIVEN_BACK)
    panel = next(one for one in panels(as_organiser(site)) if one.title == "Jobs placed last")
    assert [line.note for line in panel.lines] == ["20 given back, 0 lost unbegun"]
    assert node.report(node.begin(node.take())).status_code == 200
    assert Result.objects.get().verdict == "passed"


def test_attempts_given_back_and_lost_are_counted_apart(site: Site, node: WireNode) -> None:
    lose(node)
    node.release(node.begin(node.take()))
    lose(node)
    job = Job.objects.get(state=JobState.QUEUED)
    assert (job.n_attempts, job.n_given_back) == (2, 1)
    assert sorted(Attempt.objects.values_list("number", flat=True)) == [1, 2, 3]


def test_a_report_that_outlived_its_node_counts_while_nobody_has_taken_the_job(site: Site, node: WireNode) -> None:
    """A node keeps its unsent reports; its next life sends them."""
    work = lose(node)
    assert node.report(work).status_code == 200
    assert Result.objects.get().verdict == "passed"
    assert node.claim().status_code == 204


def test_the_evaluations_page_tells_of_earlier_attempts(site: Site, node: WireNode, client: Client) -> None:
    work = lose(node)
    node.release(node.take())
    client.force_login(site.owner)
    page = markup(client.get(f"/evaluations/{work['evaluation']}/"))
    assert "1 lost, 1 given back" in page
