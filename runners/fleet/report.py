"""Report: take a node's account of an attempt, exactly once."""

import hashlib

from django.db import transaction
from django.utils import timezone

from leaderboard import blobs
from leaderboard.actions.record_result import Origin, record_result
from leaderboard.models import Evaluation, Result
from leaderboard.models.evaluation import EvaluationState, ResultOrigin
from problems.actions.releases import settle_build_only
from runners.fleet import jobs
from runners.fleet.errors import NodeRefused
from runners.fleet.models import OPEN_TO_REPORTS, Attempt, AttemptState, Job, JobState
from runners.fleet.release import hold, lose
from runners.protocol import Report, ReportReply, Stage, Verdict

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
            return _again(attempt, digest)  # said twice at the same moment
        _check_is_first(attempt, job)
        Attempt.objects.filter(pk=attempt.pk).update(report_digest=digest)
        if report.fault:
            return _faulted(attempt, report.fault)
        return ReportReply(result=_finish(attempt, report, digest))


def _again(attempt: Attempt, digest: str) -> ReportReply:
    if attempt.report_digest != digest:
        raise NodeRefused(409, "conflicting_report", "This attempt has reported already, and said something else.")
    result = Result.objects.filter(attempt=attempt.pk).first()
    return ReportReply(result=result and result.pk, duplicate=True)


def _by(node: str, report: Report) -> Report:
    """The report under its node's own name: no node speaks as another, nor for a baseline that others share."""
    measurements = [one.model_copy(update={"key": f"{node}:{one.key}"}) for one in report.measurements]
    provenance = report.provenance.model_copy(update={"node": node})
    return report.model_copy(update={"measurements": measurements, "provenance": provenance})


def _check_blobs(attempt: Attempt, report: Report) -> None:
    """Every blob named is here, and this attempt brought it: otherwise a log could show somebody else's solution."""
    named = [step.log.blob for step in report.steps if step.log.blob]
    named += [report.artefact.blob] if report.artefact else []
    named += [report.profile] if report.profile else []
    brought = attempt.uploads
    if missing := sorted(
        {one.sha256 for one in named if one.sha256 not in brought or not blobs.store().has(one.sha256)}
    ):
        raise NodeRefused(422, "blobs_missing", f"{len(missing)} blobs are not here; PUT them first.", missing)


def _check_is_first(attempt: Attempt, job: Job) -> None:
    """See that the job's end is this attempt's to make, or say who was first."""
    if job.state == JobState.CANCELLED:
        raise NodeRefused(409, "cancelled", "The submission was cancelled; this result is not wanted any more.")
    others = Attempt.objects.filter(job=job).exclude(pk=attempt.pk)
    taken = others.filter(state=AttemptState.LEASED).exists() or job.state == JobState.DONE
    if attempt.state not in OPEN_TO_REPORTS or taken:
        raise NodeRefused(409, "superseded", "The lease was lost and another attempt has taken the job.")


def _faulted(attempt: Attempt, fault: str) -> ReportReply:
    """A fault of an attempt whose lease had expired changes nothing: its job is queued again already."""
    lose(attempt, AttemptState.FAULTED, fault)
    return ReportReply(result=None)


def _finish(attempt: Attempt, report: Report, digest: str) -> int | None:
    now = timezone.now()
    Attempt.objects.filter(pk=attempt.pk).update(state=AttemptState.REPORTED, ended_at=now, log_tail="")
    Job.objects.filter(pk=attempt.job_id).update(state=JobState.DONE, lease_expires_at=None)
    job = Job.objects.select_related("track", "evaluation").get(pk=attempt.job_id)
    if job.stage == Stage.BUILD and report.verdict == Verdict.PASSED:
        _queue_run(job, report)
        return None
    evaluation = Evaluation.objects.select_related("submission", "track", "problem__release").get(pk=job.evaluation_id)
    _settle_withheld(evaluation, report)
    origin = Origin(ResultOrigin.FLEET, attempt=attempt.pk, report_digest=digest)
    return record_result(evaluation, report, origin).pk


def _queue_run(job: Job, report: Report) -> None:
    if report.artefact is None:
        raise NodeRefused(422, "artefact_missing", "A build that passed must name its artefact.")
    artefact = report.artefact.model_dump(mode="json")
    jobs.make(job.track, [job.evaluation_id], job.priority, Stage.RUN, artefact=artefact)
    leased = Evaluation.objects.filter(pk=job.evaluation_id, state=EvaluationState.LEASED)
    leased.update(state=EvaluationState.QUEUED)  # nobody works on it until a node takes the run


def _settle_withheld(evaluation: Evaluation, report: Report) -> None:
    """Verifying found which files a run can do without: part of the problem while it is a draft."""
    problem = evaluation.problem
    if report.withheld is None or problem.build_only is not None or not problem.release.is_draft:
        return
    if set(report.withheld) <= {file.path for file in problem.spec.test_files}:
        settle_build_only(problem, report.withheld)
