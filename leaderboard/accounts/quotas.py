"""Quotas: how many evaluations, bytes and full submissions may be sent on one day (UTC). Organisers have none."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from leaderboard.errors import TooMuch
from leaderboard.models import DailyUse, Entrant, Submission
from problems.models import Release


@dataclass(frozen=True)
class Use:
    """One request's addition to its account's day."""

    n_evaluations: int
    n_bytes: int = 0


@contextmanager
def spending(user: Any, use: Use) -> Iterator[None]:
    """Take the use from the account's day, and give it back if the block fails. Raises TooMuch.

    The day's row is changed before the block, in a transaction of its own, so that no lock is held while blobs are
    stored.
    """
    day = take(user, use)
    try:
        yield
    except BaseException:
        if not _is_free(user):
            _add(_row(user, day), Use(-use.n_evaluations, -use.n_bytes))
        raise


@transaction.atomic
def take(user: Any, use: Use) -> date:
    """Add the use to the account's present day, which is returned. Raises TooMuch if that is more than a quota."""
    day = timezone.now().date()
    if _is_free(user):
        return day
    DailyUse.objects.get_or_create(user_id=user.pk, day=day)
    rest = {
        "n_evaluations__lte": settings.DAILY_EVALUATIONS - use.n_evaluations,
        "n_bytes__lte": settings.DAILY_BYTES - use.n_bytes,
    }
    if not _add(_row(user, day).filter(**rest), use):
        raise TooMuch("quota_exceeded", _words(_today(_row(user, day).get()), use))
    return day


def check_tries(user: Any, entrant: Entrant, release: Release) -> None:
    """Raises TooMuch if the entrant has its day's full submissions to the release, from all accounts together, or the
    account has them, for all entrants together."""
    if _is_free(user):
        return
    start = datetime.combine(timezone.now().date(), time.min, tzinfo=UTC)
    today = Submission.objects.filter(release=release, is_full=True, created_at__gte=start)
    for whose, by in ((entrant.name, {"entrant": entrant}), ("your account", {"submitted_by": user})):
        if (n := today.filter(**by).count()) >= settings.DAILY_TRIES:
            words = f"{n} full submissions of {whose} to {release.slug} are from today, the most on a day (UTC)."
            raise TooMuch("too_many_tries", f"{words} Cancelled ones count. Send it tomorrow, or ask the organisers.")


def give_back(user: Any, day: date, n_evaluations: int) -> None:
    """Take evaluations that never began off the account's use of `day`. Bytes stay: their solutions are stored."""
    if user is not None and n_evaluations:
        _add(_row(user, day).filter(n_evaluations__gte=n_evaluations), Use(-n_evaluations))


@dataclass(frozen=True)
class Today:
    """An account's use of its quotas today."""

    used: Use
    quota: Use

    @property
    def left(self) -> Use:
        quota, used = self.quota, self.used
        return Use(max(0, quota.n_evaluations - used.n_evaluations), max(0, quota.n_bytes - used.n_bytes))

    def why_too_much(self, use: Use) -> str:
        """Returns the reason why the use is refused today; empty if it is not."""
        fits = use.n_evaluations <= self.left.n_evaluations and use.n_bytes <= self.left.n_bytes
        return "" if fits else _words(self, use)

    def after(self, use: Use) -> "Today":
        """The account's day once the use is taken from it."""
        used = Use(self.used.n_evaluations + use.n_evaluations, self.used.n_bytes + use.n_bytes)
        return Today(used, self.quota)


def of_today(user: Any) -> Today | None:
    """The use of today; None for accounts without a quota. One query."""
    if _is_free(user):
        return None
    return _today(_row(user, timezone.now().date()).first() or DailyUse())


def _today(row: DailyUse) -> Today:
    return Today(Use(row.n_evaluations, row.n_bytes), Use(settings.DAILY_EVALUATIONS, settings.DAILY_BYTES))


def _is_free(user: Any) -> bool:
    """Whether there is no quota: for organisers and for the site itself."""
    return user is None or bool(getattr(user, "is_staff", False))


def _row(user: Any, day: date) -> QuerySet[DailyUse]:
    return DailyUse.objects.filter(user_id=user.pk, day=day)


def _add(row: QuerySet[DailyUse], use: Use) -> int:
    more = {"n_evaluations": F("n_evaluations") + use.n_evaluations, "n_bytes": F("n_bytes") + use.n_bytes}
    return row.update(**more)


def _words(today: Today, use: Use) -> str:
    used, quota = today.used, today.quota
    evaluations = f"{use.n_evaluations:,} more evaluations (used: {used.n_evaluations:,} of {quota.n_evaluations:,})"
    size = f"{use.n_bytes:,} more bytes of solutions (used: {used.n_bytes:,} of {quota.n_bytes:,})"
    rest = "Send it tomorrow (UTC), send less, or ask the organisers."
    return f"This is more than your account may send today: {evaluations} and {size}. {rest}"
