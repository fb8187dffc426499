"""The node asks a site that is away again, except where an answer that got lost has changed something already."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest

from runners.agent.ground.errors import SiteRefused, SiteUnavailable
from runners.agent.identity import Joined
from runners.agent.link.client import SPREAD, SiteClient
from runners.wire.alive import HEADER
from runners.wire.batches import ClaimRequest, NodeBeat
from runners.wire.protocol import PROTOCOL_VERSION, Stage

RESULT = b'{"result": 7}'


class Site:
    """Gives the queued answers (status, headers, body) in turn; the last one stays."""

    def __init__(self, *answers: tuple[int, dict[str, str], bytes]) -> None:
        self.answers = list(answers)
        self.bodies: list[bytes] = []
        self.headers: list[Message] = []
        self.url = ""

    def answer(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        self.bodies.append(body)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def _handler_of(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            site.headers.append(self.headers)
            status, headers, body = site.answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@contextmanager
def serving(*answers: tuple[int, dict[str, str], bytes]) -> Iterator[tuple[Site, SiteClient]]:
    site = Site(*answers)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(site))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site, SiteClient(f"http://127.0.0.1:{server.server_address[1]}", "token")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def _without_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runners.agent.link.client.BACKOFF_SECONDS", 0.001)
    monkeypatch.setattr("runners.agent.link.client.JITTER_SECONDS", 0.0)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_report_is_sent_again_until_the_site_is_back(status: int) -> None:
    with serving((status, {}, b""), (status, {}, b""), (200, {}, RESULT)) as (site, client):
        assert client.report(uuid4(), "secret", b"{}").result == 7
        assert site.bodies == [b"{}"] * 3


def test_the_node_gives_up_after_four_tries() -> None:
    with serving((503, {}, b"")) as (site, client):
        with pytest.raises(SiteUnavailable, match="answers 503"):
            client.report(uuid4(), "secret", b"{}")
        assert len(site.bodies) == 4


def test_a_refusal_is_final() -> None:
    with serving((409, {}, b'{"code": "late", "message": "the lease is over"}')) as (site, client):
        with pytest.raises(SiteRefused, match="the lease is over"):
            client.report(uuid4(), "secret", b"{}")
        assert len(site.bodies) == 1


def test_a_claim_is_not_repeated_even_where_the_site_says_when_to_come_back() -> None:
    request = ClaimRequest(protocol_version=PROTOCOL_VERSION, stage=Stage.BOTH, track="cpu")
    with serving((503, {"Retry-After": "0"}, b"")) as (site, client):
        with pytest.raises(SiteUnavailable):
            client.claim(request)
        assert len(site.bodies) == 1


def test_a_heartbeat_is_not_repeated() -> None:
    with serving((503, {}, b"")) as (site, client):
        with pytest.raises(SiteUnavailable):
            client.beat(NodeBeat())
        assert len(site.bodies) == 1


def test_the_site_says_when_to_come_back_up_to_a_bound_and_nodes_spread_out(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", waits.append)
    answers = [(429, {"Retry-After": seconds}, b"") for seconds in ("7", "3600")]
    with serving(*answers, (200, {}, RESULT)) as (_, client):
        client.report(uuid4(), "secret", b"{}")
    assert 7 <= waits[0] <= 7 * SPREAD
    assert 30 <= waits[1] <= 30 * SPREAD
    assert waits[0] / 7 != waits[1] / 30


def test_a_call_that_is_not_repeated_notes_how_long_the_site_wants_no_other() -> None:
    with serving((503, {"Retry-After": "7"}, b"")) as (_, client):
        assert client.pause_seconds == 0
        with pytest.raises(SiteUnavailable):
            client.beat(NodeBeat())
        assert 6 < client.pause_seconds <= 7 * SPREAD


def test_each_call_names_the_attempts_alive() -> None:
    with serving((200, {}, RESULT)) as (site, client):
        alive = [uuid4(), uuid4()]
        client.report(alive[0], "secret", b"{}")
        client.alive = lambda: alive
        client.report(alive[0], "secret", b"{}")
    assert [headers.get(HEADER) for headers in site.headers] == [None, ",".join(one.hex for one in alive)]


def test_a_site_that_cannot_be_reached_is_named_with_the_cause() -> None:
    with serving((200, {}, RESULT)) as (_, client):
        pass
    with pytest.raises(SiteUnavailable, match=r"cannot be reached: .*refused"):
        client.report(uuid4(), "secret", b"{}")


def test_a_first_join_without_a_site_names_the_network_and_not_the_missing_token(tmp_path: Path) -> None:
    with pytest.raises(SiteUnavailable, match=r"cannot be reached: .*refused"):
        Joined(tmp_path, "http://127.0.0.1:9", "join").token()
