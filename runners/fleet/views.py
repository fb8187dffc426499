"""The node API: hello, health, claim, heartbeat, release, blobs, report. Thin: authenticate, parse, call, answer."""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from pydantic import BaseModel, ValidationError

from leaderboard import blobs
from leaderboard.errors import Refused
from runners.fleet.attempts import claim as claims
from runners.fleet.attempts import report as reports
from runners.fleet.attempts import uploads
from runners.fleet.attempts.returns import give_back
from runners.fleet.errors import NodeRefused
from runners.fleet.models import Attempt, AttemptState, Job, Node
from runners.fleet.nodes import health as healths
from runners.fleet.nodes import hello as hellos
from runners.fleet.queue.owner import owner_of
from runners.wire.health import NodeHealth
from runners.wire.protocol import (
    MAX_BLOB_BYTES,
    PROTOCOL_VERSION,
    ClaimRequest,
    Heartbeat,
    HeartbeatReply,
    Hello,
    HelloReply,
    Report,
)

MAX_BODY_BYTES = 4 * 1024 * 1024
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
SEEN_GRAIN = timedelta(seconds=10)

View = Callable[..., HttpResponseBase]


def _json(model: BaseModel, status: int = 200) -> HttpResponse:
    return HttpResponse(model.model_dump_json(), content_type="application/json", status=status)


def _refusing(view: View) -> View:
    """Answer refusals and malformed bodies with a `WireError` and its status."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except NodeRefused as refused:
            return _json(refused.error, refused.status)
        except Refused as refused:
            return _json(NodeRefused(refused.status, refused.code, refused.message).error, refused.status)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            return _json(NodeRefused(400, "malformed", f"{where}: {first['msg']}").error, 400)

    return wrapped


def _node(request: HttpRequest) -> Node:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    node = Node.objects.filter(token_digest=claims.digest_of(secret)).first() if scheme == "Bearer" else None
    if node is None:
        raise NodeRefused(
            401, "unknown_node", "No node has this token. An organiser makes one with `manage.py add_node`."
        )
    now = timezone.now()
    if node.last_seen_at is None or now - node.last_seen_at > SEEN_GRAIN:
        Node.objects.filter(pk=node.pk).update(last_seen_at=now)
    return node


def _attempt(request: HttpRequest, pk: UUID) -> Attempt:
    node = _node(request)
    attempt = Attempt.objects.select_related("job").filter(pk=pk, node=node).first()
    secret = request.headers.get("X-Podium-Attempt", "")
    if attempt is None or not constant_time_compare(attempt.token_digest, claims.digest_of(secret)):
        raise NodeRefused(404, "unknown_attempt", "This node has no such attempt.")
    attempt.node = node
    return attempt


def _length(request: HttpRequest, limit: int) -> int:
    """The announced length of the body. The server reads a body without a length as empty."""
    length = request.headers.get("Content-Length") or "0"
    if not length.isdigit() or int(length) > limit:
        raise NodeRefused(413, "too_large", f"The body is larger than {limit} bytes.")
    return int(length)


def _body(request: HttpRequest) -> bytes:
    return request.read(_length(request, MAX_BODY_BYTES))


def _without_nul(body: bytes) -> bytes:
    """The JSON body without NUL characters. A contestant may print them, but PostgreSQL cannot store them."""
    return _NUL.sub(rb"\1\\ufffd", body)


def _check_version(version: int) -> None:
    if version != PROTOCOL_VERSION:
        raise NodeRefused(
            426,
            "protocol_version",
            f"This site speaks protocol {PROTOCOL_VERSION}, the node {version}. Update the older one.",
        )


@csrf_exempt
@require_http_methods(["POST"])
@_refusing
def hello(request: HttpRequest) -> HttpResponse:
    node = _node(request)
    said = Hello.model_validate_json(_without_nul(_body(request)))
    _check_version(said.protocol_version)
    grants = hellos.take(node, said)
    return _json(
        HelloReply(
            node=node.slug,
            grants=grants,
            lease_seconds=settings.LEASE_SECONDS,
            heartbeat_seconds=settings.HEARTBEAT_SECONDS,
            disabled_reason=node.disabled_reason,
        )
    )


@csrf_exempt
@require_http_methods(["POST"])
@_refusing
def health(request: HttpRequest) -> HttpResponse:
    node = _node(request)
    said = NodeHealth.model_validate_json(_without_nul(_body(request)))
    _check_version(said.protocol_version)
    return _json(healths.take(node, said))


@csrf_exempt
@require_http_methods(["POST"])
@_refusing
def claim(request: HttpRequest) -> HttpResponse:
    node = _node(request)
    asked = ClaimRequest.model_validate_json(_body(request))
    _check_version(asked.protocol_version)
    work = claims.claim(node, asked.track, asked.stage)
    return _json(work) if work else HttpResponse(status=204)


@csrf_exempt
@require_http_methods(["POST"])
@_refusing
def heartbeat(request: HttpRequest, attempt: UUID) -> HttpResponse:
    held = _attempt(request, attempt)
    said = Heartbeat.model_validate_json(_without_nul(_body(request)))
    now = timezone.now()
    alive = Attempt.objects.filter(pk=held.pk, state=AttemptState.LEASED).update(
        work_stage=said.stage,
        log_tail=said.log_tail,
        cases=[case.model_dump(mode="json") for case in said.cases],
        heartbeat_at=now,
    )
    if alive:
        expires = now + timedelta(seconds=settings.LEASE_SECONDS)
        Job.objects.filter(pk=held.job_id, state="leased").update(lease_expires_at=expires)
    return _json(HeartbeatReply(cancel=not alive, lease_seconds=settings.LEASE_SECONDS))


@csrf_exempt
@require_http_methods(["POST"])
@_refusing
def release(request: HttpRequest, attempt: UUID) -> HttpResponse:
    give_back(_attempt(request, attempt))
    return HttpResponse(status=204)


@csrf_exempt
@require_http_methods(["POST"])
@_refusing
def report(request: HttpRequest, attempt: UUID) -> HttpResponse:
    held = _attempt(request, attempt)
    body = _body(request)
    return _json(reports.take(held, body, Report.model_validate_json(_without_nul(body))))


@csrf_exempt
@require_http_methods(["GET", "HEAD", "PUT"])
@_refusing
def blob(request: HttpRequest, attempt: UUID, sha256: str) -> HttpResponseBase:
    held = _attempt(request, attempt)
    if request.method == "PUT":
        is_new = uploads.take(held, sha256, _length(request, MAX_BLOB_BYTES), request)  # type: ignore[arg-type]
        return HttpResponse(status=201 if is_new else 200)
    if request.method == "HEAD":
        is_here = sha256 in held.uploads and blobs.store().has(sha256)
        return HttpResponse(status=200 if is_here else 404)
    return _get(held, sha256)


def _get(attempt: Attempt, sha256: str) -> HttpResponseBase:
    """Send a blob that was leased with the attempt. Work begins with the solution. Raises NodeRefused for any other."""
    owner = owner_of(attempt.job)
    artefact = (attempt.job.artefact or {}).get("blob", {}).get("sha256")
    if sha256 == owner.solution.sha256:
        Attempt.objects.filter(pk=attempt.pk, began_at=None).update(began_at=timezone.now())
    elif sha256 == owner.problem.record_sha256:
        return HttpResponse(bytes(owner.problem.record), content_type="application/octet-stream")
    elif sha256 != artefact and not owner.problem.blobs.filter(sha256=sha256).exists():
        raise NodeRefused(404, "not_leased", "This attempt was not leased that blob.")
    try:
        return FileResponse(blobs.store().open(sha256), content_type="application/octet-stream")
    except blobs.BlobMissing as error:
        raise NodeRefused(404, "blob_missing", "The site has lost this blob; an organiser must restore it.") from error
