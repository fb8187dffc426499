"""Makes the `Work` that a node gets for a leased job."""

from django.conf import settings

from runners.fleet.models import Attempt, Job
from runners.fleet.owner import JobOwner
from runners.fleet.problem_refs import limits_of, problem_ref
from runners.wire.protocol import ArtefactRef, Profiler, Stage, Work


def work_of(job: Job, attempt: Attempt, token: str, owner: JobOwner) -> Work:
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
        problem=problem_ref(problem),
        build_only=terms.build_only,
        try_withholding=terms.try_withholding,
        solution=owner.solution,
        timing_policy=terms.timing_policy,
        # Only nodes with cupti may run jobs of a GPU track; see match.py.
        profiler=Profiler.CUPTI if track.device == "gpu" else Profiler.NONE,
        limits=limits_of(problem),
        artefact=ArtefactRef.model_validate(job.artefact) if job.artefact else None,
        needs_baseline=terms.needs_baseline,
        timed_cases=terms.timed_cases,
        verifies=terms.verifies,
        rerun=terms.is_rerun,
    )
