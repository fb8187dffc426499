"""Nodes' reports on their GPUs: kept within bounds, believed of themselves alone, and never a way back to work."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leaderboard.models import AuditEntry, Track
from runners.agent.ground.errors import SiteRefused
from runners.agent.link.client import SiteClient
from runners.fleet.models import GoldenRun, Node
from runners.fleet.nodes import health
from runners.fleet.nodes.service import enable
from runners.wire.health import GoldenReport, NodeHealth, PeaksReport
from runners.wire.protocol import PROTOCOL_VERSION, Peaks, Stage
from tests.fleet.site import NODE_TOKEN, Site, WireNode, add_node

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

UUID = "GPU-0aa00000-0000-0000-0000-00000000000a"
OTHER = "GPU-0bb00000-0000-0000-0000-00000000000b"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
PEAKS = Peaks(gbps=4000.0, gflops={"fp32": 55_000.0}, l2_bytes=60 << 20)


@pytest.fixture
def site() -> Site:
    made = Site.make()
    Node.objects.update(capabilities=capabilities())
    return made


@pytest.fixture
def node() -> WireNode:
    return WireNode()


def capabilities(*names: str) -> dict[str, Any]:
    gpus = [
        {"uuid": uuid, "name": name, "compute_capability": "9.0"}
        for uuid, name in zip([UUID, OTHER], names or ["NVIDIA H200"], strict=False)
    ]
    return {"gpus": gpus, "toolkits": {"nvcc": "13.0.88"}, "profilers": ["cupti"]}


def gpu_track(slug: str = "nvidia-h200-cuda13.0", hardware: str = "NVIDIA H200", **fields: Any) -> Track:
    return Track.objects.create(
        slug=slug, title=slug, device="gpu", hardware_name=hardware, compute_capability="9.0", toolkit="13.0", **fields
    )


def golden(hour: int = 0, drift: float | None = None, **fields: Any) -> GoldenReport:
    said = {"gpu_uuid": UUID, "name": "compute", "median_ms": 5.0, "low_ms": 4.9, "high_ms": 5.2} | fields
    return GoldenReport(drift=drift, ran_at=NOON + timedelta(hours=hour), **said)


def peaks(uuid: str = UUID, **fields: Any) -> PeaksReport:
    return PeaksReport(gpu_uuid=uuid, measured_at=NOON, **({"peaks": PEAKS} | fields))


def tell(node: WireNode, **said: Any) -> Any:
    body = NodeHealth(**({"protocol_version": PROTOCOL_VERSION} | said))
    return node._post("health", body.model_dump_json())


def test_a_stranger_is_not_listened_to(site: Site) -> None:
    answer = tell(WireNode(token="wrong"), drain="ha", golden=[golden()])
    assert (answer.status_code, answer.json()["code"]) == (401, "unknown_node")
    assert not GoldenRun.objects.exists()
    assert Node.objects.get().disabled_reason == ""


def test_health_is_said_by_post_in_this_protocol_or_not_at_all(site: Site, node: WireNode) -> None:
    assert node.http.get("/api/node/v1/health").status_code == 405
    assert tell(node, protocol_version=99).status_code == 426
    assert node._post("health", "{}").status_code == 400


def test_golden_runs_are_kept_once_however_often_they_are_said(site: Site, node: WireNode) -> None:
    for _ in range(2):
        assert tell(node, golden=[golden(), golden(name="copy")]).json() == {"disabled_reason": ""}
    assert sorted(GoldenRun.objects.values_list("name", "median_ms", "ran_at")) == [
        ("compute", 5.0, NOON),
        ("copy", 5.0, NOON),
    ]


def test_the_last_drift_is_that_of_the_part_that_is_furthest_off(site: Site, node: WireNode) -> None:
    tell(node, golden=[golden()])
    assert Node.objects.get().last_drift is None
    tell(node, golden=[golden(1, drift=0.5), golden(2, drift=0.01), golden(2, drift=-0.015, name="copy")])
    assert Node.objects.get().last_drift == -0.015


def test_only_the_newest_runs_of_each_node_are_kept(
    site: Site, node: WireNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "KEPT_RUNS", 10)
    add_node("node-2", site.track, "second")
    tell(WireNode(token="second"), golden=[golden()])
    for start in (0, 6, 12):
        tell(node, golden=[golden(hour) for hour in range(start, start + 6)])
    mine = GoldenRun.objects.filter(node=site.node).order_by("ran_at")
    assert [run.ran_at for run in mine] == [NOON + timedelta(hours=hour) for hour in range(8, 18)]
    assert GoldenRun.objects.exclude(node=site.node).count() == 1


@pytest.mark.parametrize(
    "body",
    [
        '{"protocol_version": 1, "golden": [{"gpu_uuid": "<b>", "name": "compute", "median_ms": 1, "low_ms": 1, '
        '"high_ms": 1, "ran_at": "2026-11-21T12:00:00Z"}]}',
        '{"protocol_version": 1, "golden": [{"gpu_uuid": "GPU-a", "name": "compute", "median_ms": 1e999, "low_ms": 1, '
        '"high_ms": 1, "ran_at": "2026-11-21T12:00:00Z"}]}',
        '{"protocol_version": 1, "golden": [{"gpu_uuid": "GPU-a", "name": "compute", "median_ms": 1, "low_ms": 1, '
        '"high_ms": 1, "ran_at": "2026-11-21T12:00:00"}]}',
        '{"protocol_version": 1, "drain": "' + "x" * 401 + '"}',
    ],
)
def test_nonsense_is_refused_whole(site: Site, node: WireNode, body: str) -> None:
    assert node._post("health", body).status_code == 400
    assert not GoldenRun.objects.exists()


def test_a_draining_node_is_disabled_with_its_reason_and_gets_no_work(site: Site, node: WireNode) -> None:
    site.submit({"a/1": ["exit 0"], "a/2": ["exit 0"]})
    reply = tell(node, drain="GPU-a: Xid 79: the GPU has fallen off the bus").json()
    assert reply == {"disabled_reason": "drained: GPU-a: Xid 79: the GPU has fallen off the bus"}
    assert node.claim().status_code == 403
    assert Node.objects.get().out_of_service == "disabled"
    entry = AuditEntry.objects.get(action="drain")
    assert (entry.actor_name, entry.target) == ("system", "node node-1")


def test_draining_twice_for_one_reason_is_one_entry(site: Site, node: WireNode) -> None:
    for _ in range(2):
        tell(node, drain="it hangs")
    assert AuditEntry.objects.filter(action="drain").count() == 1


def test_a_node_cannot_enable_itself_nor_speak_over_an_organiser(site: Site, node: WireNode) -> None:
    tell(node, drain="it hangs")
    tell(node)
    assert Node.objects.get().disabled_reason == "drained: it hangs"
    Node.objects.update(disabled_reason="fan broken")
    assert tell(node, drain="it drifts").json() == {"disabled_reason": "fan broken"}


def test_an_organiser_enables_it_and_it_hears_so(site: Site, node: WireNode) -> None:
    tell(node, drain="it hangs")
    enable(site.organiser, site.node)
    assert tell(node).json() == {"disabled_reason": ""}


def test_the_first_peaks_of_a_node_that_runs_a_track_become_the_tracks(site: Site, node: WireNode) -> None:
    track = gpu_track()
    site.node.grants.create(track=track, stage=Stage.RUN)
    tell(node, peaks=[peaks(how={"fp32": "multiply-adds"})])
    track.refresh_from_db()
    assert track.peaks == PEAKS.model_dump(mode="json")
    assert Node.objects.get().peaks[UUID]["how"] == {"fp32": "multiply-adds"}
    tell(node, peaks=[peaks(peaks=Peaks(gbps=1.0))])
    track.refresh_from_db()
    assert track.peaks["gbps"] == 4000.0
    assert Node.objects.get().peaks[UUID]["peaks"]["gbps"] == 1.0


@pytest.mark.parametrize(
    ("hardware", "stage"), [("NVIDIA H100", Stage.RUN), ("NVIDIA H200", Stage.BUILD)], ids=["other GPU", "builder"]
)
def test_peaks_do_not_become_those_of_a_track_that_the_node_does_not_run(
    site: Site, node: WireNode, hardware: str, stage: Stage
) -> None:
    track = gpu_track(hardware=hardware)
    site.node.grants.create(track=track, stage=stage)
    tell(node, peaks=[peaks()])
    track.refresh_from_db()
    assert track.peaks == {}


def test_each_track_gets_the_peaks_of_its_own_kind_of_gpu(site: Site, node: WireNode) -> None:
    Node.objects.update(capabilities=capabilities("NVIDIA H100", "NVIDIA H200"))
    track = gpu_track()
    site.node.grants.create(track=track, stage=Stage.RUN)
    tell(node, peaks=[peaks(UUID, peaks=Peaks(gbps=3000.0)), peaks(OTHER)])
    track.refresh_from_db()
    assert track.peaks["gbps"] == 4000.0


@pytest.mark.django_db(transaction=True)
def test_what_the_agents_own_client_says_is_understood(live_server: Any) -> None:
    Site.make()
    client = SiteClient(live_server.url, NODE_TOKEN)
    assert client.health(NodeHealth(protocol_version=PROTOCOL_VERSION, golden=[golden()])).disabled_reason == ""
    reply = client.health(NodeHealth(protocol_version=PROTOCOL_VERSION, drain="it hangs"))
    assert reply.disabled_reason == "drained: it hangs"
    assert GoldenRun.objects.count() == 1
    with pytest.raises(SiteRefused, match="401"):
        SiteClient(live_server.url, "wrong").health(NodeHealth(protocol_version=PROTOCOL_VERSION))
