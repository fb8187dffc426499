"""Locks among the site's workers, stored as rows. They work on every database and hold no transaction open."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from runners.fleet.models import TaskLock

FREE = datetime(2000, 1, 1, tzinfo=UTC)


@contextmanager
def held(name: str, seconds: float) -> Iterator[bool]:
    """Try to take a lock, without waiting. Yields whether the caller holds it.

    The end of the `with` block releases the lock. If the process dies, the lock expires after `seconds`.
    """
    until = _take(name, seconds)
    try:
        yield until is not None
    finally:
        if until is not None:
            TaskLock.objects.filter(name=name, held_until=until).update(held_until=FREE)


def _take(name: str, seconds: float) -> datetime | None:
    now = timezone.now()
    until = now + timedelta(seconds=seconds)
    if not TaskLock.objects.filter(name=name).exists():
        TaskLock.objects.bulk_create([TaskLock(name=name, held_until=FREE)], ignore_conflicts=True)
    taken = TaskLock.objects.filter(name=name, held_until__lt=now).update(held_until=until)
    return until if taken else None
