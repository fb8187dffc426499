"""The work on one evaluation: its running attempt with finished cases and the last lines of its log, or the reason why
it waits."""

from typing import Any

from django.db.models import Count, Q

from leaderboard import visibility
from leaderboard.models import Evaluation, Trial
from leaderboard.results.shown_cases import shown_cases_so_far
from leaderboard.visibility import SubmissionView
from leaderboard.web.results.case_rows import case_table
from runners.fleet.models import LOST, UNBEGUN, Attempt, AttemptState, Job, JobState
from runners.fleet.queue.queue_place import places_of
from runners.fleet.queue.waiting import waits_of
from runners.wire.protocol import Stage


def work_context(user: Any, view: SubmissionView, evaluation: Evaluation) -> dict[str, Any]:
    """The context of `fleet/evaluation_work.html` for this user, whose view it is of the submission. Makes at most 13
    queries, none if the evaluation has ended."""
    context: dict[str, Any] = {"evaluation": evaluation}
    if not evaluation.is_open:
        return context
    attempt = _running_attempt(evaluation)
    log_tail = _log_tail(user, evaluation, attempt) if attempt else ""
    cases = case_table(shown_cases_so_far(view, attempt.cases), []) if attempt else None
    waits = [] if attempt else waits_of(places_of(Job.objects.filter(evaluation=evaluation)))
    return context | {
        "attempt": attempt, "log_tail": log_tail, "cases": cases, "waits_to_run": _waits_to_run(evaluation),
        "earlier": _earlier_attempts(evaluation), "waits": waits,
    }  # fmt: skip


def trial_work_context(user: Any, trial: Trial) -> dict[str, Any]:
    """The context of `fleet/trial_work.html` for this user, who may see the trial. Makes at most nine queries."""
    attempt = Attempt.objects.filter(job__trial=trial, state=AttemptState.LEASED).select_related("node").first()
    if attempt is None:
        return {"trial": trial, "waits": waits_of(places_of(Job.objects.filter(trial=trial)))}
    may_see = visibility.may_see_trial_tail(user, attempt.work_stage)
    return {"trial": trial, "attempt": attempt, "log_tail": attempt.log_tail if may_see else ""}


def _running_attempt(evaluation: Evaluation) -> Attempt | None:
    leased = Attempt.objects.filter(job__evaluation=evaluation, state=AttemptState.LEASED)
    return leased.select_related("node").first()


def _log_tail(user: Any, evaluation: Evaluation, attempt: Attempt) -> str:
    """The last lines of the running command; empty for users who may not read them."""
    may_see = visibility.may_see_live_tail(user, evaluation.submission, attempt.work_stage)
    return attempt.log_tail if may_see else ""


def _earlier_attempts(evaluation: Evaluation) -> dict[str, int]:
    """The numbers of attempts at its open jobs that were lost, and that went back unfinished without counting as lost;
    empty if there are none."""
    open_jobs = Job.objects.filter(evaluation=evaluation, state__in=[JobState.QUEUED, JobState.LEASED])
    went_back = Q(state=AttemptState.GIVEN_BACK) | UNBEGUN
    counts = Attempt.objects.filter(job__in=open_jobs).aggregate(
        lost=Count("pk", filter=LOST), given_back=Count("pk", filter=went_back)
    )
    return counts if any(counts.values()) else {}


def _waits_to_run(evaluation: Evaluation) -> bool:
    """Whether the evaluation is built and waits for a node that can run it."""
    return Job.objects.filter(evaluation=evaluation, stage=Stage.RUN, state=JobState.QUEUED).exists()
