"""Makes the `Work` that a node gets for a leased job."""

from typing import Any

from django.conf import settings

from problems.models import Problem
from problems.spec.kinds import Kind
from problems.spec.record import ProblemRecord
from runners.fleet.models import Attempt, Job
from runners.fleet.owner import owner_of
from runners.wire.job import Work, previous_work
from runners.wire.protocol import PROTOCOL_VERSION, ArtefactRef, BlobRef, ProblemRef, Profiler, ResourceLimits, Stage


def work_of(job: Job, attempt: Attempt, token: str) -> Work:
    owner = owner_of(job)
    terms, problem, track = owner.terms(), owner.problem, owner.track
    rules = {
        "stage": Stage(job.stage),
        # Only nodes with cupti may run jobs of a GPU track; see match.py.
        "profiler": Profiler.CUPTI if track.device == "gpu" else Profiler.NONE,
        "limits": _limits(problem.spec) if problem.release.profile == "podium/1" else ResourceLimits(),
    }
    return Work(
        attempt=attempt.pk,
        attempt_token=token,
        number=attempt.number,
        evaluation=terms.evaluation,
        tenant=terms.tenant,
        lease_seconds=settings.LEASE_SECONDS,
        heartbeat_seconds=settings.HEARTBEAT_SECONDS,
        track=track.spec,
        judge_version=terms.judge_version,
        problem=_problem_ref(problem),
        solution=owner.solution,
        artefact=ArtefactRef.model_validate(job.artefact) if job.artefact else None,
        rules=terms.rules.model_copy(update=rules),
    )


def for_node(work: Work, version: int) -> dict[str, Any]:
    """The work as JSON in the shape of the node's version of the protocol."""
    if version == PROTOCOL_VERSION:
        return work.model_dump(mode="json")
    if work.rules.withheld is not None:
        return previous_work(work, may_withhold=[])
    job = Attempt.objects.select_related("job").get(pk=work.attempt).job
    return previous_work(work, owner_of(job).problem.spec.may_withhold)


def _problem_ref(problem: Problem) -> ProblemRef:
    return ProblemRef(
        kind=Kind(problem.kind),
        profile=problem.release.profile,
        record=BlobRef(sha256=problem.record_sha256, size_bytes=len(problem.record)),
        blobs={one.name: BlobRef(sha256=one.sha256, size_bytes=one.size_bytes) for one in problem.blobs.all()},
    )


def _limits(spec: ProblemRecord) -> ResourceLimits:
    return ResourceLimits.model_validate(spec.podium.limits.set_values())
