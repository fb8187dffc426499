"""How busy the tracks of a form are: nodes online, jobs running and queued."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from leaderboard.models import Track
from runners.fleet.models import ONLINE_FOR, NodeGrant
from runners.fleet.web.fleet_state import Queue, queues
from runners.wire.protocol import Stage


@dataclass(frozen=True)
class TrackState:
    """One track as a choice. `box` is its check box in the form."""

    box: Any
    track: Track
    n_online: int
    n_working: int
    """Online nodes that take work: neither disabled nor held up."""
    n_running: int
    n_queued: int
    oldest_queued_at: datetime | None

    @property
    def needs_nodes(self) -> bool:
        """The site itself settles what is on a track without hardware."""
        return self.track.device != "none"


def track_choices_context(boxes: Iterable[Any]) -> dict[str, list[TrackState]]:
    """Context of `fleet/track_choices.html`, of a form's check boxes of tracks. Makes three queries."""
    open_jobs = {queue.track.pk: queue for queue in queues()}
    nodes = _nodes()
    return {"choices": [_state(box, open_jobs, nodes) for box in boxes]}


def _state(box: Any, open_jobs: dict[int, Queue], nodes: dict[int, tuple[int, int]]) -> TrackState:
    track = box.data["value"].instance
    queue = open_jobs.get(track.pk, Queue(track, 0, 0, None))
    return TrackState(box, track, *nodes.get(track.pk, (0, 0)), queue.n_running, queue.n_queued, queue.oldest_queued_at)


def _nodes() -> dict[int, tuple[int, int]]:
    """The number of online nodes that run tests, and of those among them that take work, by track id."""
    runs = NodeGrant.objects.filter(node__last_seen_at__gt=timezone.now() - ONLINE_FOR).exclude(stage=Stage.BUILD)
    fit = Q(node__disabled_reason="", node__obstacle="")
    rows = runs.order_by().values_list("track_id").annotate(
        online=Count("node", distinct=True), working=Count("node", distinct=True, filter=fit)
    )  # fmt: skip
    return {track: (online, working) for track, online, working in rows}
