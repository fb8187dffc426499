"""Speaks to the site's node API: kept connections for each thread, patience with a site that is away."""

import hashlib
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar
from uuid import UUID

import requests
from pydantic import BaseModel, ValidationError
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from urllib3.response import BaseHTTPResponse
from urllib3.util import Retry

from runners.agent.ground.errors import SiteRefused, SiteUnavailable
from runners.wire.alive import header_of
from runners.wire.batches import Claimed, ClaimRequest, NodeBeat, NodeBeatReply
from runners.wire.health import NodeHealth, NodeHealthReply
from runners.wire.join import JoinReply, JoinRequest
from runners.wire.protocol import (
    BUILD_DIGEST,
    BlobRef,
    Hello,
    HelloReply,
    Report,
    ReportReply,
    WireError,
)

ROOT = "/api/node/v1"
CONNECT_SECONDS, READ_SECONDS = 5.0, 60.0
TRIES = 4
BACKOFF_SECONDS = 0.3
"""The first retry comes at once, the next after twice this, and each later one after twice as long again."""
JITTER_SECONDS = 0.3
MAX_RETRY_AFTER_SECONDS = 30
SPREAD = 1.5
"""The site's Retry-After is lengthened by a random factor up to this, so that nodes do not come back together."""
RETRIED = frozenset({429, 500, 502, 503, 504})

M = TypeVar("M", bound=BaseModel)


class BearerAuth(AuthBase):
    """Sends the node's token. As a plain header it would be replaced by the machine's .netrc."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class SiteClient:
    """The calls of runners/wire/protocol.py. All may raise SiteUnavailable and SiteRefused.

    `alive` returns the attempts that the node works on. Each call names them, so that each renews their leases.
    """

    def __init__(self, site_url: str, token: str) -> None:
        self._root = f"{site_url}{ROOT}"
        self._token = token
        self._local = threading.local()
        self._busy_until = 0.0
        self.alive: Callable[[], Iterable[UUID]] = tuple

    @property
    def pause_seconds(self) -> float:
        """How long the site wants no call that can wait."""
        return max(self._busy_until - time.monotonic(), 0.0)

    def hello(self, hello: Hello) -> HelloReply:
        return _read(HelloReply, self._call("POST", "/hello", body=_json(hello)))

    def health(self, health: NodeHealth) -> NodeHealthReply:
        """Report the health of the node's GPUs. A repetition changes nothing."""
        return _read(NodeHealthReply, self._call("POST", "/health", body=_json(health)))

    def join(self, request: JoinRequest) -> JoinReply:
        """Become a node; this client's token is a join token. Not retried: a lost answer has made a node."""
        return _read(JoinReply, self._call("POST", "/join", body=_json(request), tries=1))

    def leave(self) -> None:
        """Retire this node, if it has joined."""
        self._call("POST", "/leave", body=b"{}", tries=2)

    def claim(self, request: ClaimRequest) -> Claimed:
        """Claim jobs. Not retried, because a lost answer has leased its jobs already."""
        return _read(Claimed, self._call("POST", "/claim", body=_json(request), tries=1))

    def beat(self, beat: NodeBeat) -> NodeBeatReply:
        """The node's heartbeat for all its attempts."""
        return _read(NodeBeatReply, self._call("POST", "/heartbeat", body=_json(beat), tries=1))

    def release(self, attempt: UUID, attempt_token: str) -> None:
        """Return a lease."""
        self._of_attempt("POST", attempt, attempt_token, "release", b"{}", tries=2)

    def get_blob(self, attempt: UUID, attempt_token: str, blob: BlobRef) -> bytes:
        """Fetch a file of a leased job and check its digest."""
        content = self._of_attempt("GET", attempt, attempt_token, f"blobs/{blob.sha256}").content
        if hashlib.sha256(content).hexdigest() != blob.sha256:
            raise SiteUnavailable(f"the blob {blob.sha256} arrived damaged")
        return content

    def put_blob(self, attempt: UUID, attempt_token: str, sha256: str, content: bytes) -> None:
        self._of_attempt("PUT", attempt, attempt_token, f"blobs/{sha256}", content, "application/octet-stream")

    def ask_build(self, key: str) -> tuple[int, bytes]:
        """A build of a problem's own code: 200 and the build, or what to do, as `Advice` of the site says."""
        answer = self._call("POST", f"/builds/{key}", body=b"", tries=1)
        content = answer.content
        if answer.status_code == 200 and hashlib.sha256(content).hexdigest() != answer.headers.get(BUILD_DIGEST):
            raise SiteUnavailable(f"the build {key} arrived damaged")
        return answer.status_code, content

    def put_build(self, key: str, content: bytes) -> None:
        """Bring a build that this node began; nothing if it failed."""
        self._call("PUT", f"/builds/{key}", {"Content-Type": "application/octet-stream"}, content, tries=2)

    def report(self, attempt: UUID, attempt_token: str, body: bytes) -> ReportReply:
        """Send a `Report` as JSON. The bytes are the same at each retry, so that a repetition is harmless."""
        return _read(ReportReply, self._of_attempt("POST", attempt, attempt_token, "report", body))

    def _of_attempt(
        self,
        method: str,
        attempt: UUID,
        attempt_token: str,
        what: str,
        body: bytes | None = None,
        kind: str = "application/json",
        tries: int = TRIES,
    ) -> requests.Response:
        headers = {"X-Podium-Attempt": attempt_token, "Content-Type": kind}
        return self._call(method, f"/attempts/{attempt}/{what}", headers, body, tries)

    def _call(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        tries: int = TRIES,
    ) -> requests.Response:
        try:
            answer = self._session(tries).request(
                method,
                self._root + path,
                data=body,
                headers={"Content-Type": "application/json", **(headers or {}), **header_of(self.alive())},
                timeout=(CONNECT_SECONDS, READ_SECONDS),
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise SiteUnavailable(f"{self._root} cannot be reached: {_innermost(error)}") from error
        if answer.status_code in RETRIED:
            self._busy_until = time.monotonic() + _retry_after_seconds(answer)
            raise SiteUnavailable(f"{self._root} answers {answer.status_code}")
        if answer.status_code >= 300:
            raise SiteRefused(answer.status_code, _wire_error(answer))
        return answer

    def _session(self, tries: int) -> requests.Session:
        sessions: dict[int, requests.Session] = self._local.__dict__.setdefault("sessions", {})
        if tries not in sessions:
            sessions[tries] = self._new_session(tries)
        return sessions[tries]

    def _new_session(self, tries: int) -> requests.Session:
        session = requests.Session()
        session.auth = BearerAuth(self._token)
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(pool_connections=1, pool_maxsize=1, max_retries=_retry(tries)))
        return session


class _Spread(Retry):
    """Retries that do not come in step with those of other nodes."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        seconds = super().get_retry_after(response)
        return None if seconds is None else _spread(seconds)


def _spread(seconds: float) -> float:
    return seconds * random.uniform(1.0, SPREAD)  # noqa: S311 - no secret


def _retry_after_seconds(answer: requests.Response) -> float:
    text = answer.headers.get("Retry-After", "")
    return _spread(min(int(text), MAX_RETRY_AFTER_SECONDS)) if text.isascii() and text.isdigit() else 0.0


def _retry(tries: int) -> Retry:
    """Retries every method: a call that may not be repeated has one try."""
    return _Spread(
        tries - 1,
        allowed_methods=None,
        status_forcelist=RETRIED,
        raise_on_status=False,
        backoff_factor=BACKOFF_SECONDS,
        backoff_jitter=JITTER_SECONDS,
        retry_after_max=MAX_RETRY_AFTER_SECONDS,
    )


def _json(model: BaseModel) -> bytes:
    return model.model_dump_json().encode()


def report_body(report: Report) -> bytes:
    """The bytes of a report, for sending and for the outbox."""
    return _json(report)


def _read(model: type[M], answer: requests.Response) -> M:
    try:
        return model.model_validate_json(answer.content)
    except ValidationError as error:
        raise SiteUnavailable(f"the site's answer is no {model.__name__}: {error}") from error


def _wire_error(answer: requests.Response) -> WireError:
    try:
        return WireError.model_validate_json(answer.content)
    except ValidationError:
        return WireError(code="unknown", message=f"the site answered {answer.status_code}: {answer.text[:300]}")


def _innermost(error: Exception) -> Exception:
    """The innermost of a chain of wrapped network errors, which is the one to log."""
    while isinstance(error.__context__, Exception):
        error = error.__context__
    return error
