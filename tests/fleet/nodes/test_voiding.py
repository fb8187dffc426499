"""Results of a revoked node: they stop counting, stay readable, and their samples are judged again."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from leaderboard.actions.rejudging import void_results
from leaderboard.actions.rejudging.apply_rejudge import apply
from leaderboard.actions.rejudging.rejudge import RejudgeScope, start
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.actions.submissions.rerun import rerun
from leaderboard.errors import Refused
from leaderboard.models import Evaluation, ProblemScore, ProblemTrack, Result, Standing, VoidedResult, Voiding
from leaderboard.standings.rank import rank_touched
from runners.fleet import tasks
from runners.fleet.models import Job
from runners.fleet.nodes import service
from tests.actions.rejudging.test_rejudge import FAILED, timed, work_all
from tests.admin.pages import act, text
from tests.fleet.site import Site, WireNode, add_node
from tests.made_once import copied, of_module
from tests.packs import problem

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _make() -> Site:
    """Three samples that node-1 passed, and node-2, which is well."""
    made = Site.make([problem("a/1"), problem("a/2"), problem("a/3")])
    made.submit({"a/1": ["exit 0"], "a/2": ["exit 0"], "a/3": ["exit 0"]})
    assert work_all(WireNode(), timed(5.0)) == 3
    rank_touched()
    add_node("node-2", made.track, "second")
    return made


made_site = of_module(_make)


site = copied


def counts() -> list[Any]:
    return list(ProblemScore.objects.order_by("pk").values_list("n_passed", "n_pending"))


def test_results_of_a_revoked_node_stop_counting_and_are_made_again(site: Site) -> None:
    page = text(act(site.organiser, "fleet_node", "void", site.node, reason="Its clock was set back."))
    assert "3 results are void" in page
    assert counts() == [(0, 1)] * 3
    rank_touched()
    assert Standing.objects.get().is_incomplete
    assert not ProblemTrack.objects.filter(has_rankable_baseline=True).exists()
    evaluation = Evaluation.objects.order_by("pk").first()
    assert evaluation is not None
    page = text(Client().get(evaluation.get_absolute_url()))
    assert "void" in page
    assert "Its clock was set back." in page
    assert work_all(WireNode(token="second"), timed(4.0)) == 3
    rank_touched()
    assert counts() == [(1, 0)] * 3
    standing = Standing.objects.get()
    assert (standing.is_incomplete, standing.pass_at_1) == (False, 1.0)
    assert ProblemTrack.objects.filter(has_rankable_baseline=True).count() == 3
    assert Result.objects.filter(evaluation=evaluation).count() == 2
    assert Voiding.objects.get().done_at is not None


def test_results_of_other_nodes_stay(site: Site) -> None:
    site.submit({"a/1": ["exit 7"]})
    work_all(WireNode(token="second"), timed(3.0))
    service.revoke_and_void(site.organiser, site.node, "why")
    assert set(Evaluation.objects.exclude(current_result=None).values_list("current_result__provenance__node")) == {
        ("node-2",)
    }


def test_a_period_bounds_it(site: Site) -> None:
    past, later = timezone.now() - timedelta(days=2), timezone.now() - timedelta(days=1)
    voiding = service.revoke_and_void(site.organiser, site.node, "why", past, later)
    assert (voiding.n_results, voiding.done_at is None) == (0, False)
    assert counts() == [(1, 0)] * 3
    assert service.revoke_and_void(site.organiser, site.node, "all of it", past).n_results == 3
    with pytest.raises(Refused, match="ends before it begins"):
        service.revoke_and_void(site.organiser, site.node, "why", later, past)


def test_doing_it_twice_voids_nothing_more(site: Site) -> None:
    for _ in range(2):
        service.revoke_and_void(site.organiser, site.node, "why")
    assert VoidedResult.objects.count() == 3
    assert Job.objects.filter(state="queued").count() == 3


def test_a_kill_between_steps_is_taken_up_by_the_sites_worker(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(void_results, "STEP", 2)
    monkeypatch.setattr(service, "MAX_STEPS", 1)
    voiding = service.revoke_and_void(site.organiser, site.node, "why")
    assert (voiding.n_results, voiding.done_at) == (2, None)
    tasks.void()
    voiding.refresh_from_db()
    assert voiding.n_results == 3
    assert voiding.done_at is not None
    assert counts() == [(0, 1)] * 3


def test_a_kill_within_a_step_leaves_all_as_it_was(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    voiding = void_results.start_voiding(site.organiser, "node-1", "why")
    with monkeypatch.context() as patched:
        patched.setattr("leaderboard.standings.scores.rescore_places", lambda _places: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            void_results.step(voiding)
    assert counts() == [(1, 0)] * 3
    assert Evaluation.objects.filter(state="done").count() == 3
    assert void_results.step(voiding) == 3


def test_a_rerun_under_way_only_loses_its_old_result(site: Site) -> None:
    rerun(site.organiser, list(Evaluation.objects.order_by("pk")[:1]), "again")
    service.revoke_and_void(site.organiser, site.node, "why")
    assert Job.objects.filter(state="queued").count() == 3
    assert work_all(WireNode(token="second"), timed(4.0)) == 3


def test_nothing_of_a_cancelled_submission_is_queued_again(site: Site) -> None:
    stuck = site.submit({"a/1": ["exit 4"], "a/2": ["exit 4"]})
    WireNode().report(WireNode().take(), timed(5.0))
    cancel(site.owner, stuck)
    service.revoke_and_void(site.organiser, site.node, "why")
    assert set(stuck.evaluations.values_list("state", flat=True)) == {"cancelled"}


def test_a_voided_result_stays_void(site: Site) -> None:
    service.revoke_and_void(site.organiser, site.node, "why")
    with pytest.raises(DatabaseError), transaction.atomic():
        VoidedResult.objects.all().delete()


def test_applied_rejudges_leave_void_results(site: Site) -> None:
    made = start(site.organiser, RejudgeScope(site.release), "why")
    work_all(WireNode(), FAILED)
    made.refresh_from_db()
    service.revoke_and_void(site.organiser, site.node, "why")
    work_all(WireNode(token="second"), timed(4.0))
    assert apply(site.organiser, made, "public") == {"voided": 3}
    assert counts() == [(1, 0)] * 3
