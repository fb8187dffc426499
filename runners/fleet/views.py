"""The node API: hello, health, claim, heartbeat, release, blobs, report. Thin: authenticate, parse, call, answer."""

import logging
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import F, QuerySet
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from pydantic import BaseModel, ValidationError

from leaderboard import blobs
from leaderboard.errors import Refused
from leaderboard.site import client_address
from runners.fleet.attempts import claim as claims
from runners.fleet.attempts import report as reports
from runners.fleet.attempts import uploads
from runners.fleet.attempts.claim import token_digest
from runners.fleet.attempts.renewals import RENEWALS, hold_for, note_alive
from runners.fleet.attempts.returns import give_back
from runners.fleet.attempts.work import for_node
from runners.fleet.errors import NodeRefused
from runners.fleet.models import Attempt, AttemptState, Job, Node, NodeGrant
from runners.fleet.nodes import beats, joining, shared_builds
from runners.fleet.nodes import health as healths
from runners.fleet.nodes import hello as hellos
from runners.fleet.nodes.shared_builds import Advice
from runners.fleet.nodes.shedding import GATE, HELD_BEYOND_SECONDS, retry_after_seconds
from runners.fleet.queue.owner import owner_of
from runners.wire.batches import ClaimRequest, NodeBeat
from runners.wire.broker import Rarely
from runners.wire.health import NodeHealth
from runners.wire.join import JoinReply, JoinRequest
from runners.wire.log_lines import lines_about, note
from runners.wire.protocol import (
    BUILD_DIGEST,
    MAX_BLOB_BYTES,
    SERVED_VERSIONS,
    Heartbeat,
    HeartbeatReply,
    Hello,
    HelloReply,
    Report,
)

MAX_BODY_BYTES = 4 * 1024 * 1024
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")

logger = logging.getLogger(__name__)
_rarely = Rarely()

View = Callable[..., HttpResponseBase]


def _json(model: BaseModel, status: int = 200) -> HttpResponse:
    return HttpResponse(model.model_dump_json(), content_type="application/json", status=status)


def _refusing(view: View) -> View:
    """Answer refusals and malformed bodies with a `WireError` and its status; with 503, a call beyond the bound of
    shedding.py, and one to which the database did not answer in time."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        note_alive(request)
        try:
            with lines_about(), GATE.turn() as has_turn:
                if not has_turn:
                    return _turned_away(request, kwargs)
                RENEWALS.write_if_due()
                return view(request, *args, **kwargs)
        except (OperationalError, InterfaceError):
            if _rarely.due("database"):
                logger.exception("the database does not answer a node's call")
            return _turned_away(request, kwargs)
        except NodeRefused as refused:
            return _json(refused.error, refused.status)
        except Refused as refused:
            return _json(NodeRefused(refused.status, refused.code, refused.message).error, refused.status)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            return _json(NodeRefused(400, "malformed", f"{where}: {first['msg']}").error, 400)

    return wrapped


def _turned_away(request: HttpRequest, of: Mapping[str, Any]) -> HttpResponse:
    """503 with Retry-After. The lease of a report that is turned away lasts until the node has sent it again."""
    seconds = retry_after_seconds()
    if request.path.endswith("/report"):
        hold_for(request, of["attempt"], seconds + HELD_BEYOND_SECONDS)
    answer = _json(NodeRefused(503, "busy", "The site is busy. Call again later.").error, 503)
    answer["Retry-After"] = str(seconds)
    answer._has_been_logged = True  # type: ignore[attr-defined]  # else Django logs each as an error
    if _rarely.due("busy"):
        logger.warning("calls of nodes are turned away: more come than this process serves at once")
    return answer


def _node(request: HttpRequest, *, notes: bool = True) -> Node:
    """The node of the token. `notes` stores that it was seen; a hello is judged before."""
    node = Node.objects.filter(token_digest=token_digest(request)).first()
    if node is None:
        raise NodeRefused(
            401, "unknown_node", "No node has this token. An organiser makes one with `manage.py add_node`."
        )
    return _seen(node) if notes else node


def _seen(node: Node) -> Node:
    """Store that it was seen, twice a heartbeat at most."""
    now, grain = timezone.now(), timedelta(seconds=settings.HEARTBEAT_SECONDS / 2)
    if node.last_seen_at is None or now - node.last_seen_at > grain:
        Node.objects.filter(pk=node.pk).update(last_seen_at=now)
    return node


def _grant(request: HttpRequest, track: str, stage: str) -> NodeGrant:
    """The node's grant of this queue, with node and track."""
    of_node = NodeGrant.objects.filter(node__token_digest=token_digest(request), track__slug=track, stage=stage)
    found = of_node.select_related("node", "track").first()
    if found is None:
        node = _node(request)
        if node.disabled_reason:
            raise NodeRefused(403, "node_disabled", f"It is disabled: {node.disabled_reason}")
        raise NodeRefused(403, "not_granted", f"The node may not serve {stage} of track {track}.")
    _seen(found.node)
    return found


def _attempt(request: HttpRequest, pk: UUID, rows: QuerySet[Attempt] | None = None) -> Attempt:
    """The node's attempt with its job and node, by one query."""
    own = (Attempt.objects.select_related("job", "node") if rows is None else rows).filter(
        pk=pk, node__token_digest=token_digest(request)
    )
    attempt, secret = own.first(), request.headers.get("X-Podium-Attempt", "")
    if attempt is None:
        _node(request)
    if attempt is None or not constant_time_compare(attempt.token_digest, claims.digest_of(secret)):
        raise NodeRefused(404, "unknown_attempt", "This node has no such attempt.")
    note(attempt=attempt.pk, evaluation=attempt.job.evaluation_id)
    _seen(attempt.node)
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
    if version not in SERVED_VERSIONS:
        served = " and ".join(map(str, SERVED_VERSIONS))
        words = f"This site speaks protocol {served}, the node {version}. Update the older one."
        raise NodeRefused(426, "protocol_version", words)


@csrf_exempt
@require_http_methods(["POST"])
@_refusing
def hello(request: HttpRequest) -> HttpResponse:
    node = _node(request, notes=False)
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
            broker_url=settings.NODE_BROKER_URL,
        )
    )


@csrf_exempt
@require_http_methods(["POST"])
@_refusing
def join(request: HttpRequest) -> HttpResponse:
    said = JoinRequest.model_validate_json(_without_nul(_body(request)))
    _check_version(said.protocol_version)
    node, secret = joining.join(token_digest(request), said.name, client_address.of(request))
    return _json(JoinReply(node=node.slug, token=secret, broker_url=settings.NODE_BROKER_URL), 201)


@csrf_exempt
@require_http_methods(["POST"])
@_refusing
def leave(request: HttpRequest) -> HttpResponse:
    joining.leave(_node(request))
    return HttpResponse(status=204)


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
    asked = ClaimRequest.model_validate_json(_body(request))
    _check_version(asked.protocol_version)
    grant = _grant(request, asked.track, asked.stage.value)
    hellos.check_boot(grant.node, asked.boot_id)
    works = [for_node(work, asked.protocol_version) for work in claims.claim(grant, asked.most or 1)]
    if asked.most is not None:
        return JsonResponse({"works": works})
    return JsonResponse(works[0]) if works else HttpResponse(status=204)


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
def beat(request: HttpRequest) -> HttpResponse:
    node = _node(request, notes=False)
    said = NodeBeat.model_validate_json(_without_nul(_body(request)))
    hellos.check_boot(node, said.boot_id)
    return _json(beats.take(_seen(node), said))


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
    held = _attempt(request, attempt, reports.attempts())
    body = _body(request)
    return _json(reports.take(held, body, Report.model_validate_json(_without_nul(body))))


@csrf_exempt
@require_http_methods(["GET", "HEAD", "PUT"])
@_refusing
def blob(request: HttpRequest, attempt: UUID, sha256: str) -> HttpResponseBase:
    held = _attempt(request, attempt, _with_solution())
    if request.method == "PUT":
        is_new = uploads.take(held, sha256, _length(request, MAX_BLOB_BYTES), request)  # type: ignore[arg-type]
        return HttpResponse(status=201 if is_new else 200)
    if request.method == "HEAD":
        is_here = sha256 in held.uploads and blobs.store().has(sha256)
        return HttpResponse(status=200 if is_here else 404)
    return _get(held, sha256)


@csrf_exempt
@require_http_methods(["POST", "PUT"])
@_refusing
def build(request: HttpRequest, key: str) -> HttpResponseBase:
    node = _node(request)
    if request.method == "PUT":
        shared_builds.take(node, key, _length(request, MAX_BLOB_BYTES), request)  # type: ignore[arg-type]
        return HttpResponse(status=204)
    answer = shared_builds.ask(node, key)
    if answer.advice is not Advice.FETCH:
        return HttpResponse(status=answer.advice)
    content = _file(answer.sha256)
    content[BUILD_DIGEST] = answer.sha256
    return content


def _get(attempt: Attempt, sha256: str) -> HttpResponseBase:
    """Send a blob that was leased with the attempt. Work begins with the solution. Raises NodeRefused for any other."""
    if sha256 == getattr(attempt, "sample_sha256", None):
        return _begin(attempt, sha256)
    owner = owner_of(attempt.job)
    artefact = (attempt.job.artefact or {}).get("blob", {}).get("sha256")
    if sha256 == owner.solution.sha256:
        return _begin(attempt, sha256)
    if sha256 == owner.problem.record_sha256:
        return HttpResponse(bytes(owner.problem.record), content_type="application/octet-stream")
    if sha256 != artefact and not owner.problem.blobs.filter(sha256=sha256).exists():
        raise NodeRefused(404, "not_leased", "This attempt was not leased that blob.")
    return _file(sha256)


def _with_solution() -> QuerySet[Attempt]:
    """Attempts with their sample's digest, by one query; trials and PMPP runs have none."""
    rows = Attempt.objects.select_related("job", "node").only(
        "token_digest", "state", "uploads", "job__evaluation_id", "job__trial_id", "job__pmpp_run_id", "job__artefact",
        "node__last_seen_at",
    )  # fmt: skip
    return rows.annotate(sample_sha256=F("job__evaluation__sample__solution_sha256"))


def _begin(attempt: Attempt, sha256: str) -> HttpResponseBase:
    """Send the solution: the work on the attempt begins."""
    Attempt.objects.filter(pk=attempt.pk, state=AttemptState.LEASED, began_at=None).update(began_at=timezone.now())
    return _file(sha256)


def _file(sha256: str) -> HttpResponseBase:
    try:
        return FileResponse(blobs.store().open(sha256), content_type="application/octet-stream")
    except blobs.BlobMissing as error:
        raise NodeRefused(404, "blob_missing", "The site has lost this blob; an organiser must restore it.") from error
