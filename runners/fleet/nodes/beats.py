"""One heartbeat of a node renews the leases of all its attempts and stores their progress."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from runners.fleet.attempts.renewals import MARGIN
from runners.fleet.models import Attempt, AttemptState, Job, JobState, Node
from runners.wire.batches import NodeBeat, NodeBeatReply
from runners.wire.queues import LONGEST_ATTEMPT_SECONDS


def take(node: Node, said: NodeBeat) -> NodeBeatReply:
    """Two queries for all attempts, and one for each whose progress has changed."""
    if not said.beats:
        return NodeBeatReply(cancelled=[])
    now = timezone.now()
    named = {one.attempt: one for one in said.beats}
    held = Attempt.objects.filter(pk__in=named, node=node, state=AttemptState.LEASED)
    known = {row["pk"]: row for row in held.values("pk", "job_id", "work_stage", "log_tail", "cases")}
    young = Attempt.objects.filter(
        pk__in=known, state=AttemptState.LEASED,
        leased_at__gt=now - timedelta(seconds=LONGEST_ATTEMPT_SECONDS) - MARGIN,
    )  # fmt: skip
    expires = now + timedelta(seconds=settings.LEASE_SECONDS)
    Job.objects.filter(state=JobState.LEASED, pk__in=young.values("job"), lease_expires_at__lt=expires).update(
        lease_expires_at=expires
    )
    for pk, row in known.items():
        beat = named[pk]
        cases = [case.model_dump(mode="json") for case in beat.cases]
        if (row["work_stage"], row["log_tail"], row["cases"]) != (beat.stage, beat.log_tail, cases):
            held.filter(pk=pk).update(work_stage=beat.stage, log_tail=beat.log_tail, cases=cases)
    return NodeBeatReply(cancelled=sorted(named.keys() - known.keys()))
