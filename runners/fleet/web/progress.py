"""A submission's progress: counts by state and verdict, its places in the queues, and the nodes that work on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.utils import timezone

from leaderboard.models import Evaluation, EvaluationState, Submission, SubmissionState
from leaderboard.results.shown_cases import shown_cases_so_far
from leaderboard.site.numerals import duration
from leaderboard.standings.absent import absent_verdicts
from leaderboard.visibility import SubmissionView
from leaderboard.web.results.case_rows import CaseTable, case_table
from leaderboard.web.results.verdicts import STATES, VERDICTS, Chip
from runners.fleet.models import Attempt, AttemptState
from runners.fleet.queue.queue_place import QueuePlace, queue_places, running_stages
from runners.fleet.queue.waiting import waits_of_submission

SHOWN_ATTEMPTS = 12


@dataclass(frozen=True)
class BarPart:
    """One part of the progress bar."""

    look: Chip
    n: int
    percent: float


@dataclass(frozen=True)
class ProgressCounts:
    """The submission's counts over all of its tracks, absent samples included.

    While an evaluation is run again it is neither done nor passed, though its last result stands.
    `stages` has the number of running attempts by stage.
    """

    n_total: int
    n_done: int
    n_withdrawn: int
    n_queued: int
    n_running: int
    n_passed: int
    counts: list[BarPart]
    stages: dict[str, int]
    running: list[Attempt]
    places: list[QueuePlace]
    elapsed_seconds: float
    is_live: bool
    waits_for_rerun: bool

    def time_words(self, *, is_imported: bool) -> str:
        """`3 min so far`, `took 12 min`; nothing for imported results, which took no time here."""
        words = duration(self.elapsed_seconds)
        if self.is_live:
            return f"{words} so far"
        return "" if is_imported else f"took {words}"


@dataclass(frozen=True)
class CasesSoFar:
    """The finished cases of a running attempt."""

    track: str
    table: CaseTable


def progress_context(view: SubmissionView, submission: Submission) -> dict[str, Any]:
    """The context of `fleet/submission_progress.html` for a user with this view. It shows the cases of a submission of
    one sample; those of more samples are on the pages of their evaluations."""
    progress, n_tracks = progress_of(submission, view), len(submission.tracks.all())
    return {
        "submission": submission,
        "may_change": view.may_change,
        "progress": progress,
        "time_words": progress.time_words(is_imported=submission.is_imported),
        "n_tracks": n_tracks,
        "waits": waits_of_submission(submission, n_queued=progress.n_queued, n_running=progress.n_running),
        "cases_so_far": _cases_so_far(view, progress.running) if progress.n_total <= n_tracks else [],
    }


def _cases_so_far(view: SubmissionView, running: Sequence[Attempt]) -> list[CasesSoFar]:
    """Cases of the attempts that have finished one."""
    return [
        CasesSoFar(one.job.track.slug, case_table(shown_cases_so_far(view, one.cases), []))
        for one in running
        if one.cases
    ]


def progress_of(submission: Submission, view: SubmissionView) -> ProgressCounts:
    """The submission's progress. Makes a constant number of queries, and two more for each queue in which it waits."""
    live = Evaluation.objects.live().filter(submission=submission).order_by()
    rows = list(view.told(live).values_list("state", "told").annotate(Count("pk")))
    rows += [(EvaluationState.DONE.value, verdict, n) for verdict, n in absent_verdicts(submission).items()]
    by_state = {state: sum(n for s, _, n in rows if s == state) for state in EvaluationState.values}
    total = sum(by_state.values())
    attempts = Attempt.objects.filter(job__evaluation__in=submission.evaluations.live(), state=AttemptState.LEASED)
    attempts = attempts.select_related("node", "job__evaluation", "job__track").order_by("leased_at")
    running = list(attempts[:SHOWN_ATTEMPTS]) if by_state[EvaluationState.LEASED] else []
    open_work = by_state[EvaluationState.QUEUED] + by_state[EvaluationState.LEASED]
    ended = submission.finished_at if submission.state != SubmissionState.ACCEPTED else None
    return ProgressCounts(
        n_total=total,
        n_done=by_state[EvaluationState.DONE],
        n_withdrawn=by_state[EvaluationState.CANCELLED],
        n_queued=by_state[EvaluationState.QUEUED],
        n_running=by_state[EvaluationState.LEASED],
        n_passed=sum(n for state, verdict, n in rows if state == EvaluationState.DONE and verdict == "passed"),
        counts=_counts(rows, total),
        stages=running_stages(submission) if running else {},
        running=running,
        places=queue_places(submission) if by_state[EvaluationState.QUEUED] else [],
        elapsed_seconds=((ended or timezone.now()) - submission.created_at).total_seconds(),
        is_live=open_work > 0,
        waits_for_rerun=open_work > 0 and submission.state == SubmissionState.DONE,
    )


def _counts(rows: Sequence[tuple[str, str | None, int]], total: int) -> list[BarPart]:
    """The parts of the progress bar: ended work by verdict, in the order of the verdicts, then the rest by state."""
    found: dict[str, int] = {}
    for state, verdict, n in rows:
        key = verdict if verdict and state == EvaluationState.DONE else state
        found[key] = found.get(key, 0) + n
    looks = {**VERDICTS, **{name: STATES[name] for name in ("leased", "queued", "cancelled")}}
    return [BarPart(look, found[key], 100 * found[key] / total) for key, look in looks.items() if found.get(key)]
