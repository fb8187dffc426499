"""Report: stores a node's report on an attempt exactly once."""

import hashlib

from django.db import transaction
from django.utils import timezone

from leaderboard import blobs
from leaderboard.models import Result
from runners.fleet.attempts.returns import hold, lose
from runners.fleet.errors import NodeRefused
from runners.fleet.models import OPEN_TO_REPORTS, Attempt, AttemptState, Job, JobState
from runners.fleet.queue import jobs
from runners.fleet.queue.owner import JobOwner, owner_of
from runners.wire.protocol import Report, ReportReply, Stage, Verdict

ENDED = (AttemptState.REPORTED, AttemptState.FAULTED)


def take(attempt: Attempt, body: bytes, report: Report) -> ReportReply:
    """Store the outcome. Raises NodeRefused: 409 (conflicting_report, superseded, cancelled), 422 (missing blobs)."""
    digest = hashlib.sha256(body).hexdigest()
    if attempt.state in ENDED:
        return _again(attempt, digest)
    _check_blobs(attempt, report)
    report = _by(attempt.node.slug, report)
    with transaction.atomic():
        job = hold(attempt)
        if attempt.state in ENDED:
            return _again(attempt, digest)  # the same report arrived twice at the same time
        _check_is_first(attempt, job)
        if report.fault:
            return _faulted(attempt, report.fault, digest)
        return ReportReply(result=_finish(attempt, job, report, digest))


def _again(attempt: Attempt, digest: str) -> ReportReply:
    if attempt.report_digest != digest:
        raise NodeRefused(409, "conflicting_report", "This attempt has already sent a different report.")
    result = Result.objects.filter(attempt=attempt.pk).first()
    return ReportReply(result=result and result.pk, duplicate=True)


def _by(node: str, report: Report) -> Report:
    """The report with its node's own name, also in the keys of shared baselines. No node can report as another one."""
    measurements = [one.model_copy(update={"key": f"{node}:{one.key}"}) for one in report.measurements]
    provenance = report.provenance.model_copy(update={"node": node})
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
    others = Attempt.objects.filter(job=job).exclude(pk=attempt.pk)
    taken = others.filter(state=AttemptState.LEASED).exists() or job.state == JobState.DONE
    if attempt.state not in OPEN_TO_REPORTS or taken:
        raise NodeRefused(409, "superseded", "The lease was lost and another attempt has taken the job.")


def _faulted(attempt: Attempt, fault: str, digest: str) -> ReportReply:
    """Take a fault. If the lease had expired, the job is queued again already and only the digest is stored."""
    Attempt.objects.filter(pk=attempt.pk).update(report_digest=digest)
    lose(attempt, AttemptState.FAULTED, fault)
    return ReportReply(result=None)


def _finish(attempt: Attempt, job: Job, report: Report, digest: str) -> int | None:
    Attempt.objects.filter(pk=attempt.pk).update(
        state=AttemptState.REPORTED, report_digest=digest, ended_at=timezone.now(), log_tail="", cases=[]
    )
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE, lease_expires_at=None)
    owner = owner_of(job)
    if job.stage == Stage.BUILD and report.verdict == Verdict.PASSED and owner.runs_after_build():
        _queue_run(job, owner, report)
        return None
    return owner.finish(report, attempt.pk, digest)


def _queue_run(job: Job, owner: JobOwner, report: Report) -> None:
    if report.artefact is None:
        raise NodeRefused(422, "artefact_missing", "A build that passed must name its artefact.")
    artefact = report.artefact.model_dump(mode="json")
    jobs.make(
        job.track, [owner], job.priority, Stage.RUN, artefact=artefact, elsewhere=job.elsewhere, only_on=job.only_on
    )
    owner.requeue()  # queued until a node takes the run
