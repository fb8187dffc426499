"""Claim: the site picks a node's next jobs, each by one guarded UPDATE, and makes the attempt, lease and token."""

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from leaderboard.actions.verify import REFERENCE
from leaderboard.models import Evaluation, EvaluationState
from problems.spec.problem import CommandProblem
from runners.fleet.match import why_not
from runners.fleet.models import Attempt, AttemptState, Job, JobState, Node
from runners.fleet.release import give_back
from runners.protocol import (
    ArtefactRef,
    BlobRef,
    Capabilities,
    ClaimRequest,
    Grant,
    Profiler,
    ResourceLimits,
    Stage,
    TimingPolicy,
    Work,
)


@dataclass(frozen=True)
class Lease:
    """A job now held by a node, and the secret that speaks for the attempt."""

    job: Job
    attempt: Attempt
    token: str


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def claim(node: Node, request: ClaimRequest) -> list[Work]:
    """Up to `free_slots` jobs from the queues that the node asks for, is granted and has the hardware for."""
    if node.disabled_reason:
        return []
    _note_boot(node, request)
    found = Capabilities.model_validate(node.capabilities)
    grants = [one for one in node.grants.select_related("track") if not why_not(found, one.track, Stage(one.stage))]
    granted = {(grant.track.slug, grant.stage) for grant in grants}
    slugs = {grant.track.slug: grant.track_id for grant in grants}
    wanted = sorted(
        (one for one in request.grants if (one.track, one.stage) in granted), key=lambda one: one.stage is Stage.BUILD
    )  # what is built is run first: a device that waits costs more than a build that waits
    leases: list[Lease] = []
    while len(leases) < request.free_slots and (lease := _next(node, wanted, slugs)):
        leases.append(lease)
    return [_work(lease) for lease in leases]


def _note_boot(node: Node, request: ClaimRequest) -> None:
    """An agent that has started anew holds nothing: leases of its earlier life go back without counting."""
    if node.boot_id == request.boot_id:
        return
    # one UPDATE, so that of two first claims at once only one gives back, and not what the other has just leased
    renewed = Node.objects.filter(pk=node.pk, boot_id=node.boot_id).update(boot_id=request.boot_id)
    if renewed and node.boot_id is not None:
        now = timezone.now()
        for attempt in Attempt.objects.filter(node=node, state=AttemptState.LEASED, leased_at__lt=now):
            give_back(attempt)


def _next(node: Node, wanted: Sequence[Grant], slugs: dict[str, int]) -> Lease | None:
    for grant in wanted:
        queue = Job.objects.filter(track_id=slugs[grant.track], stage=grant.stage, state=JobState.QUEUED)
        if lease := _take_first(node, queue):
            return lease
    return None


def _take_first(node: Node, queue: QuerySet[Job]) -> Lease | None:
    """Try candidates in queue order until an UPDATE of one is ours; None when the queue is empty."""
    while queue.exists():  # looked at without a lock first: most claims end on an empty queue
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
    ordered = queue.order_by("-priority", "fair_tag", "pk")
    if connection.features.has_select_for_update_skip_locked:
        ordered = ordered.select_for_update(skip_locked=True)
    first = ordered.first()
    if first is None or first.n_attempts == 0:
        return first
    # A retry goes to another node where another could take it.
    return _not_failed_here(ordered, node) or first


def _not_failed_here(ordered: QuerySet[Job], node: Node) -> Job | None:
    return ordered.exclude(pk__in=Attempt.objects.filter(node=node, state__in=_FAILED).values("job_id")).first()


_FAILED = (AttemptState.EXPIRED, AttemptState.FAULTED)


def _lease(node: Node, job: Job) -> Lease:
    token = secrets.token_urlsafe(24)
    attempt = Attempt.objects.create(job=job, node=node, number=job.n_attempts + 1, token_digest=digest_of(token))
    Evaluation.objects.filter(pk=job.evaluation_id, state=EvaluationState.QUEUED).update(state=EvaluationState.LEASED)
    return Lease(job, attempt, token)


def _work(lease: Lease) -> Work:
    evaluation = Evaluation.objects.select_related(
        "sample", "problem", "track", "submission__release", "submission__entrant"
    ).get(pk=lease.job.evaluation_id)
    problem, sample, release = evaluation.problem, evaluation.sample, evaluation.submission.release
    return Work(
        attempt=lease.attempt.pk,
        attempt_token=lease.token,
        number=lease.attempt.number,
        stage=Stage(lease.job.stage),
        evaluation=evaluation.pk,
        submission=evaluation.submission_id,
        lease_seconds=settings.LEASE_SECONDS,
        heartbeat_seconds=settings.HEARTBEAT_SECONDS,
        track=evaluation.track.spec,
        judge_version=evaluation.judge_version,
        problem=BlobRef(sha256=problem.record_sha256, size_bytes=len(problem.record)),
        profile=release.profile,
        build_only=problem.build_only,
        try_withholding=list(_candidates_to_withhold(evaluation)),
        solution=BlobRef(sha256=sample.solution_sha256, size_bytes=sample.solution_bytes),
        timing_policy=TimingPolicy(release.timing_policy),
        # Only nodes that have it may run for a GPU track: see match.py.
        profiler=Profiler.CUPTI if evaluation.track.device == "gpu" else Profiler.NONE,
        limits=_limits(problem.spec) if release.profile == "podium/1" else ResourceLimits(),
        artefact=ArtefactRef.model_validate(lease.job.artefact) if lease.job.artefact else None,
        needs_baseline=problem.has_baseline and problem.has_benchmark,
    )


def _limits(spec: CommandProblem) -> ResourceLimits:
    return ResourceLimits.model_validate(spec.podium.limits.set_values())


def _candidates_to_withhold(evaluation: Evaluation) -> Iterator[str]:
    """Verifying the reference of a draft whose pack says nothing: try a run without the tests' sources."""
    if evaluation.submission.entrant.slug != REFERENCE or evaluation.problem.build_only is not None:
        return
    if evaluation.submission.release.is_draft:
        yield from (file.path for file in evaluation.problem.spec.test_files)
