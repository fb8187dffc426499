"""How busy the tracks of a form are: nodes online, jobs running and queued."""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Q
from django.urls import reverse

from leaderboard.models import Track
from runners.fleet.models import NodeGrant, online
from runners.fleet.web.fleet_state import queues
from runners.wire.protocol import Stage


@dataclass(frozen=True)
class TrackState:
    """One track, as a form that offers it describes it."""

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


def track_states(slugs: Container[str]) -> list[TrackState]:
    """The present state of the named tracks. Makes three queries."""
    nodes = nodes_by_track()
    return [
        TrackState(
            one.track, *nodes.get(one.track.pk, (0, 0)), one.n_running, one.n_queued, one.oldest_queued_at
        )
        for one in queues()
        if one.track.slug in slugs
    ]  # fmt: skip


def track_choices_context(boxes: Iterable[Any]) -> dict[str, Any]:
    """Context of `fleet/track_choices.html`, of a form's check boxes of tracks."""
    by_slug = {box.data["value"].instance.slug: box for box in boxes}
    states = track_states(by_slug)
    query = urlencode([("track", one.track.slug) for one in states])
    choices = [(by_slug[one.track.slug], one) for one in states]
    return {"choices": choices, "states": states, "refresh_url": f"{reverse('track_states')}?{query}"}


def nodes_by_track() -> dict[int, tuple[int, int]]:
    """The number of online nodes that run tests, and of those among them that take work, by track id. Tracks without
    online nodes are absent. Makes one query."""
    runs = NodeGrant.objects.filter(online("node__")).exclude(stage=Stage.BUILD)
    fit = Q(node__disabled_reason="", node__obstacle="")
    rows = runs.order_by().values_list("track_id").annotate(
        online=Count("node", distinct=True), working=Count("node", distinct=True, filter=fit)
    )  # fmt: skip
    return {track: (online, working) for track, online, working in rows}
