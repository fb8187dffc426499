"""One heartbeat of a node renews the leases of all its attempts and stores their progress."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from runners.fleet.attempts.renewals import MARGIN, is_due
from runners.fleet.models import Attempt, AttemptState, Job, JobState, Node
from runners.wire.batches import NodeBeat, NodeBeatReply
from runners.wire.queues import LONGEST_ATTEMPT_SECONDS


def take(node: Node, said: NodeBeat) -> NodeBeatReply:
    """One query for all attempts, one if leases are to be renewed, and one for each attempt whose progress changed."""
    if not said.beats:
        return NodeBeatReply(cancelled=[])
    now = timezone.now()
    named = {one.attempt: one for one in said.beats}
    held = Attempt.objects.filter(pk__in=named, node=node, state=AttemptState.LEASED)
    rows = held.annotate(until=F("job__lease_expires_at"))
    known = {row["pk"]: row for row in rows.values("pk", "leased_at", "work_stage", "log_tail", "cases", "until")}
    _renew(known.values(), now)
    for pk, row in known.items():
        beat = named[pk]
        cases = [case.model_dump(mode="json") for case in beat.cases]
        if (row["work_stage"], row["log_tail"], row["cases"]) != (beat.stage, beat.log_tail, cases):
            held.filter(pk=pk).update(work_stage=beat.stage, log_tail=beat.log_tail, cases=cases)
    return NodeBeatReply(cancelled=sorted(named.keys() - known.keys()))


def _renew(rows: Iterable[Mapping[str, Any]], now: datetime) -> None:
    """Lengthen their leases, but not of attempts that have taken longer than any may."""
    until, longest = now + timedelta(seconds=settings.LEASE_SECONDS), timedelta(seconds=LONGEST_ATTEMPT_SECONDS)
    due = [row["pk"] for row in rows if row["leased_at"] > now - longest - MARGIN and is_due(row["until"], until)]
    if due:
        alive = Attempt.objects.filter(pk__in=due, state=AttemptState.LEASED)
        jobs = Job.objects.filter(state=JobState.LEASED, pk__in=alive.values("job"), lease_expires_at__lt=until)
        jobs.update(lease_expires_at=until)
