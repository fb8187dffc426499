"""Runs of PMPP's server routes: queues a solution for the held-out tests, joins identical ones, stores their ends."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from leaderboard import blobs
from leaderboard.accounts.quotas import Use, spending
from leaderboard.accounts.staff_mfa import NEEDED, lacks_second_factor
from leaderboard.errors import NotAllowed, Refused, TooMuch, Unavailable
from leaderboard.intake.submission_rules import check_is_open, check_sample, check_tracks
from leaderboard.models import Entrant, PmppRun, PmppRunState, PmppToken, ProblemTrack, Track
from leaderboard.models.audit import record
from leaderboard.models.submissions.pmpp import OPEN_RUNS
from leaderboard.signals import pmpp_runs_queued
from problems.formats.submission import IncomingSample
from problems.models import Problem, Release
from runners.wire.protocol import Report, Verdict

KEPT_FOR = timedelta(days=7)
UNGRADED_VERDICTS = (Verdict.PLATFORM_ERROR, Verdict.SKIPPED)


@dataclass(frozen=True)
class NewToken:
    """A user's request for a token."""

    entrant: Entrant
    release: Release
    track: Track
    name: str
    daily_runs: int
    expires_at: datetime


def issue_token(user: Any, asked: NewToken) -> tuple[PmppToken, str]:
    """Make a token and its secret. Raises NotAllowed or Refused."""
    _check_place(user, asked.entrant, asked.release, asked.track)
    token, secret = PmppToken.issue(user=user, **vars(asked))
    facts = {"entrant": asked.entrant.slug, "release": asked.release.slug, "track": asked.track.slug}
    record(user, "issue_pmpp_token", token, expires=asked.expires_at.isoformat(), **facts)
    return token, secret


def revoke_token(user: Any, token: PmppToken) -> bool:
    """Revoke the token from now on. Returns False if it was revoked already."""
    revoked = PmppToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    if revoked:
        record(user, "revoke_pmpp_token", token)
    return bool(revoked)


def ask(token: PmppToken, problem: Problem, incoming: IncomingSample, *, is_reference: bool = False) -> PmppRun:
    """The token's run of this solution: a new one, or the one that is queued, running or done.

    Raises NotAllowed, Refused, TooMuch, Conflict or Unavailable, and then stores nothing.
    """
    _check_may_run(token, problem)
    check_sample(incoming)
    sha256 = hashlib.sha256(incoming.record).hexdigest()
    if run := _joined(token, sha256, is_reference):
        return run
    _check_room(token)  # before the blob is stored, and again below when nobody else can add a run
    try:
        with spending(token.user, Use(1, len(incoming.record))):
            blobs.store().put(incoming.record)
            row = PmppRun(
                token=token, problem=problem, is_reference=is_reference, solution_sha256=sha256,
                solution_bytes=len(incoming.record), n_calls=1,
            )  # fmt: skip
            return _store(row)
    except IntegrityError:
        if run := _joined(token, sha256, is_reference):  # stored by another request since
            return run
        raise


def _joined(token: PmppToken, sha256: str, is_reference: bool) -> PmppRun | None:
    rows = PmppRun.objects.filter(token=token, solution_sha256=sha256, is_reference=is_reference)
    run = rows.exclude(state=PmppRunState.NOT_GRADED).first()
    if run is not None:
        PmppRun.objects.filter(pk=run.pk).update(n_calls=F("n_calls") + 1)
    return run


@transaction.atomic
def _store(row: PmppRun) -> PmppRun:
    list(PmppToken.objects.select_for_update(no_key=True).filter(pk=row.token.pk).values_list("pk"))
    n_open = _check_room(row.token)
    row.save(force_insert=True)
    pmpp_runs_queued.send(PmppRun, run_id=row.pk, n_before=n_open)
    return row


def _check_room(token: PmppToken) -> int:
    """The token's number of open runs. Raises Unavailable or TooMuch if it may not have another."""
    n_open = PmppRun.objects.filter(token=token, state__in=OPEN_RUNS).count()
    if n_open >= settings.PMPP_OPEN_RUNS:
        words = f"{n_open} runs of this token are queued or running, the most that it may have. Try again later."
        raise Unavailable("too_many_open", words)
    today = datetime.combine(timezone.now().date(), time(), UTC)
    if PmppRun.objects.filter(token=token, created_at__gte=today).count() >= token.daily_runs:
        words = f"This token has had its {token.daily_runs:,} runs of today. Try again tomorrow (UTC)."
        raise TooMuch("token_quota_exceeded", words)
    return n_open


def _check_may_run(token: PmppToken, problem: Problem) -> None:
    """Raises NotAllowed, Conflict or Refused if the token's user may not submit a solution of the problem now."""
    _check_place(token.user, token.entrant, token.release, token.track)
    skipped = ProblemTrack.objects.filter(problem=problem, track=token.track).exclude(skip_reason="").first()
    if skipped is not None:
        raise Refused("skipped", f"{problem.task_id} cannot run on {token.track.slug}: it {skipped.skip_reason}.")


def _check_place(user: Any, entrant: Entrant, release: Release, track: Track) -> None:
    if lacks_second_factor(user):
        raise NotAllowed("second_factor_needed", NEEDED)
    if not Entrant.objects.submittable_by(user).filter(pk=entrant.pk).exists():
        words = f"{user.get_username()} may not submit for {entrant.name}. Ask its owner to add the account."
        raise NotAllowed("not_your_entrant", words)
    if not Release.objects.open_to(user).filter(pk=release.pk).exists():
        raise NotAllowed("no_such_release", f"There is no release {release.slug!r} that this account may see.")
    check_is_open(release)
    check_tracks(release, [track])


def end_run(run: PmppRun, report: Report) -> None:
    """Store the run's end. Nothing else changes: it counts nowhere."""
    state = PmppRunState.NOT_GRADED if report.verdict in UNGRADED_VERDICTS else PmppRunState.DONE
    outcome = report.model_dump(mode="json", include={"verdict", "reason", "steps", "flags"})
    PmppRun.objects.filter(pk=run.pk, state__in=OPEN_RUNS).update(state=state, outcome=outcome, ended_at=timezone.now())


def note_unanswered(run_id: int) -> None:
    """Count a call whose time limit ended before its run."""
    PmppRun.objects.filter(pk=run_id).update(n_unanswered=F("n_unanswered") + 1)


def forget_old_runs() -> int:
    """Delete runs older than a week, with their jobs. Returns their number."""
    old = PmppRun.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).exclude(state=PmppRunState.LEASED)
    return old.delete()[1].get(PmppRun._meta.label, 0)
