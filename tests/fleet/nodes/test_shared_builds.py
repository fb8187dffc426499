"""A build of a problem's own code is made by one node and fetched by the others, where the site vouches for it."""

import hashlib
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from leaderboard import blobs
from runners.agent.ground.errors import Cancelled, SiteRefused, SiteUnavailable
from runners.agent.job.build_cache import Build
from runners.agent.link import shared_builds as of_node
from runners.agent.link.shared_builds import SharedBuilds
from runners.fleet.models import JoinToken, Node, Service, SharedBuild
from runners.fleet.nodes import shared_builds
from runners.wire.protocol import BUILD_DIGEST, GpuCapability, WireError
from tests.fleet.site import NODE_TOKEN, Site, WireNode, add_node

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
KEY = "a" * 64
MADE = Build(key=KEY, exit_code=0, stdout="done", product=b"\x7fELF")


class Client:
    """The node's calls, through Django's client."""

    def __init__(self, token: str = NODE_TOKEN) -> None:
        self.http = WireNode(token=token).http
        self._headers = {"Authorization": f"Bearer {token}"}

    def ask_build(self, key: str) -> tuple[int, bytes]:
        answer = self._answered(self.http.post(f"/api/node/v1/builds/{key}", headers=self._headers))
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        if answer.status_code == 200:
            assert answer[BUILD_DIGEST] == hashlib.sha256(content).hexdigest()
        return answer.status_code, content

    def put_build(self, key: str, content: bytes) -> None:
        self._answered(
            self.http.put(
                f"/api/node/v1/builds/{key}", content, content_type="application/octet-stream", headers=self._headers
            )
        )

    @staticmethod
    def _answered(answer: Any) -> Any:
        if answer.status_code >= 400:
            raise SiteRefused(answer.status_code, WireError.model_validate_json(answer.content))
        return answer


def builds(token: str = NODE_TOKEN, gpu: str = "") -> SharedBuilds:
    gpus = [GpuCapability(uuid="GPU-1", name=gpu, compute_capability="9.0")] if gpu else []
    return SharedBuilds(Client(token), gpus)  # type: ignore[arg-type]


def find(of: SharedBuilds, seconds: float = 0.0) -> Build | None:
    return of.find(KEY, threading.Event(), seconds)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(of_node, "FIRST_PAUSE_SECONDS", 0.01)
    made = Site.make()
    add_node("node-2", made.track, "second")
    token = JoinToken.objects.create(
        name="cloud", token_digest="x", most_nodes=5, expires_at=timezone.now() + timedelta(days=1)
    )
    Node.objects.filter(pk=add_node("joined", made.track, "third").pk).update(joined_by=token)
    return made


@pytest.mark.usefixtures("site")
def test_a_build_is_made_once_and_fetched_by_all_other_nodes() -> None:
    first, second, joined = builds(), builds("second"), builds("third")
    assert find(first) is None
    assert find(second) is None  # it is being made, and this node waits no longer
    second.settle(KEY, MADE)  # not begun for all: kept by the node
    assert not SharedBuild.objects.get().sha256
    first.settle(KEY, MADE)
    for node in (second, joined, builds()):
        found = find(node)
        assert found is not None
        assert (found.key, found.product, found.stdout, found.cached) == (KEY, b"\x7fELF", "done", True)
    row = SharedBuild.objects.get()
    assert (row.node.slug, blobs.store().has(row.sha256)) == ("node-1", True)


@pytest.mark.usefixtures("site")
def test_a_node_waits_for_another_s_build_until_it_is_there_or_the_job_ends() -> None:
    first, second = builds(), builds("second")
    assert find(first) is None
    ask, asked = second._client.ask_build, []

    def after_the_second(key: str) -> tuple[int, bytes]:
        asked.append(key)
        if len(asked) == 2:
            first.settle(KEY, MADE)
        return ask(key)

    second._client.ask_build = after_the_second  # type: ignore[method-assign]
    assert find(second, seconds=30) is not None
    cancelled = threading.Event()
    cancelled.set()
    SharedBuild.objects.update(sha256="")
    with pytest.raises(Cancelled):
        second.find(KEY, cancelled, 30)


@pytest.mark.usefixtures("site")
def test_a_build_that_failed_or_never_came_is_begun_by_another_node() -> None:
    first, second = builds(), builds("second")
    assert find(first) is None
    first.settle(KEY, None)
    assert not SharedBuild.objects.exists()
    assert find(second) is None
    assert SharedBuild.objects.get().node.slug == "node-2"
    SharedBuild.objects.update(at=timezone.now() - shared_builds.BUILDING_FOR)
    assert find(first) is None
    assert SharedBuild.objects.get().node.slug == "node-1"


@pytest.mark.usefixtures("site")
def test_a_joined_node_brings_none_and_holds_up_nobody() -> None:
    joined = builds("third")
    assert find(joined) is None
    assert not SharedBuild.objects.exists()
    with pytest.raises(SiteRefused) as refused:
        Client("third").put_build(KEY, b"a trap")
    assert (refused.value.status, refused.value.error.code) == (409, "not_begun")
    assert not SharedBuild.objects.exists()


@pytest.mark.parametrize("service", [Service.REVOKED, Service.DISABLED])
def test_builds_of_a_node_that_was_put_out_of_service_are_made_anew(site: Site, service: Service) -> None:
    first, second = builds(), builds("second")
    find(first)
    first.settle(KEY, MADE)
    Node.objects.filter(pk=site.node.pk).update(service=service)
    assert find(second) is None
    second.settle(KEY, MADE)
    assert SharedBuild.objects.get().node.slug == "node-2"


@pytest.mark.usefixtures("site")
def test_a_build_whose_blob_is_gone_or_is_another_s_is_made_anew() -> None:
    first, second = builds(), builds("second")
    find(first)
    first.settle(KEY, MADE)
    blobs.store().delete(SharedBuild.objects.get().sha256)
    assert find(second) is None
    second.settle(KEY, MADE)
    SharedBuild.objects.update(sha256=blobs.store().put(b"{}\n"))
    assert find(first) is None


@pytest.mark.usefixtures("site")
def test_another_kind_of_gpu_has_builds_of_its_own() -> None:
    first = builds(gpu="NVIDIA H100")
    find(first)
    first.settle(KEY, MADE)
    assert find(builds("second", gpu="NVIDIA H100")) is not None
    assert find(builds("second", gpu="NVIDIA H200")) is None


@pytest.mark.usefixtures("site")
def test_a_stranger_and_a_build_that_nobody_began_are_refused() -> None:
    for call in (lambda: Client("unknown").ask_build(KEY), lambda: Client("unknown").put_build(KEY, b"x")):
        with pytest.raises(SiteRefused) as refused:
            call()
        assert refused.value.status == 401
    with pytest.raises(SiteRefused) as refused:
        Client().put_build(KEY, b"x")
    assert refused.value.error.code == "not_begun"
    assert WireNode().http.post("/api/node/v1/builds/nonsense").status_code == 404


def test_a_node_whose_site_is_away_builds_by_itself() -> None:
    def away(*_: Any) -> Any:
        raise SiteUnavailable("away")

    alone = builds()
    alone._client.ask_build = alone._client.put_build = away  # type: ignore[method-assign]
    assert find(alone, seconds=30) is None
    alone._begun.add(KEY)
    alone.settle(KEY, MADE)
