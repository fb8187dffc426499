"""The owner of a job: an evaluation, which ends with a result; a trial or a PMPP run, which end with an outcome."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol
from uuid import UUID

from leaderboard.actions.intake.pmpp_runs import end_run
from leaderboard.actions.intake.try_solution import end_trial
from leaderboard.actions.submissions.record_result import record_result
from leaderboard.models import Evaluation, EvaluationState, PmppRun, PmppRunState, Track, Trial, TrialState
from leaderboard.models.entrants.entrant import REFERENCE
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.rows import timed_cases
from leaderboard.rows.origin import Origin
from leaderboard.standings import scores
from problems.actions.releases import settle_build_only
from problems.models import Problem
from problems.spec.kinds import Kind
from runners.fleet.models import Job
from runners.wire.protocol import JUDGE_VERSIONS, BlobRef, Purpose, Report, TimingPolicy


@dataclass(frozen=True)
class Terms:
    """The properties of a job's work that differ between the kinds of owners."""

    evaluation: int | None
    tenant: str
    purpose: Purpose
    is_trial: bool
    judge_version: str
    timing_policy: TimingPolicy
    build_only: list[str] | None
    try_withholding: list[str]
    needs_baseline: bool
    verifies: bool
    is_rerun: bool
    sizes: Mapping[str, int] = field(default_factory=dict)
    """A trial's own sizes."""
    times: bool = True
    timed_cases: list[str] | None = None
    """The cases that are timed; None lets the baseline show them."""


class JobOwner(Protocol):
    """The operations of the queue on an evaluation, a trial or a PMPP run."""

    @property
    def columns(self) -> Mapping[str, int]:
        """The columns of `Job` that identify it."""
        ...

    @property
    def problem(self) -> Problem: ...
    @property
    def track(self) -> Track: ...
    @property
    def solution(self) -> BlobRef: ...

    def terms(self) -> Terms: ...

    def hold(self) -> None:
        """Lock the rows that the end of an attempt may change, before locking its job; see `scores.hold`."""
        ...

    def lease(self) -> None:
        """Mark the owner as running, because a node has leased its job."""
        ...

    def requeue(self) -> None:
        """Mark the owner as queued again."""
        ...

    def runs_after_build(self) -> bool:
        """Whether a run follows a successful build."""
        ...

    def finish(self, report: Report, attempt: UUID, report_digest: str) -> int | None:
        """Store the outcome. Returns the result's id, if there is a result."""
        ...

    def give_up(self, report: Report) -> None:
        """Store the site's own report after the last attempt was lost."""
        ...


@dataclass
class EvaluationOwner:
    pk: int

    @cached_property
    def row(self) -> Evaluation:
        beside = ("problem", "track", "submission__release", "submission__entrant")
        row = timed_cases.with_fixed(Evaluation.objects.select_related(*beside)).get(pk=self.pk)
        row.problem.release = row.submission.release  # the same row, joined once
        return row

    @property
    def columns(self) -> Mapping[str, int]:
        return {"evaluation_id": self.pk}

    @property
    def problem(self) -> Problem:
        return self.row.problem

    @property
    def track(self) -> Track:
        return self.row.track

    @property
    def solution(self) -> BlobRef:
        sample = Evaluation.objects.values_list("sample__solution_sha256", "sample__solution_bytes")
        sha256, size_bytes = sample.get(pk=self.pk)  # without the row: a node that fetches a solution needs only these
        return BlobRef(sha256=sha256, size_bytes=size_bytes)

    def terms(self) -> Terms:
        row = self.row
        return Terms(
            evaluation=row.pk,
            tenant=str(row.submission_id),
            purpose=Purpose(row.purpose),
            is_trial=False,
            judge_version=row.judge_version,
            timing_policy=TimingPolicy(row.submission.release.timing_policy),
            build_only=row.problem.build_only,
            try_withholding=list(_candidates_to_withhold(row)),
            needs_baseline=row.problem.has_baseline and row.problem.has_benchmark,
            verifies=row.submission.entrant.slug == REFERENCE,
            is_rerun=row.current_result_id is not None or row.purpose == Purpose.SHADOW,
            timed_cases=timed_cases.for_work(row),
        )

    def hold(self) -> None:
        scores.hold(Evaluation.objects.values_list("submission_id", flat=True).get(pk=self.pk))

    def lease(self) -> None:
        Evaluation.objects.filter(pk=self.pk, state=EvaluationState.QUEUED).update(state=EvaluationState.LEASED)

    def requeue(self) -> None:
        Evaluation.objects.filter(pk=self.pk, state=EvaluationState.LEASED).update(state=EvaluationState.QUEUED)

    def runs_after_build(self) -> bool:
        return True

    def finish(self, report: Report, attempt: UUID, report_digest: str) -> int | None:
        if self.row.purpose == Purpose.LIVE:
            _settle_withheld(self.problem, report)
        origin = Origin(ResultOrigin.FLEET, attempt=attempt, report_digest=report_digest)
        return record_result(self.row, report, origin).pk

    def give_up(self, report: Report) -> None:
        record_result(self.row, report, Origin(ResultOrigin.SITE))


def _candidates_to_withhold(evaluation: Evaluation) -> Iterator[str]:
    """Files to try without, for the reference of a draft whose pack does not list them: the tests' sources."""
    if not evaluation.submission.release.is_draft or evaluation.problem.build_only is not None:
        return
    if evaluation.submission.entrant.slug == REFERENCE:
        yield from evaluation.problem.spec.may_withhold


def _settle_withheld(problem: Problem, report: Report) -> None:
    """Store the files that a run does not need, which verification has found, on the problem of a draft."""
    if report.withheld is None or problem.build_only is not None or not problem.release.is_draft:
        return
    if set(report.withheld) <= set(problem.spec.may_withhold):
        settle_build_only(problem, report.withheld)


@dataclass
class TrialOwner:
    pk: int

    @cached_property
    def row(self) -> Trial:
        return Trial.objects.select_related("problem__release", "track").get(pk=self.pk)

    @property
    def columns(self) -> Mapping[str, int]:
        return {"trial_id": self.pk}

    @property
    def problem(self) -> Problem:
        return self.row.problem

    @property
    def track(self) -> Track:
        return self.row.track

    @property
    def solution(self) -> BlobRef:
        return BlobRef(sha256=self.row.solution_sha256, size_bytes=self.row.solution_bytes)

    def terms(self) -> Terms:
        return Terms(
            evaluation=None,
            tenant=f"trials of {self.row.user_id}",
            purpose=Purpose.LIVE,
            is_trial=True,
            judge_version=JUDGE_VERSIONS[Kind(self.problem.kind)],
            timing_policy=TimingPolicy.QUICK,
            build_only=_withheld_from_trials(self.problem),
            try_withholding=[],
            needs_baseline=False,
            verifies=False,
            is_rerun=False,
            sizes=self.row.sizes,
        )

    def hold(self) -> None:
        list(Trial.objects.select_for_update(no_key=True).filter(pk=self.pk).values_list("pk"))

    def lease(self) -> None:
        Trial.objects.filter(pk=self.pk, state=TrialState.QUEUED).update(state=TrialState.LEASED)

    def requeue(self) -> None:
        Trial.objects.filter(pk=self.pk, state=TrialState.LEASED).update(state=TrialState.QUEUED)

    def runs_after_build(self) -> bool:
        return self.problem.spec.trial_runs_tests

    def finish(self, report: Report, attempt: UUID, report_digest: str) -> int | None:  # noqa: ARG002 - a result's
        end_trial(self.row, report)
        return None

    def give_up(self, report: Report) -> None:
        end_trial(self.row, report)


def _withheld_from_trials(problem: Problem) -> list[str]:
    """The held-out files. The user reads a trial's output, so its run must not see them."""
    held_out = (one.file.path for one in problem.spec.files if one.is_held_out)
    return sorted({*(problem.build_only or ()), *held_out})


@dataclass
class PmppRunOwner:
    """Tested like an evaluation, with the held-out tests, but not timed."""

    pk: int

    @cached_property
    def row(self) -> PmppRun:
        return PmppRun.objects.select_related("problem__release", "token__track").get(pk=self.pk)

    @property
    def columns(self) -> Mapping[str, int]:
        return {"pmpp_run_id": self.pk}

    @property
    def problem(self) -> Problem:
        return self.row.problem

    @property
    def track(self) -> Track:
        return self.row.token.track

    @property
    def solution(self) -> BlobRef:
        return BlobRef(sha256=self.row.solution_sha256, size_bytes=self.row.solution_bytes)

    def terms(self) -> Terms:
        return Terms(
            evaluation=None,
            tenant=f"PMPP runs of {self.row.token_id}",
            purpose=Purpose.LIVE,
            is_trial=False,
            judge_version=JUDGE_VERSIONS[Kind(self.problem.kind)],
            timing_policy=TimingPolicy.QUICK,
            build_only=self.problem.build_only,
            try_withholding=[],
            needs_baseline=False,
            verifies=False,
            is_rerun=False,
            times=False,
        )

    def hold(self) -> None:
        list(PmppRun.objects.select_for_update(no_key=True).filter(pk=self.pk).values_list("pk"))

    def lease(self) -> None:
        PmppRun.objects.filter(pk=self.pk, state=PmppRunState.QUEUED).update(state=PmppRunState.LEASED)

    def requeue(self) -> None:
        PmppRun.objects.filter(pk=self.pk, state=PmppRunState.LEASED).update(state=PmppRunState.QUEUED)

    def runs_after_build(self) -> bool:
        return True

    def finish(self, report: Report, attempt: UUID, report_digest: str) -> int | None:  # noqa: ARG002 - a result's
        end_run(self.row, report)
        return None

    def give_up(self, report: Report) -> None:
        end_run(self.row, report)


def owner_of(job: Job) -> JobOwner:
    if job.pmpp_run_id is not None:
        return PmppRunOwner(job.pmpp_run_id)
    if job.trial_id is not None:
        return TrialOwner(job.trial_id)
    if job.evaluation_id is None:
        raise ValueError(f"{job} has no owner")  # a constraint of the table forbids it
    return EvaluationOwner(job.evaluation_id)
