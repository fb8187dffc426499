"""Speaks to the site's node API: one kept connection per thread, patience with a site that is away."""

import hashlib
import random
import threading
import time
from collections.abc import Mapping
from typing import TypeVar
from uuid import UUID

import requests
from pydantic import BaseModel, ValidationError
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase

from runners.agent.errors import SiteRefused, SiteUnavailable
from runners.protocol import (
    BlobRef,
    Claim,
    ClaimRequest,
    Heartbeat,
    HeartbeatReply,
    Hello,
    HelloReply,
    NodeHealth,
    NodeHealthReply,
    Report,
    ReportReply,
    WireError,
    Work,
)

ROOT = "/api/node/v1"
CONNECT_SECONDS, READ_SECONDS = 5.0, 60.0
TRIES = 4
FIRST_WAIT_SECONDS = 0.2
RETRIED = frozenset({429, 500, 502, 503, 504})

M = TypeVar("M", bound=BaseModel)


class BearerAuth(AuthBase):
    """The node's token. As a plain header a machine's .netrc would replace it."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class SiteClient:
    """The node's side of every call in runners/protocol.py. All may raise SiteUnavailable and SiteRefused."""

    def __init__(self, site_url: str, token: str) -> None:
        self._root = f"{site_url}{ROOT}"
        self._token = token
        self._local = threading.local()

    def hello(self, hello: Hello) -> HelloReply:
        return _read(HelloReply, self._call("POST", "/hello", body=_json(hello)))

    def health(self, health: NodeHealth) -> NodeHealthReply:
        """How the node's GPUs fare. Said twice it changes nothing more."""
        return _read(NodeHealthReply, self._call("POST", "/health", body=_json(health)))

    def claim(self, request: ClaimRequest) -> list[Work]:
        """Leases, none where the queue is empty. Not repeated: an answer that got lost has leased its jobs already."""
        answer = self._call("POST", "/claim", body=_json(request), tries=1)
        return [] if answer.status_code == 204 else _read(Claim, answer).work

    def heartbeat(self, attempt: UUID, attempt_token: str, heartbeat: Heartbeat) -> HeartbeatReply:
        answer = self._of_attempt("POST", attempt, attempt_token, "heartbeat", _json(heartbeat), tries=1)
        return _read(HeartbeatReply, answer)

    def release(self, attempt: UUID, attempt_token: str) -> None:
        """Give a lease back."""
        self._of_attempt("POST", attempt, attempt_token, "release", b"{}", tries=2)

    def get_blob(self, attempt: UUID, attempt_token: str, blob: BlobRef) -> bytes:
        """A leased file, checked against its digest."""
        content = self._of_attempt("GET", attempt, attempt_token, f"blobs/{blob.sha256}").content
        if hashlib.sha256(content).hexdigest() != blob.sha256:
            raise SiteUnavailable(f"the blob {blob.sha256} arrived damaged")
        return content

    def put_blob(self, attempt: UUID, attempt_token: str, sha256: str, content: bytes) -> None:
        self._of_attempt("PUT", attempt, attempt_token, f"blobs/{sha256}", content, "application/octet-stream")

    def report(self, attempt: UUID, attempt_token: str, body: bytes) -> ReportReply:
        """`body` is a `Report` as JSON: the same bytes each time, so that saying it twice is harmless."""
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
        wait_seconds = FIRST_WAIT_SECONDS
        for left in reversed(range(tries)):
            try:
                return self._once(method, path, headers or {"Content-Type": "application/json"}, body)
            except SiteUnavailable:
                if not left:
                    raise
            time.sleep(wait_seconds * (0.5 + random.random()))  # noqa: S311 - spreads retries, guards nothing
            wait_seconds *= 3
        raise AssertionError("unreachable")

    def _once(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> requests.Response:
        try:
            answer = self._session.request(
                method,
                self._root + path,
                data=body,
                headers=dict(headers),
                timeout=(CONNECT_SECONDS, READ_SECONDS),
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise SiteUnavailable(f"{self._root} cannot be reached: {_innermost(error)}") from error
        if answer.status_code in RETRIED:
            raise SiteUnavailable(f"{self._root} answers {answer.status_code}")
        if answer.status_code >= 300:
            raise SiteRefused(answer.status_code, _wire_error(answer))
        return answer

    @property
    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
            session.auth = BearerAuth(self._token)
            session.mount("http", HTTPAdapter(pool_connections=1, pool_maxsize=1))
        return session


def _json(model: BaseModel) -> bytes:
    return model.model_dump_json().encode()


def report_body(report: Report) -> bytes:
    """The bytes of a report as they are sent, kept and sent again."""
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
    """What went wrong at the bottom of a chain of wrapped network errors: that line is for a person."""
    while isinstance(error.__context__, Exception):
        error = error.__context__
    return error
