"""Runs trials of solutions before submission: with high priority, shown only to their user, deleted after a day."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from leaderboard import blobs
from leaderboard.accounts.quotas import Use, spending
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.intake.submission_rules import check_is_open, check_sample, check_tracks
from leaderboard.models import Entrant, ProblemTrack, Track, Trial, TrialState
from leaderboard.models.submissions.trial import OPEN_TRIALS
from leaderboard.signals import trials_queued
from leaderboard.visibility import may_see_board, may_see_statement
from problems.formats.submission import IncomingSample
from problems.models import Problem
from problems.spec.kinds import SITE_KINDS
from problems.spec.sizes import why_bad_sizes
from runners.wire.protocol import Report

MAX_OPEN_TRIALS = 3
"""Maximum number of open trials per user."""
TRIAL_PRIORITY = 20
"""Higher than typed code's, because trials are short and their user waits."""
KEPT_FOR = timedelta(days=1)


def try_solution(
    user: Any, problem: Problem, track: Track, incoming: IncomingSample, sizes: Mapping[str, int] | None = None
) -> Trial:
    """Queue one solution as a trial, of the smallest case or of own sizes.

    Raises NotAllowed, Refused, TooMuch or Conflict, and then stores nothing.
    """
    chosen = dict(sizes or {})
    _check(user, problem, track)
    check_sample(incoming)
    if words := why_bad_sizes(problem.spec.trial_sizes, chosen):
        raise Refused("bad_sizes", words)
    with spending(user, Use(1, len(incoming.record))):
        return _store(user, problem, track, incoming, chosen)


def _store(user: Any, problem: Problem, track: Track, incoming: IncomingSample, sizes: dict[str, int]) -> Trial:
    _check_room(user)  # before its blob is stored, and again below when nobody else can add a trial
    sha256 = blobs.store().put(incoming.record)
    with transaction.atomic():
        _hold(user)
        _check_room(user)
        trial = Trial.objects.create(
            user=user,
            problem=problem,
            track=track,
            solution_sha256=sha256,
            solution_bytes=len(incoming.record),
            sizes=sizes,
        )
        trials_queued.send(Trial, trial_ids=[trial.pk], priority=TRIAL_PRIORITY)
    return trial


def _check(user: Any, problem: Problem, track: Track) -> None:
    release = problem.release
    if not may_see_board(user, release):
        raise NotAllowed("no_such_release", f"There is no release {release.slug!r} that you may see.")
    if not may_see_statement(user, problem):
        raise NotAllowed("statement_private", f"You may not read {problem.task_id}, so you cannot run solutions to it.")
    if not Entrant.objects.submittable_by(user).exists():
        raise NotAllowed("no_entrant", "Only those who may submit for an entrant may try a solution. Create yours.")
    if problem.kind in SITE_KINDS:
        raise Refused("nothing_to_run", f"{problem.task_id} is a question: there is nothing to run. Submit the answer.")
    check_is_open(release)
    check_tracks(release, [track])
    skipped = ProblemTrack.objects.filter(problem=problem, track=track).exclude(skip_reason="").first()
    if skipped is not None:
        raise Refused("skipped", f"{problem.task_id} cannot run on {track.slug}: it {skipped.skip_reason}.")


def _hold(user: Any) -> None:
    """Lock the user until the transaction ends, so that simultaneous requests wait."""
    list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))


def _check_room(user: Any) -> None:
    """Raises Conflict if MAX_OPEN_TRIALS of the user are open."""
    if Trial.objects.filter(user=user, state__in=OPEN_TRIALS).count() >= MAX_OPEN_TRIALS:
        raise Conflict("too_many_trials", f"{MAX_OPEN_TRIALS} of your trials are under way; wait until one has ended.")


def end_trial(trial: Trial, report: Report) -> None:
    """Store the trial's outcome. A trial has no result, so nothing else changes."""
    outcome = report.model_dump(mode="json", include={"verdict", "reason", "steps", "cases", "listing"})
    Trial.objects.filter(pk=trial.pk, state__in=OPEN_TRIALS).update(
        state=TrialState.DONE, outcome=outcome, ended_at=timezone.now()
    )


def forget_old_trials() -> int:
    """Delete trials older than a day, with their jobs. Returns their number."""
    old = Trial.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).exclude(state=TrialState.LEASED)
    return old.delete()[1].get(Trial._meta.label, 0)
