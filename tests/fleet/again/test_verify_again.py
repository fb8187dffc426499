"""References of published releases are verified again by the site: after some days, and after a change of a node."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import RequestFactory
from django.utils import timezone

from leaderboard.actions.curation.verify import verify
from leaderboard.admin import dashboard
from leaderboard.curation.verification import verifications
from leaderboard.models import Evaluation, Rejudge, Result
from problems.models import Release
from runners.fleet import tasks
from runners.fleet.again.verify_again import verify_again
from runners.fleet.dashboard import failed_verifications
from tests.actions.rejudging.test_rejudge import FAILED, timed, work_all
from tests.fleet.site import Site, WireNode, add_node
from tests.made_once import copied, of_module
from tests.packs import problem

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def node() -> WireNode:
    return WireNode()


def _make() -> Site:
    """Two problems whose references passed and whose empty solutions failed."""
    node = WireNode()
    made = Site.make([problem("a/1"), problem("a/2")])
    assert node.hello().status_code == 200
    verify(made.organiser, made.release, made.track)
    for work in node.take_up_to(100):
        mine = Evaluation.objects.select_related("submission__entrant").get(pk=work["evaluation"])
        good = mine.submission.entrant.slug == "_reference"
        assert node.report(work, timed(5.0) if good else FAILED).status_code == 200
    return made


made_site = of_module(_make)


site = copied


def days_later(monkeypatch: pytest.MonkeyPatch, node: WireNode, days: int) -> None:
    now = timezone.now() + timedelta(days=days)
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    node.hello()


def test_nothing_is_due_at_first(site: Site) -> None:
    assert verify_again() == 0


def test_after_the_days_the_references_run_again_in_shadow(
    site: Site, node: WireNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    days_later(monkeypatch, node, 6)
    assert verify_again() == 0
    days_later(monkeypatch, node, 2)
    assert [verify_again(), verify_again()] == [1, 0]
    made = Rejudge.objects.get()
    assert (made.is_verification, made.started_by, made.n_evaluations) == (True, None, 2)
    assert "last verified on" in made.reason
    assert work_all(node, timed(5.0)) == 2
    made.refresh_from_db()
    assert made.state == "dropped", "nothing failed, so nobody is asked"
    assert verify_again() == 0


def test_a_changed_image_is_reason_enough(site: Site, node: WireNode) -> None:
    for digit in "01":
        node.hello(capabilities={"cpu_cores": 2, "image": "sha256:" + digit * 64})
    assert verify_again() == 1
    assert "image sha256:000" in Rejudge.objects.get().reason


def test_a_changed_driver_is_reason_enough(site: Site, node: WireNode) -> None:
    node.hello(capabilities={"cpu_cores": 2, "toolkits": {"g++": "13.1"}})
    tasks.verify_again()
    assert Rejudge.objects.get().reason == "Node node-1 has changed: g++ none → 13.1."
    tasks.verify_again()
    assert Rejudge.objects.count() == 1


def test_a_failure_reaches_the_dashboard_and_changes_nothing_else(
    site: Site, node: WireNode, rf: RequestFactory
) -> None:
    before = [one.missing for one in verifications(site.release)], Result.objects.filter(verdict="passed").count()
    node.hello(capabilities={"cpu_cores": 2, "toolkits": {"g++": "13.1"}})
    verify_again()
    assert work_all(node, FAILED) == 2
    assert failed_verifications().count() == 1
    assert (
        [one.missing for one in verifications(site.release)],
        Result.objects.filter(verdict="passed").count(),
    ) == before
    request = rf.get("/admin/")
    request.user = User.objects.get(username="organiser")
    (panel,) = [one for one in dashboard.panels(request) if one.title == "References that fail again"]
    assert panel.count == "1"
    assert panel.lines[0].text == "test-1 on cpu-test"


def test_the_next_verification_takes_the_place_of_a_failed_one(site: Site, node: WireNode) -> None:
    node.hello(capabilities={"cpu_cores": 2, "toolkits": {"g++": "13.1"}})
    verify_again()
    work_all(node, FAILED)
    assert verify_again() == 0
    node.hello(capabilities={"cpu_cores": 2, "toolkits": {"g++": "13.2"}})
    assert verify_again() == 1
    work_all(node, timed(5.0))
    assert set(Rejudge.objects.values_list("state", flat=True)) == {"dropped"}
    assert not failed_verifications().exists()


@pytest.mark.parametrize("why", ["turned off", "no node online", "frozen", "never verified", "another node changed"])
def test_nothing_is_started(site: Site, node: WireNode, settings: Any, why: str) -> None:
    if why == "another node changed":
        add_node("node-2", site.track, "second").grants.all().delete()
        for version in ("1.0", "2.0"):
            WireNode(token="second").hello(capabilities={"toolkits": {"g++": version}})
    else:
        node.hello(capabilities={"cpu_cores": 2, "toolkits": {"g++": "13.1"}})
    if why == "turned off":
        settings.VERIFY_AGAIN_DAYS = 0
    if why == "no node online":
        type(site.node).objects.update(last_seen_at=None)
    if why == "frozen":
        Release.objects.update(state="frozen")
    if why == "never verified":
        Evaluation.objects.filter(submission__entrant__slug="_reference").update(current_result=None)
    assert verify_again() == 0
    assert not Rejudge.objects.exists()
