"""How busy the tracks of a form are: nodes online, jobs running and queued, and why no node takes a track."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from leaderboard.models import Track
from runners.fleet.queue.waiting import grants_by_place, nobody, why_idle
from runners.fleet.web.fleet_state import queues
from runners.wire.protocol import Stage


@dataclass(frozen=True)
class TrackState:
    """One track, as a form that offers it describes it."""

    track: Track
    n_online: int
    n_working: int
    """Online nodes that take work: neither disabled nor held up, and of the track's hardware."""
    n_running: int
    n_queued: int
    oldest_queued_at: datetime | None
    nobody: str
    """A sentence if no node takes the track's work now, else ""."""

    @property
    def needs_nodes(self) -> bool:
        """The site itself settles what is on a track without hardware."""
        return self.track.device != "none"


def track_states(slugs: Collection[str]) -> list[TrackState]:
    """The present state of the named tracks. Makes three queries."""
    grants = grants_by_place(slugs)
    states = []
    for one in queues():
        if (slug := one.track.slug) not in slugs:
            continue
        tests = [grant for stage in (Stage.BOTH, Stage.RUN) for grant in grants.get((slug, stage), ())]
        n_online = len({grant.node_id for grant in tests if grant.node.is_online})
        n_working = len({grant.node_id for grant in tests if not why_idle(grant)})
        stages = (Stage.BUILD, Stage.RUN) if one.track.splits_jobs else (Stage.BOTH,)
        words = next(filter(None, (nobody((slug, stage), grants) for stage in stages)), "")
        counts = (one.n_running, one.n_queued, one.oldest_queued_at)
        states.append(TrackState(one.track, n_online, n_working, *counts, nobody=words))
    return states


def track_choices_context(boxes: Iterable[Any]) -> dict[str, Any]:
    """Context of `fleet/track_choices.html` and `fleet/nobody.html`, of a form's check boxes of tracks."""
    by_slug = {box.data["value"].instance.slug: box for box in boxes}
    states = track_states(by_slug)
    query = urlencode([("track", one.track.slug) for one in states])
    choices = [(by_slug[one.track.slug], one) for one in states]
    return {"choices": choices, "states": states, "refresh_url": f"{reverse('track_states')}?{query}"}
