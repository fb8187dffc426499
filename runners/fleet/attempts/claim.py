"""Claim: the site takes a node's next job with one guarded UPDATE, and makes the attempt, its lease and its token."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone

from leaderboard import blobs
from runners.fleet.again.elsewhere import may_take
from runners.fleet.attempts.retries import in_turn
from runners.fleet.attempts.work import work_of
from runners.fleet.errors import NodeRefused
from runners.fleet.models import QUEUE_ORDER, Attempt, Job, JobState, Node
from runners.fleet.queue.fit import why_not
from runners.fleet.queue.owner import owner_of
from runners.wire.protocol import Capabilities, Stage, Work


@dataclass(frozen=True)
class Lease:
    """A job leased to a node, and the token of its attempt."""

    job: Job
    attempt: Attempt
    token: str


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def claim(node: Node, track: str, stage: Stage) -> Work | None:
    """Lease one job of the queue; None if it is empty.

    Raises NodeRefused: 403 (node_disabled, not_granted), and BlobsUnavailable if no node could fetch the job's files.
    """
    if node.disabled_reason:
        raise NodeRefused(403, "node_disabled", f"An organiser or the node itself disabled it: {node.disabled_reason}")
    granted = node.grants.select_related("track").filter(track__slug=track, stage=stage).first()
    if granted is None:
        raise NodeRefused(403, "not_granted", f"The node may not serve {stage.value} of track {track}.")
    if words := why_not(Capabilities.model_validate(node.capabilities), granted.track, stage):
        raise NodeRefused(403, "not_granted", f"The node does not fit {stage.value} of track {track}: {words}.")
    queue = Job.objects.filter(track_id=granted.track_id, stage=stage, state=JobState.QUEUED)
    lease = _take_first(node, queue if stage is Stage.BUILD else queue.filter(may_take(node)))
    return work_of(lease.job, lease.attempt, lease.token) if lease else None


def _take_first(node: Node, queue: QuerySet[Job]) -> Lease | None:
    """Try candidates in queue order until one UPDATE succeeds; None if the queue is empty."""
    while queue.exists():  # checked without a lock first, since most claims find an empty queue
        blobs.store().check()
        with transaction.atomic():
            job = _candidate(queue, node)
            if job is None:
                return None
            now = timezone.now()
            taken = Job.objects.filter(pk=job.pk, state=JobState.QUEUED).update(
                state=JobState.LEASED,
                n_attempts=F("n_attempts") + 1,
                lease_expires_at=now + timedelta(seconds=settings.LEASE_SECONDS),
            )
            if taken:
                return _lease(node, job)
    return None


def _candidate(queue: QuerySet[Job], node: Node) -> Job | None:
    ordered = queue.order_by(*QUEUE_ORDER)
    if connection.features.has_select_for_update_skip_locked:
        ordered = ordered.select_for_update(skip_locked=True)
    first = ordered.first()
    if first is None or first.n_attempts == 0:
        return first
    return in_turn(ordered, node, first)


def _lease(node: Node, job: Job) -> Lease:
    token = secrets.token_urlsafe(24)
    # not n_attempts, which counts lost attempts only: numbers of a job's attempts must be unique
    last: int = job.attempts.aggregate(last=Max("number"))["last"] or 0
    attempt = Attempt.objects.create(job=job, node=node, number=last + 1, token_digest=digest_of(token))
    owner_of(job).lease()
    return Lease(job, attempt, token)
