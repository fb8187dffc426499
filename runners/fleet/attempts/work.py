"""Makes the `Work` that a node gets for a leased job."""

from typing import Any

from django.conf import settings

from runners.fleet.attempts.problem_refs import limits_of, problem_ref
from runners.fleet.models import Attempt, Job
from runners.fleet.queue.owner import JobOwner, owner_of
from runners.wire.job import Work, previous_work
from runners.wire.protocol import PROTOCOL_VERSION, ArtefactRef, Profiler, Stage


def work_of(job: Job, attempt: Attempt, token: str, owner: JobOwner) -> Work:
    terms, problem, track = owner.terms(), owner.problem, owner.track
    rules = {
        "stage": Stage(job.stage),
        # Only nodes with cupti may run jobs of a GPU track; see fit.py.
        "profiler": Profiler.CUPTI if track.device == "gpu" else Profiler.NONE,
        "limits": limits_of(problem),
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
        problem=problem_ref(problem),
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
