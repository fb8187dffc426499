"""Renews the leases that nodes name in their calls, including calls that are shed.

A call costs no query of its own: names are gathered, and one guarded UPDATE in five seconds renews them.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from runners.fleet.attempts.claim import token_digest
from runners.fleet.models import Attempt, AttemptState, Job, JobState, Node
from runners.wire.alive import HEADER, MOST_NAMED
from runners.wire.queues import LONGEST_ATTEMPT_SECONDS

MOST_GATHERED = 20_000
"""Leases gathered between two writes. Further names are dropped: the node names them again in its next call."""
MOST_UNCHECKED = 1_000
"""Further leases, named with tokens that this process has not yet found in the database. A stranger can fill these."""
WRITE_SECONDS = 5.0
GRAIN_SECONDS = 5
"""Ends of leases that are told apart, so that few updates renew all."""
MARGIN = timedelta(minutes=5)
"""A lease ends at most this long after the longest time that an attempt may take."""
PER_UPDATE = 100


class Renewals:
    """The leases to renew, gathered by the threads of one process."""

    def __init__(self) -> None:
        self._guard, self._writing = threading.Lock(), threading.Lock()
        self._until: dict[tuple[str, UUID], datetime] = {}
        self._unchecked: dict[tuple[str, UUID], datetime] = {}
        self._tokens: frozenset[str] = frozenset()
        """Digests of tokens that nodes had when they were last looked up."""
        self._written_at = -WRITE_SECONDS

    def note(self, token_digest: str, attempts: Collection[UUID], until: datetime) -> None:
        """Ask for these leases of the node with this token to last until then, if they are its own."""
        with self._guard:
            is_known = token_digest in self._tokens
            gathered, most = (self._until, MOST_GATHERED) if is_known else (self._unchecked, MOST_UNCHECKED)
            for attempt in attempts:
                key = token_digest, attempt
                if key in gathered or len(gathered) < most:
                    gathered[key] = max(until, gathered.get(key, until))

    def write_if_due(self) -> None:
        """Write what is gathered, once in five seconds at most. Another thread's writing is not waited for."""
        if not (self._until or self._unchecked) or time.monotonic() - self._written_at < WRITE_SECONDS:
            return
        if self._writing.acquire(blocking=False):
            try:
                self._written_at = time.monotonic()
                self.write()
            finally:
                self._writing.release()

    def write(self) -> None:
        with self._guard:
            gathered, self._until = self._until, {}
            unchecked, self._unchecked = self._unchecked, {}
        found = _tokens_of_nodes({token for token, _ in unchecked})
        self._tokens |= found
        gathered |= {key: until for key, until in unchecked.items() if key[0] in found}
        by_end: dict[datetime, dict[str, list[UUID]]] = defaultdict(lambda: defaultdict(list))
        for (node, attempt), until in gathered.items():
            by_end[until - timedelta(seconds=until.timestamp() % GRAIN_SECONDS)][node].append(attempt)
        for until, by_node in by_end.items():
            named = [Q(node__token_digest=node, pk__in=attempts) for node, attempts in by_node.items()]
            for start in range(0, len(named), PER_UPDATE):
                _renew(reduce(or_, named[start : start + PER_UPDATE]), until)


RENEWALS = Renewals()


def note_alive(request: HttpRequest) -> None:
    """Gather the leases that a call names. A token that is not known yet is looked up before they are renewed."""
    if named := request.headers.get(HEADER, ""):
        until = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
        RENEWALS.note(token_digest(request), _read(named), until)


def hold_for(request: HttpRequest, attempt: UUID, seconds: float) -> None:
    """Gather the lease of an attempt whose report was turned away, so that it lasts this long."""
    RENEWALS.note(token_digest(request), [attempt], timezone.now() + timedelta(seconds=seconds))


def _read(named: str) -> list[UUID]:
    """The ids of the header. What is no id is left out."""
    found = []
    for text in named.split(",", MOST_NAMED)[:MOST_NAMED]:
        try:
            found.append(UUID(text.strip()))
        except ValueError:
            continue
    return found


def is_due(ends: datetime | None, until: datetime) -> bool:
    """Whether a lease that would last until then is to be renewed: not if it lasts nearly as long."""
    return ends is not None and ends < _due(until)


def _due(until: datetime) -> datetime:
    return until - timedelta(seconds=settings.LEASE_SECONDS / 6)


def _tokens_of_nodes(digests: Collection[str]) -> frozenset[str]:
    """Those of the digests that nodes have; by one query if there are any."""
    rows = Node.objects.filter(token_digest__in=digests).values_list("token_digest", flat=True)
    return frozenset(rows) if digests else frozenset()


def _renew(named: Q, until: datetime) -> int:
    """Lengthen the leases of these attempts. A lease that lasts nearly as long is left alone, and so is that of an
    attempt which has taken longer than any may."""
    longest = timedelta(seconds=LONGEST_ATTEMPT_SECONDS) + MARGIN
    alive = Attempt.objects.filter(named, state=AttemptState.LEASED, leased_at__gt=until - longest)
    jobs = Job.objects.filter(state=JobState.LEASED, lease_expires_at__lt=_due(until), pk__in=alive.values("job"))
    return jobs.update(lease_expires_at=until)
