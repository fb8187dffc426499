"""Nodes out of service and back: drain, maintenance, disable, revoke; tokens, tracks of their hardware, faults."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import AuditEntry, Evaluation, Track
from runners.fleet.attempts.returns import lose
from runners.fleet.models import Attempt, AttemptState, Node, NodeChange
from runners.fleet.nodes import enrol, service
from tests.admin.pages import act, signed_in, text
from tests.fleet.site import Site, WireNode

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
NODE = "fleet_node"
GPU = {"uuid": "GPU-a", "name": "NVIDIA H200", "compute_capability": "9.0", "driver": "570.1"}
MACHINE = {
    "cpu_model": "AMD EPYC 9654 96-Core Processor",
    "gpus": [GPU],
    "toolkits": {"nvcc": "13.0.88", "g++": "12.2.0"},
    "profilers": ["cupti"],
}


@pytest.fixture
def site() -> Site:
    return Site.make()


@pytest.fixture
def node() -> WireNode:
    return WireNode()


@pytest.mark.parametrize(
    ("name", "said", "words"),
    [
        ("drain", {"reason": "moves racks"}, "draining"),
        ("maintain", {"reason": "new fans", "back_at": "2099-01-02 03:04"}, "maintenance until"),
        ("disable", {"reason": "odd times"}, "disabled"),
        ("revoke", {"reason": "stolen"}, "revoked"),
    ],
)
def test_a_node_out_of_service_gets_no_work_and_says_why(
    site: Site, node: WireNode, name: str, said: dict[str, Any], words: str
) -> None:
    site.submit({"a/1": ["exit 0"]})
    assert act(site.organiser, NODE, name, site.node, **said).status_code == 200
    assert node.claim().status_code in (401, 403)
    for page in (Client().get("/nodes/"), Client().get("/nodes/node-1/")):
        assert said["reason"] in text(page)
    assert words in " ".join(text(Client().get("/nodes/node-1/")).lower().split())
    assert AuditEntry.objects.filter(target="node node-1", reason=said["reason"]).exists()


def test_a_drained_node_finishes_its_work_and_comes_back(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    work = node.take()
    service.drain(site.organiser, site.node)
    assert node.report(work).status_code == 200
    assert node.claim().status_code == 403
    act(site.organiser, NODE, "enable", site.node)
    assert node.claim().status_code == 200
    assert Node.objects.get().service == "in_service"


def test_maintenance_may_not_end_in_the_past(site: Site) -> None:
    answer = act(site.organiser, NODE, "maintain", site.node, reason="fans", back_at="2020-01-01 00:00")
    assert answer.status_code == 422
    assert "has passed" in text(answer)
    assert Node.objects.get().disabled_reason == ""


@pytest.mark.parametrize("name", ["drain", "maintain", "disable", "revoke", "void"])
def test_each_needs_a_reason(site: Site, name: str) -> None:
    assert act(site.organiser, NODE, name, site.node, reason=" ").status_code == 422
    assert Node.objects.get().service == "in_service"


def test_a_new_token_is_shown_once_and_the_old_one_refused(site: Site, node: WireNode) -> None:
    page = text(act(site.organiser, NODE, "renew", site.node))
    secret = page.split("PODIUM_NODE_TOKEN=")[1].split()[0]
    assert node.hello().status_code == 401
    assert WireNode(token=secret).hello().status_code == 200
    assert secret not in text(signed_in(site.organiser).get(reverse("admin:fleet_node_change", args=[site.node.pk])))
    assert not AuditEntry.objects.filter(detail__icontains=secret).exists()


def test_a_revoked_node_gives_its_work_back_and_stays_out(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"]})
    work = node.begin(node.take())
    service.revoke(site.organiser, site.node, "stolen")
    assert node.report(work).status_code == 401
    assert Attempt.objects.get().state == "given_back"
    assert Evaluation.objects.get().state == "queued"
    for again in (service.enable, service.renew_token):
        with pytest.raises(Conflict, match="revoked for good"):
            again(site.organiser, site.node)
    with pytest.raises(Conflict, match="revoked for good"):
        service.disable(site.organiser, site.node, "x")


def test_only_organisers_do_any_of_it(site: Site) -> None:
    for step in (service.disable, service.maintain, service.revoke, service.revoke_and_void, service.drain):
        with pytest.raises(NotAllowed):
            step(site.owner, site.node, "mine now")
    for again in (service.enable, service.renew_token):
        with pytest.raises(NotAllowed):
            again(site.owner, site.node)
    for name in ("tracks", "drain", "maintain", "disable", "renew", "rejudge", "revoke", "void"):
        for browser in (Client(), signed_in(site.owner)):
            address = reverse("admin:fleet_node_act", args=[site.node.pk, name])
            assert browser.post(address, {"reason": "x"}).status_code == 302
    assert Node.objects.get().service == "in_service"


def test_a_track_of_its_gpu_and_one_of_its_cpu_by_a_click(site: Site, node: WireNode) -> None:
    node.hello(capabilities=MACHINE)
    address = reverse("admin:fleet_node_act", args=[site.node.pk, "tracks"])
    page = text(signed_in(site.organiser).get(address))
    assert "NVIDIA H200, CUDA 13.0" in page
    assert "AMD EPYC 9654, g++ 12.2" in page
    assert not Track.objects.filter(device="gpu").exists()
    drafts = {one.slug for one in enrol.track_drafts(Node.objects.get())}
    answer = act(site.organiser, NODE, "tracks", site.node, tracks=sorted(drafts))
    assert "serves" in text(answer)
    assert set(Track.objects.values_list("slug", flat=True)) == {*drafts, "cpu-test"}
    assert Track.objects.get(device="gpu").toolkit == "13.0"
    assert "(exists)" in text(signed_in(site.organiser).get(address))


def test_no_track_of_a_node_that_has_said_nothing(site: Site) -> None:
    with pytest.raises(Refused, match="has not reported its hardware"):
        enrol.track_drafts(site.node)
    assert act(site.organiser, NODE, "tracks", site.node).status_code == 422
    assert act(site.organiser, NODE, "tracks", site.node, tracks=["made-up"]).status_code == 422


def test_a_changed_driver_toolkit_or_sandbox_is_noted_once(site: Site, node: WireNode) -> None:
    for _ in range(2):
        node.hello(capabilities=MACHINE)
    assert not NodeChange.objects.exists()
    newer = MACHINE | {"gpus": [GPU | {"driver": "580.2"}], "sandbox": "docker"}
    for _ in range(2):
        node.hello(capabilities=newer)
    assert [one.words for one in NodeChange.objects.all()] == ["driver 570.1 → 580.2; sandbox none → docker"]
    assert "driver 570.1 → 580.2" in text(Client().get("/nodes/node-1/"))


def test_faults_are_drawn_by_day_with_the_same_numbers_as_a_table(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    lose(Attempt.objects.get(pk=node.take()["attempt"]), AttemptState.FAULTED, "disk full")
    lose(Attempt.objects.get(pk=node.take()["attempt"]), AttemptState.EXPIRED, "silent")
    old = Attempt.objects.get(pk=node.take()["attempt"])
    lose(old, AttemptState.EXPIRED, "silent")
    Attempt.objects.filter(pk=old.pk).update(ended_at=timezone.now() - timedelta(days=60))
    drawn = Client().get("/nodes/node-1/faults.json").json()["data"]
    assert {trace["name"]: sum(trace["y"]) for trace in drawn} == {
        "Lost leases": 1, "Platform errors": 1, "Given back": 0,
    }  # fmt: skip
    page = " ".join(text(Client().get("/nodes/node-1/")).split())
    assert f'<th scope="row">{timezone.now():%Y-%m-%d}</th><td class="num">1</td><td class="num">1</td>' in page
