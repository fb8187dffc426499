"""Claim: the site leases a node's next jobs with one guarded UPDATE, and makes their attempts, leases and tokens."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils import timezone

from leaderboard import blobs
from runners.fleet.again.elsewhere import may_take
from runners.fleet.again.rechecks import may_recheck
from runners.fleet.attempts.retries import in_turn
from runners.fleet.attempts.work import work_of
from runners.fleet.errors import NodeRefused
from runners.fleet.models import QUEUE_ORDER, Attempt, Job, JobState, Node, NodeGrant
from runners.fleet.queue.fit import why_not
from runners.fleet.queue.owner import lease_all, owners_of
from runners.wire.job import Work
from runners.wire.protocol import Capabilities, Stage


@dataclass(frozen=True)
class Lease:
    """A job leased to a node, and the token of its attempt."""

    job: Job
    attempt: Attempt
    token: str


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def token_digest(request: HttpRequest) -> str:
    """The digest of the node's token; of no token, that of an empty one, which no node has."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    return digest_of(secret if scheme == "Bearer" else "")


def claim(grant: NodeGrant, most: int = 1) -> list[Work]:
    """Lease up to `most` jobs of the grant's queue.

    Raises NodeRefused: 403 (node_disabled, not_granted), and BlobsUnavailable if no node could fetch the jobs' files.
    """
    node, stage = grant.node, Stage(grant.stage)
    if node.disabled_reason:
        raise NodeRefused(403, "node_disabled", f"An organiser or the node itself disabled it: {node.disabled_reason}")
    if words := why_not(Capabilities.model_validate(node.capabilities), grant.track, stage):
        raise NodeRefused(403, "not_granted", f"The node does not fit {stage.value} of track {grant.track}: {words}.")
    is_proven = node.joined_by_id is None or grant.track.device != "gpu" or stage is Stage.BUILD
    if not is_proven and not node.golden_runs.exists():
        words = "A joined node runs the golden program before its first job on a GPU, and reports it."
        raise NodeRefused(403, "golden_first", words)
    queue = Job.objects.filter(track_id=grant.track_id, stage=stage, state=JobState.QUEUED)
    leases = _take(node, queue if stage is Stage.BUILD else queue.filter(may_take(node), may_recheck(node)), most)
    owners = owners_of([one.job for one in leases])
    return [work_of(one.job, one.attempt, one.token, owner) for one, owner in zip(leases, owners, strict=True)]


def _take(node: Node, queue: QuerySet[Job], most: int) -> list[Lease]:
    """Lease the first jobs of the queue. Another node's claim at the same time takes other rows."""
    if not connection.features.has_select_for_update_skip_locked and not queue.exists():
        return []  # on SQLite a transaction would take the lock of all writers
    with transaction.atomic():
        jobs = _candidates(queue, node, most)
        if not jobs:
            return []
        blobs.store().check()
        taken = Job.objects.filter(pk__in=[one.pk for one in jobs], state=JobState.QUEUED).update(
            state=JobState.LEASED,
            n_attempts=F("n_attempts") + 1,
            lease_expires_at=timezone.now() + timedelta(seconds=settings.LEASE_SECONDS),
        )
        if taken == len(jobs):
            return _lease(node, jobs)
        transaction.set_rollback(True)
        return []


def _candidates(queue: QuerySet[Job], node: Node, most: int) -> list[Job]:
    """The node's next jobs, locked. One that has lost attempts comes alone: its turn depends on the node."""
    numbers = Attempt.objects.filter(job=OuterRef("pk")).order_by().values("job").annotate(last=Max("number"))
    # not n_attempts, which counts lost attempts only: numbers of a job's attempts must be unique
    numbered = queue.annotate(last_number=Coalesce(Subquery(numbers.values("last")), 0))
    ordered = numbered.order_by(*QUEUE_ORDER)
    if connection.features.has_select_for_update_skip_locked:
        ordered = ordered.select_for_update(skip_locked=True, of=("self",))
    first = list(ordered[:most])
    if not first or first[0].n_attempts == 0:
        return list(takewhile(lambda job: job.n_attempts == 0, first))
    turn = in_turn(ordered, node, first[0])
    return [turn] if turn else []


def _lease(node: Node, jobs: Sequence[Job]) -> list[Lease]:
    leases = []
    for job in jobs:
        token, number = secrets.token_urlsafe(24), getattr(job, "last_number", 0) + 1
        attempt = Attempt(job=job, node=node, number=number, token_digest=digest_of(token))
        leases.append(Lease(job, attempt, token))
    Attempt.objects.bulk_create([one.attempt for one in leases])
    lease_all(jobs)
    return leases
