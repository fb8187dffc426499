"""The owner of a job: an evaluation, which ends with a result; a trial or a PMPP run, which end with an outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol
from uuid import UUID

from django.db.models import F, QuerySet

from leaderboard.actions.intake.pmpp_runs import end_run
from leaderboard.actions.intake.try_solution import end_trial
from leaderboard.actions.submissions.record_result import record_result
from leaderboard.models import Evaluation, EvaluationState, PmppRun, PmppRunState, Track, Trial, TrialState
from leaderboard.models.entrants.entrant import REFERENCE
from leaderboard.models.submissions.evaluation import ResultOrigin
from leaderboard.rows import timed_cases
from leaderboard.rows.origin import Origin
from leaderboard.rows.results import append_result
from leaderboard.standings import scores
from problems.actions.releases import settle_build_only
from problems.models import Problem
from problems.spec.kinds import Kind
from runners.fleet.models import Job
from runners.wire.job import JobPurpose, JobRules, Sides
from runners.wire.protocol import JUDGE_VERSIONS, BlobRef, Purpose, Report, TimingPolicy, TrackSpec


@dataclass(frozen=True)
class Terms:
    """The properties of a job's work that differ between the kinds of owners."""

    evaluation: int | None
    tenant: str
    judge_version: str
    rules: JobRules


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

    @property
    def is_scored_later(self) -> bool:
        """Whether its result changes scores: score.py computes them after the report, so `finish` takes no lock."""
        ...

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


EVALUATION_BESIDE = ("problem", "track", "submission__release", "submission__entrant")
EVALUATION_FIELDS = (
    "sample_id", "track_id", "problem_id", "submission_id", "judge_version", "purpose", "state", "current_result_id",
    "problem__record_sha256", "problem__kind", "problem__build_only", "problem__has_baseline",
    "problem__has_benchmark", "problem__release_id", "submission__release_id", "submission__entrant_id",
    "submission__release__state", "submission__release__timing_policy", "submission__entrant__slug",
    *(f"track__{name}" for name in TrackSpec.model_fields),
)  # fmt: skip
"""The fields that claims and reports read. Django reads any other by a query of its own."""


def evaluations() -> QuerySet[Evaluation]:
    """The rows as `EvaluationOwner.of` takes them."""
    rows = timed_cases.with_fixed(Evaluation.objects.select_related(*EVALUATION_BESIDE).only(*EVALUATION_FIELDS))
    return rows.annotate(solution_sha256=F("sample__solution_sha256"), solution_bytes=F("sample__solution_bytes"))


@dataclass
class EvaluationOwner:
    pk: int

    @classmethod
    def of(cls, row: Evaluation) -> "EvaluationOwner":
        """The owner of a row that is loaded already."""
        row.problem.release = row.submission.release  # the same row, joined once
        owner = cls(row.pk)
        owner.row = row
        return owner

    @cached_property
    def row(self) -> Evaluation:
        row = evaluations().get(pk=self.pk)
        row.problem.release = row.submission.release
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
        known: Any = self.__dict__.get("row")
        if hasattr(known, "solution_sha256"):
            return BlobRef(sha256=known.solution_sha256, size_bytes=known.solution_bytes)
        sample = Evaluation.objects.values_list("sample__solution_sha256", "sample__solution_bytes")
        sha256, size_bytes = sample.get(pk=self.pk)  # without the row: a node that fetches a solution needs only these
        return BlobRef(sha256=sha256, size_bytes=size_bytes)

    def terms(self) -> Terms:
        row = self.row
        rules = JobRules(
            purpose=_purpose_of(row),
            sides=Sides.BOTH if row.problem.has_baseline and row.problem.has_benchmark else Sides.SOLUTION,
            timing_policy=TimingPolicy(row.submission.release.timing_policy),
            withheld=None if _finds_out_withheld(row) else row.problem.build_only or (),
            timed_cases=timed_cases.for_work(row),
        )
        return Terms(row.pk, str(row.submission_id), row.judge_version, rules)

    @property
    def is_scored_later(self) -> bool:
        return self.row.purpose == Purpose.LIVE

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
        store = append_result if self.is_scored_later else record_result
        return store(self.row, report, origin).pk

    def give_up(self, report: Report) -> None:
        record_result(self.row, report, Origin(ResultOrigin.SITE))


def _purpose_of(evaluation: Evaluation) -> JobPurpose:
    if evaluation.submission.entrant.slug == REFERENCE:
        return JobPurpose.VERIFY
    has_result = evaluation.current_result_id is not None or evaluation.purpose == Purpose.SHADOW
    return JobPurpose.RERUN if has_result else JobPurpose.GRADE


def _finds_out_withheld(evaluation: Evaluation) -> bool:
    """Whether the reference of a draft whose pack does not list them is to show the files that runs do without."""
    is_draft, is_known = evaluation.submission.release.is_draft, evaluation.problem.build_only is not None
    is_reference = evaluation.submission.entrant.slug == REFERENCE
    return is_draft and not is_known and is_reference and bool(evaluation.problem.spec.may_withhold)


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
        rules = JobRules(
            purpose=JobPurpose.SAMPLE,
            sides=Sides.NONE,
            withheld=_withheld_from_trials(self.problem),
            sizes=self.row.sizes,
        )
        return Terms(None, f"trials of {self.row.user_id}", JUDGE_VERSIONS[Kind(self.problem.kind)], rules)

    is_scored_later = False

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


def _withheld_from_trials(problem: Problem) -> tuple[str, ...]:
    """The held-out files. The user reads a trial's output, so its run must not see them."""
    held_out = (one.file.path for one in problem.spec.files if one.is_held_out)
    return tuple(sorted({*(problem.build_only or ()), *held_out}))


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
        rules = JobRules(sides=Sides.NONE, withheld=self.problem.build_only or ())
        return Terms(None, f"PMPP runs of {self.row.token_id}", JUDGE_VERSIONS[Kind(self.problem.kind)], rules)

    is_scored_later = False

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


def owners_of(jobs: Sequence[Job]) -> list[JobOwner]:
    """The owners of several jobs, in their order. Those of evaluations are read by one query."""
    rows = evaluations().in_bulk({one.evaluation_id for one in jobs if one.evaluation_id is not None})
    return [EvaluationOwner.of(rows[one.evaluation_id]) if one.evaluation_id else owner_of(one) for one in jobs]


def lease_all(jobs: Sequence[Job]) -> None:
    """Mark the owners of leased jobs as running."""
    ids = [one.evaluation_id for one in jobs if one.evaluation_id is not None]
    if ids:
        Evaluation.objects.filter(pk__in=ids, state=EvaluationState.QUEUED).update(state=EvaluationState.LEASED)
    for one in jobs:
        if one.evaluation_id is None:
            owner_of(one).lease()


def owner_of(job: Job) -> JobOwner:
    if job.pmpp_run_id is not None:
        return PmppRunOwner(job.pmpp_run_id)
    if job.trial_id is not None:
        return TrialOwner(job.trial_id)
    if job.evaluation_id is None:
        raise ValueError(f"{job} has no owner")  # a constraint of the table forbids it
    return EvaluationOwner(job.evaluation_id)
