"""Retries of lost attempts: which node may try a job again, and when nodes have tried it enough."""

from collections.abc import Collection

from django.conf import settings
from django.db.models import Q, QuerySet

from runners.fleet.models import LOST, Attempt, Job, Node, NodeGrant, online
from runners.fleet.queue.fit import why_not
from runners.wire.protocol import Capabilities, Stage


def is_spent(job: Job) -> bool:
    """Whether enough attempts were lost: three, on two nodes where another node serves the job's track."""
    if job.n_attempts < settings.MAX_ATTEMPTS:
        return False
    nodes = lost_on(job)
    return len(nodes) > 1 or not _others_serve(job, nodes)


def lost_on(job: Job) -> dict[int, str]:
    """The nodes on which attempts at the job were lost: slugs by id."""
    lost = Attempt.objects.filter(LOST, job=job).order_by("node__slug")
    return dict(lost.values_list("node_id", "node__slug"))


def in_turn(queue: QuerySet[Job], node: Node, first: Job) -> Job | None:
    """The node's next job of an ordered queue whose first job has lost attempts.

    Jobs that this node has not lost go first. The last attempt at a job that only this node has lost is left to the
    other nodes that serve the queue.
    """
    lost_here = Attempt.objects.filter(LOST, node=node).values("job_id")
    if found := queue.exclude(pk__in=lost_here).first():
        return found
    if not _others_serve(first, [node.pk]):
        return first
    lost_elsewhere = Attempt.objects.filter(LOST).exclude(node=node).values("job_id")
    return queue.filter(Q(n_attempts__lt=settings.MAX_ATTEMPTS - 1) | Q(pk__in=lost_elsewhere)).first()


def _others_serve(job: Job, nodes: Collection[int]) -> bool:
    """Whether another node than these is online, takes work and is fit for the job's track and stage."""
    stage = Stage(job.stage)
    grants = NodeGrant.objects.filter(track_id=job.track_id, stage=stage, node__disabled_reason="", node__obstacle="")
    grants = grants.filter(online("node__")).exclude(node__in=nodes)
    return any(
        not why_not(Capabilities.model_validate(one.node.capabilities), one.track, stage)
        for one in grants.select_related("node", "track")
    )
