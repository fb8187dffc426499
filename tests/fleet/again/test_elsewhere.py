"""A time that other programs lengthened is measured by another node, and after a day waits for a person."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.actions.submissions.rerun import rerun
from leaderboard.flags import queue as flag_queue
from leaderboard.models import Entrant, Evaluation, Flag, Result
from leaderboard.models.audit import AuditEntry
from problems.models import Release, ReleaseState
from runners.fleet.models import Job, JobState, Node
from runners.fleet.worker.sweep import sweep
from runners.wire.protocol import FlagReport, FlagScope, Report
from tests.actions.rejudging.test_rejudge import timed
from tests.fleet.site import Site, WireNode, add_node
from tests.packs import problem

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
WORDS = "The solution lost 43% of its wall time to other programs on the machine, which kept 1.9 cores busy."


def busy() -> Report:
    flag = FlagReport(code="busy_host", scope=FlagScope.TIME, detail=WORDS)
    return timed(5.0).model_copy(update={"flags": [flag]})


@pytest.fixture
def site() -> Site:
    made = Site.make([problem("a/1")])
    made.submit({"a/1": ["exit 0"]})
    return made


@pytest.fixture
def first(site: Site) -> WireNode:
    node = WireNode()
    node.hello()
    return node


def second_of(site: Site) -> WireNode:
    add_node("node-2", site.track, "second")
    node = WireNode(token="second")
    node.hello()
    return node


def measured(node: WireNode, report: Report) -> None:
    assert node.report(node.take(), report).status_code == 200


def to_decide() -> list[Flag]:
    return list(flag_queue.queue({}))


@pytest.fixture
def in_a_day(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let a day pass for all flags, which never change."""
    return lambda: monkeypatch.setattr(flag_queue, "MEASURED_FOR", timedelta())


def test_another_node_measures_it_and_the_flag_stays_meanwhile(site: Site, first: WireNode) -> None:
    measured(first, busy())
    second = second_of(site)
    for _ in range(2):
        sweep()
    evaluation = Evaluation.objects.get()
    assert (evaluation.state, Job.objects.filter(state=JobState.QUEUED).count()) == ("queued", 1)
    assert [flag.code for flag in evaluation.current_result.flags.all()] == ["busy_host"]
    assert first.claim().status_code == 204, "the busy node does not get it again"
    assert AuditEntry.objects.get(action="rerun").reason.startswith("Other programs lengthened its time on node-1")
    measured(second, timed(4.0))
    evaluation.refresh_from_db()
    assert (evaluation.state, evaluation.current_result.provenance["node"]) == ("done", "node-2")
    assert evaluation.current_result.flags.count() == 0
    sweep()
    assert not Job.objects.filter(state=JobState.QUEUED).exists()


def test_each_node_measures_it_once_and_after_a_day_a_person_decides(
    site: Site, first: WireNode, in_a_day: Callable[[], None]
) -> None:
    measured(first, busy())
    second = second_of(site)
    sweep()
    measured(second, busy())
    sweep()
    assert (Result.objects.count(), Job.objects.filter(state=JobState.QUEUED).count()) == (2, 0)
    assert to_decide() == []
    in_a_day()
    sweep()
    assert not Job.objects.filter(state=JobState.QUEUED).exists()
    assert [flag.result for flag in to_decide()] == [Evaluation.objects.get().current_result]


def test_without_another_node_it_waits_for_one_and_after_a_day_for_a_person(
    site: Site, first: WireNode, in_a_day: Callable[[], None]
) -> None:
    measured(first, busy())
    sweep()
    assert (Evaluation.objects.get().state, to_decide()) == ("done", [])
    in_a_day()
    second_of(site)
    sweep()
    assert Evaluation.objects.get().state == "done"
    assert len(to_decide()) == 1


def test_a_wait_for_a_node_that_has_gone_ends_with_the_old_result(site: Site, first: WireNode) -> None:
    measured(first, busy())
    second_of(site)
    sweep()
    Node.objects.filter(slug="node-2").update(last_seen_at=timezone.now() - timedelta(hours=1))
    sweep()
    evaluation = Evaluation.objects.get()
    assert (evaluation.state, evaluation.current_result.provenance["node"]) == ("done", "node-1")
    assert not Job.objects.filter(state=JobState.QUEUED).exists()


def test_samples_that_wait_for_a_node_cost_a_sweep_no_more_queries(first: WireNode, site: Site) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as seen:
            sweep()
        return len(seen)

    measured(first, busy())
    one = cost()
    site.submit({"a/1": [f"exit 0 # {n}" for n in range(5)]}, Entrant.objects.create(slug="two", owner=site.owner))
    for _ in range(5):
        measured(first, busy())
    assert cost() == one


def test_a_frozen_release_is_not_measured_again(site: Site, first: WireNode) -> None:
    measured(first, busy())
    Release.objects.filter(pk=site.release.pk).update(state=ReleaseState.FROZEN)
    second_of(site)
    sweep()
    assert Evaluation.objects.get().state == "done"


def test_other_flags_move_nothing(site: Site, first: WireNode) -> None:
    flag = FlagReport(code="throttled", scope=FlagScope.TIME, detail="hot")
    measured(first, timed(5.0).model_copy(update={"flags": [flag]}))
    second_of(site)
    sweep()
    assert Evaluation.objects.get().state == "done"
    assert len(to_decide()) == 1


def test_a_rerun_that_a_person_asks_for_may_go_to_the_same_node(site: Site, first: WireNode) -> None:
    measured(first, busy())
    rerun(site.organiser, [Evaluation.objects.get()], "its machine is idle now")
    measured(first, timed(5.0))
    assert Evaluation.objects.get().current_result.flags.count() == 0
