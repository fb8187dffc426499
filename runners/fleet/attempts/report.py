"""Report: stores a node's report on an attempt exactly once."""

import hashlib
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from leaderboard import blobs
from leaderboard.models import Result
from runners.fleet.again import rechecks
from runners.fleet.attempts.returns import hold, lose
from runners.fleet.errors import NodeRefused
from runners.fleet.models import Attempt, AttemptState, Job, JobState, Node
from runners.fleet.queue import jobs
from runners.fleet.queue.owner import EVALUATION_BESIDE, EVALUATION_FIELDS, EvaluationOwner, JobOwner, owner_of
from runners.wire.protocol import Report, ReportReply, Stage, Verdict

ENDED = (AttemptState.REPORTED, AttemptState.FAULTED)


FIELDS = (
    "token_digest", "state", "report_digest", "uploads", "job__evaluation_id", "job__trial_id", "job__pmpp_run_id",
    "node__slug", "node__last_seen_at", "node__joined_by__name", "node__joined_by__judged_again",
)  # fmt: skip


def attempts() -> QuerySet[Attempt]:
    """Attempts as `take` reads them, each by one query."""
    beside = ("node__joined_by", "job", *(f"job__evaluation__{name}" for name in EVALUATION_BESIDE))
    of_evaluation = (f"job__evaluation__{name}" for name in EVALUATION_FIELDS)
    return Attempt.objects.select_related(*beside).only(*FIELDS, *of_evaluation)


def take(attempt: Attempt, body: bytes, report: Report) -> ReportReply:
    """Store the outcome. Raises NodeRefused: 409 (conflicting_report, superseded, cancelled), 422 (missing blobs)."""
    digest = hashlib.sha256(body).hexdigest()
    if attempt.state in ENDED:
        return _again(attempt, digest)
    _check_blobs(attempt, report)
    report = _by(attempt.node, report)
    owner = _owner(attempt.job)
    with transaction.atomic():
        if report.fault:
            job = hold(attempt)
            if attempt.state in ENDED:
                return _again(attempt, digest)
            _check_is_first(attempt, job)
            return _faulted(attempt, report.fault, digest)
        job = _hold(attempt, owner)
        follows = job.stage == Stage.BUILD and report.verdict == Verdict.PASSED and owner.runs_after_build()
        to_score = owner.is_scored_later and not follows
        if not (_is_open(attempt, job) and _end(attempt, digest, to_score=to_score)):
            attempt.refresh_from_db()  # it may have ended before its job was locked
            if attempt.state in ENDED:
                return _again(attempt, digest)
            _check_is_first(attempt, job)
            _end(attempt, digest, to_score=to_score)
        Job.objects.filter(pk=job.pk).update(state=JobState.DONE, lease_expires_at=None)
        if follows:
            _queue_run(job, owner, report)
            return ReportReply(result=None)
        result = owner.finish(report, attempt.pk, digest)
        if isinstance(owner, EvaluationOwner) and result is not None:
            _recheck(attempt, owner, result)
        return ReportReply(result=result)


def _recheck(attempt: Attempt, owner: EvaluationOwner, result: int) -> None:
    """Start a second judgement if one is drawn, or compare this one with the first."""
    if owner.is_scored_later:
        rechecks.start_if_drawn(attempt.node, owner.row, result)
    else:
        rechecks.note(owner.row, result)


def _owner(job: Job) -> JobOwner:
    """The owner, from the evaluation that was read with the attempt if it has one."""
    evaluation = job.evaluation
    return EvaluationOwner.of(evaluation) if evaluation is not None else owner_of(job)


def _hold(attempt: Attempt, owner: JobOwner) -> Job:
    """Lock the attempt's job, after its owner where the report changes more than the result. All that ends an attempt
    locks its job first."""
    if not owner.is_scored_later:
        owner.hold()
    return Job.objects.select_for_update(of=("self",), no_key=True).get(pk=attempt.job_id)


def _end(attempt: Attempt, digest: str, *, to_score: bool) -> bool:
    """Store the end; False if the attempt is not any more in the state in which it was read."""
    same = Attempt.objects.filter(pk=attempt.pk, state=attempt.state)
    return bool(
        same.update(
            state=AttemptState.REPORTED, report_digest=digest, ended_at=timezone.now(), log_tail="", cases=[],
            to_score=to_score,
        )
    )  # fmt: skip


def _again(attempt: Attempt, digest: str) -> ReportReply:
    if attempt.report_digest != digest:
        raise NodeRefused(409, "conflicting_report", "This attempt has already sent a different report.")
    result = Result.objects.filter(attempt=attempt.pk).first()
    return ReportReply(result=result and result.pk, duplicate=True)


def _by(node: Node, report: Report) -> Report:
    """The report with its node's own name, also in the keys of shared baselines. No node can report as another one."""
    measurements = [one.model_copy(update={"key": f"{node}:{one.key}"}) for one in report.measurements]
    joined_by = node.joined_by.name if node.joined_by else ""
    provenance = report.provenance.model_copy(update={"node": node.slug, "join_token": joined_by})
    return report.model_copy(update={"measurements": measurements, "provenance": provenance})


def _check_blobs(attempt: Attempt, report: Report) -> None:
    """Check that this attempt uploaded every named blob. Otherwise a log could show another entrant's solution."""
    named = [step.log.blob for step in report.steps if step.log.blob]
    named += [report.artefact.blob] if report.artefact else []
    named += [one for one in (report.profile, report.listing) if one]
    named += [one.calls for one in report.measurements if one.calls]
    brought = attempt.uploads
    if missing := sorted(
        {one.sha256 for one in named if one.sha256 not in brought or not blobs.store().has(one.sha256)}
    ):
        raise NodeRefused(422, "blobs_missing", f"{len(missing)} blobs are missing; PUT them first.", missing)


def _check_is_first(attempt: Attempt, job: Job) -> None:
    """Check that no other event has ended the job. Raises NodeRefused with that event."""
    if job.state == JobState.CANCELLED:
        raise NodeRefused(409, "cancelled", "The submission was cancelled; its results are discarded.")
    if not _is_open(attempt, job):
        raise NodeRefused(409, "superseded", "The lease was lost and another attempt has taken the job.")


def _is_open(attempt: Attempt, job: Job) -> bool:
    """Whether the locked job waits for this attempt's report: it holds the lease, or lost it and no other took it."""
    waits_in = {AttemptState.LEASED: JobState.LEASED, AttemptState.EXPIRED: JobState.QUEUED}
    return waits_in.get(AttemptState(attempt.state)) == job.state


def _faulted(attempt: Attempt, fault: str, digest: str) -> ReportReply:
    """Take a fault. If the lease had expired, the job is queued again already and only the digest is stored."""
    Attempt.objects.filter(pk=attempt.pk).update(report_digest=digest)
    lose(attempt, AttemptState.FAULTED, fault)
    return ReportReply(result=None)


def _queue_run(job: Job, owner: JobOwner, report: Report) -> None:
    if report.artefact is None:
        raise NodeRefused(422, "artefact_missing", "A build that passed must name its artefact.")
    artefact = report.artefact.model_dump(mode="json")
    same: dict[str, Any] = {"elsewhere": job.elsewhere, "only_on": job.only_on, "apart_from": job.apart_from}
    jobs.make(job.track, [owner], job.priority, Stage.RUN, artefact=artefact, **same)
    owner.requeue()  # queued until a node takes the run
