"""Makes the `Work` that a node gets for a leased job."""

from django.conf import settings

from problems.models import Problem
from problems.spec.kinds import Kind
from problems.spec.record import ProblemRecord
from runners.fleet.models import Attempt, Job
from runners.fleet.queue.owner import owner_of
from runners.wire.protocol import ArtefactRef, BlobRef, ProblemRef, Profiler, ResourceLimits, Stage, Work


def work_of(job: Job, attempt: Attempt, token: str) -> Work:
    owner = owner_of(job)
    terms, problem, track = owner.terms(), owner.problem, owner.track
    return Work(
        attempt=attempt.pk,
        attempt_token=token,
        number=attempt.number,
        stage=Stage(job.stage),
        evaluation=terms.evaluation,
        tenant=terms.tenant,
        purpose=terms.purpose,
        trial=terms.is_trial,
        sizes=terms.sizes,
        times=terms.times,
        lease_seconds=settings.LEASE_SECONDS,
        heartbeat_seconds=settings.HEARTBEAT_SECONDS,
        track=track.spec,
        judge_version=terms.judge_version,
        problem=_problem_ref(problem),
        build_only=terms.build_only,
        try_withholding=terms.try_withholding,
        solution=owner.solution,
        timing_policy=terms.timing_policy,
        # Only nodes with cupti may run jobs of a GPU track; see fit.py.
        profiler=Profiler.CUPTI if track.device == "gpu" else Profiler.NONE,
        limits=_limits(problem.spec) if problem.release.profile == "podium/1" else ResourceLimits(),
        artefact=ArtefactRef.model_validate(job.artefact) if job.artefact else None,
        needs_baseline=terms.needs_baseline,
        timed_cases=terms.timed_cases,
        verifies=terms.verifies,
        rerun=terms.is_rerun,
    )


def _problem_ref(problem: Problem) -> ProblemRef:
    return ProblemRef(
        kind=Kind(problem.kind),
        profile=problem.release.profile,
        record=BlobRef(sha256=problem.record_sha256, size_bytes=len(problem.record)),
        blobs={one.name: BlobRef(sha256=one.sha256, size_bytes=one.size_bytes) for one in problem.blobs.all()},
    )


def _limits(spec: ProblemRecord) -> ResourceLimits:
    return ResourceLimits.model_validate(spec.podium.limits.set_values())
