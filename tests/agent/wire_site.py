"""A stand-in for the site that speaks only what crosses the wire, so that its answers can be scripted.

The true site meets the true node in tests/e2e.
"""

import hashlib
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from celery import Celery

from problems.spec.command.problem import CommandProblem
from problems.spec.kinds import Kind
from problems.spec.solution import FileSolution
from runners.agent.link.client import SiteClient
from runners.wire.batches import AttemptBeat, Claimed, ClaimRequest, NodeBeat, NodeBeatReply
from runners.wire.broker import celery_settings
from runners.wire.job import Work
from runners.wire.protocol import (
    JUDGE_VERSIONS,
    BlobRef,
    Grant,
    Hello,
    HelloReply,
    ProblemRef,
    Report,
    ReportReply,
    Stage,
    TrackSpec,
    WireError,
)
from runners.wire.queues import GRADE, declared_by_site, queue_name
from tests.agent.machine import LIMITS, Files, ruled, sources

TOKEN = "node-token"


class WireSite:
    """Holds queue, blobs and what nodes said. `away` makes all answers 503; `refuse` maps the end of a path to one.

    Every job that is added gets its message, in a queue of this site's own: brokers are shared.
    """

    def __init__(self, broker_url: str = "memory://", folder: Path = Path()) -> None:
        self.track = f"cpu-{uuid4().hex[:8]}"
        self.queue_name = queue_name(self.track, Stage.BOTH)
        self.celery = Celery("site", set_as_current=False, fixups=[])
        self.celery.conf.update(celery_settings(broker_url, folder))
        self._messages = declared_by_site(self.queue_name)
        self.declare()
        self.grants = [Grant(track=self.track, stage=Stage.BOTH)]
        self.disabled_reason = ""
        self.hellos: list[Hello] = []
        self.queue: list[Work] = []
        self.blobs: dict[str, bytes] = {}
        self.put: dict[str, bytes] = {}
        self.reports: dict[UUID, Report] = {}
        self.released: list[UUID] = []
        self.heartbeats: list[AttemptBeat] = []
        self.beaten: list[tuple[UUID, str]] = []
        """Attempt and stage of each heartbeat."""
        self.claims: list[ClaimRequest] = []
        """One for each job that a claim asks for."""
        self.cancelled = False
        self.away = False
        self.blobs_are_down = False
        """Whether claims and uploads are answered 503."""
        self.refuse: dict[str, tuple[int, WireError]] = {}
        self.refused: list[str] = []
        self.changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def client(self) -> SiteClient:
        return SiteClient(self.url, TOKEN)

    def close(self) -> None:
        with self.celery.connection_for_write() as connection:
            self._messages(connection.default_channel).delete()
        self._server.shutdown()
        self._server.server_close()

    def add(self, problem: CommandProblem, files: Files, **fields: Any) -> Work:
        """Queue a sample. `fields` are of the work and of its rules."""
        solution = FileSolution(task_id=problem.task_id, files=sources(files)).to_line()
        rules, own = ruled({"limits": LIMITS} | fields)
        work = Work(
            attempt=uuid4(),
            attempt_token="attempt-token",
            number=1,
            evaluation=1,
            tenant="1",
            lease_seconds=5,
            heartbeat_seconds=0.1,
            track=TrackSpec(slug="cpu", device="cpu"),
            judge_version=JUDGE_VERSIONS[Kind.COMMAND],
            problem=ProblemRef(kind=Kind.COMMAND, profile="podium/1", record=self._blob(problem.to_line())),
            solution=self._blob(solution),
            rules=rules,
        ).model_copy(update=own)
        with self.changed:
            self.queue.append(work)
        self.publish()
        return work

    def publish(self, n: int = 1) -> None:
        """Messages, as top_up sends them."""
        for _ in range(n):
            self.celery.send_task(GRADE, args=[self.track, "both"], queue=self._messages, retry=False)

    def declare(self) -> int:
        """Returns the number of ready messages."""
        with self.celery.connection_for_write() as connection:
            return int(self._messages(connection.default_channel).queue_declare().message_count)

    @property
    def n_ready(self) -> int:
        return self.declare()

    def _blob(self, content: bytes) -> BlobRef:
        digest = hashlib.sha256(content).hexdigest()
        self.blobs[digest] = content
        return BlobRef(sha256=digest, size_bytes=len(content))

    def wait_until(self, condition: Callable[[], bool], seconds: float = 10) -> None:
        """Wait for what a request changes, or, looking again each 50 ms, for what the broker alone knows."""
        end = time.monotonic() + seconds
        with self.changed:
            while not condition():
                assert time.monotonic() < end, "the node did not do it in time"
                self.changed.wait(0.05)

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body for one call."""
        parts = path.removeprefix("/api/node/v1/").split("/")
        if self.away or (self.blobs_are_down and (method == "PUT" or parts[0] == "claim")):
            return 503, b""
        if parts[-1] in self.refuse:
            status, error = self.refuse[parts[-1]]
            self.refused.append(path)
            return status, error.model_dump_json().encode()
        if parts[0] == "hello":
            self.hellos.append(Hello.model_validate_json(body))
            reply = HelloReply(
                node="node-1",
                grants=self.grants,
                lease_seconds=5,
                heartbeat_seconds=0.1,
                disabled_reason=self.disabled_reason,
            )
            return 200, reply.model_dump_json().encode()
        if parts[0] == "heartbeat":
            return self._beat(NodeBeat.model_validate_json(body))
        if parts[0] == "claim":
            return self._claim(ClaimRequest.model_validate_json(body))
        return self._of_attempt(method, UUID(parts[1]), parts[2:], body)

    def _claim(self, request: ClaimRequest) -> tuple[int, bytes]:
        self.claims += [request] * (request.most or 1)
        if self.disabled_reason:
            return 403, WireError(code="node_disabled", message=self.disabled_reason).model_dump_json().encode()
        works = [self.queue.pop(0) for _ in range(min(request.most or 1, len(self.queue)))]
        return 200, Claimed(works=works).model_dump_json().encode()

    def _beat(self, said: NodeBeat) -> tuple[int, bytes]:
        self.heartbeats += said.beats
        self.beaten += [(one.attempt, one.stage) for one in said.beats]
        cancelled = [one.attempt for one in said.beats] if self.cancelled else []
        return 200, NodeBeatReply(cancelled=cancelled).model_dump_json().encode()

    def _of_attempt(self, method: str, attempt: UUID, what: list[str], body: bytes) -> tuple[int, bytes]:
        if what[0] == "blobs" and method == "GET":
            return 200, self.blobs[what[1]]
        if what[0] == "blobs":
            self.put[what[1]] = body
            return 201, b""
        if what[0] == "release":
            self.released.append(attempt)
            return 204, b""
        self.reports[attempt] = Report.model_validate_json(body)
        return 200, ReportReply(result=1).model_dump_json().encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                known = self.headers["Authorization"] == f"Bearer {TOKEN}"
                with site.changed:
                    status, answer = site.answer(self.command, self.path, body) if known else (401, b"{}")
                    site.changed.notify_all()
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = _serve  # noqa: N815 - the server's own names

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
