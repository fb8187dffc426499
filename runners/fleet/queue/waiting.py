"""The reasons why queued work does not move, in one sentence for each queue."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Max
from django.utils import timezone

from leaderboard.models import Submission
from leaderboard.site import numerals
from problems.spec.numbered import numbered
from runners.fleet.models import Attempt, AttemptState, BrokerFault, Job, JobState, Node, NodeGrant, Pulse, Service
from runners.fleet.queue.fit import why_not
from runners.fleet.queue.messages import Place
from runners.fleet.queue.queue_place import QueuePlace, queue_places
from runners.fleet.worker.broker_faults import WHOLE
from runners.fleet.worker.pulse import Part, last
from runners.wire.protocol import Capabilities, Stage
from runners.wire.queues import queue_name

SHOWN_NODES = 3
LOOKED_AT_JOBS = 1000
"""The newest jobs, whose attempts say how long one takes."""
SOON = timedelta(seconds=20)
"""A free node takes work within this time. Longer waits are told apart."""


@dataclass(frozen=True)
class Wait:
    """The obstacle of one queue. `is_stuck` tells a fault, or that no node takes the work, from a busy fleet."""

    track: str
    stage: str
    words: str
    is_stuck: bool


@dataclass
class Fleet:
    """The present state of worker, broker and nodes, for the queues of the given tracks. Makes six queries."""

    tracks: Collection[str]
    refused: dict[str, BrokerFault] = field(init=False)
    _leased: dict[Place, int] = field(init=False)
    _grants: dict[Place, list[NodeGrant]] = field(init=False)
    _takes: dict[Place, timedelta] = field(init=False)

    def __post_init__(self) -> None:
        self._pulses = dict(Pulse.objects.values_list("name", "at"))
        self.refused = {one.queue: one for one in BrokerFault.objects.all()}
        leased = Job.objects.filter(state=JobState.LEASED).order_by().values("track__slug", "stage")
        rows = list(leased.annotate(n=Count("pk"), newest=Max("pk")))
        self._leased = {(row["track__slug"], row["stage"]): row["n"] for row in rows}
        self._takes = _took(max(row["newest"] for row in rows)) if rows else {}
        self._grants = grants_by_place(self.tracks)

    @property
    def site_words(self) -> str:
        """The obstacle of every queue, in one sentence; "" if there is none."""
        return self.worker_words or self.broker_words

    @property
    def worker_words(self) -> str:
        """A sentence if the site's worker does nothing, with the time since when. Its periodic tasks need the
        broker."""
        for part, name in ((Part.WORKER, "The site's worker"), (Part.TASKS, "The periodic work of the site's worker")):
            at, is_alive = last(self._pulses, part)
            if not is_alive and not (part is Part.TASKS and WHOLE in self.refused):
                return f"{name} has stopped: it was last seen {_since(at)}." if at else f"{name} has never run."
        return ""

    @property
    def broker_words(self) -> str:
        fault = self.refused.get(WHOLE)
        return f"The site cannot use its broker since {_moment(fault.since)}: {fault.words}." if fault else ""

    @property
    def scores_words(self) -> str:
        """The obstacle of results that are in and have no scores yet."""
        if not self.site_words:
            return "All results are in; their scores follow within seconds."
        return f"All results are in, and scores follow when the site's worker answers again. {self.site_words}"

    @property
    def worker_seen_seconds(self) -> float | None:
        at = self._pulses.get(Part.WORKER)
        return None if at is None else round((timezone.now() - at).total_seconds(), 1)

    def wait(self, place: Place, ahead: int | None, oldest: datetime) -> Wait:
        """The obstacle of a queue whose oldest job was queued at `oldest`; `ahead` counts the jobs of others before."""
        stuck = self.site_words or self.refusal(queue_name(*place)) or nobody(place, self._grants)
        return Wait(*place, stuck or self._busy(place, ahead, oldest), is_stuck=bool(stuck))

    def refusal(self, queue: str) -> str:
        """A sentence if the broker refuses this queue; else ""."""
        fault = self.refused.get(queue) if queue != WHOLE else None
        return (
            f"The broker refuses the queue {fault.queue} since {_moment(fault.since)}: {fault.words}." if fault else ""
        )

    def _busy(self, place: Place, ahead: int | None, oldest: datetime) -> str:
        n_free = sum(not why_idle(one) for one in self._grants.get(place, []))
        nodes = numbered(n_free, "node")
        first = f" {numbered(ahead, 'job')} of others come{'s' * (ahead == 1)} first" if ahead is not None else ""
        if n_leased := self._leased.get(place, 0):
            jobs = numbered(n_leased, "job")
            took = self._takes.get(place)
            if ahead is None:
                return f"{nodes} of {_doing(place)} work{'s' * (n_free == 1)} on {jobs}."
            left = numerals.duration((ahead + 1) * took.total_seconds() / n_leased) if took else ""
            wait = f"the expected wait is {left}" if left else "how long one takes is not known yet"
            return f"{nodes} of {_doing(place)} work{'s' * (n_free == 1)} on {jobs};{first}{',' * bool(first)} {wait}."
        waited = timezone.now() - oldest
        if waited > SOON:
            since = numerals.duration(waited.total_seconds())
            return f"{nodes} could take {_doing(place)} and took nothing for {since}: the log of a node says why."
        return f"A node takes it within seconds{';' * bool(first)}{first}."


def grants_by_place(tracks: Iterable[str]) -> dict[Place, list[NodeGrant]]:
    """The grants of the named tracks with their nodes, by queue. Makes one query."""
    found: dict[Place, list[NodeGrant]] = {}
    rows = NodeGrant.objects.filter(track__slug__in=tracks).select_related("node", "track").order_by("pk")
    for one in rows:
        found.setdefault((one.track.slug, one.stage), []).append(one)
    return found


def nobody(place: Place, grants: Mapping[Place, Sequence[NodeGrant]]) -> str:
    """A sentence if no node takes the queue's work, with the reason of each; "" if one does."""
    own, doing = grants.get(place, ()), _doing(place)
    if not own:
        return f"No node takes {doing}: none is granted it."
    reasons = [why_idle(one) for one in own]
    if not all(reasons):
        return ""
    shown = "; ".join(f"{one.node} {reason}" for one, reason in list(zip(own, reasons, strict=True))[:SHOWN_NODES])
    more = f"; and {len(own) - SHOWN_NODES} more" if len(own) > SHOWN_NODES else ""
    return f"No node takes {doing} now: {shown}{more}."


def why_idle(grant: NodeGrant) -> str:
    """The reason why the node takes no work of its grant, to follow its name; "" if it does."""
    node: Node = grant.node
    if node.disabled_reason:
        until = f" until {_moment(node.back_at)}" if node.back_at else ""
        state = "in maintenance" if node.service == Service.MAINTENANCE else node.out_of_service
        return f"is {state}{until} ({node.disabled_reason})"
    if not node.is_online:
        return f"was last seen {_since(node.last_seen_at)}" if node.last_seen_at else "was never seen"
    if node.obstacle:
        return f"takes no work ({node.obstacle})"
    misfit = why_not(Capabilities.model_validate(node.capabilities), grant.track, Stage(grant.stage))
    return f"does not fit ({misfit})" if misfit else ""


def waits_of(places: Collection[QueuePlace]) -> list[Wait]:
    """The obstacle of the work in each of these queues. Work without a queue is the site's own and waits for it
    only."""
    fleet = Fleet({one.track for one in places})
    if not places and fleet.site_words:
        return [Wait("", "", fleet.site_words, is_stuck=True)]
    return [fleet.wait((one.track, one.stage), one.ahead, one.oldest) for one in places]


def waits_of_submission(submission: Submission, *, n_queued: int, n_running: int) -> list[Wait]:
    """The obstacles of a submission with these numbers of queued and running evaluations: those of its queues, or, once
    all results are in, that of the site's worker, which computes their scores."""
    if n_queued:
        return waits_of(queue_places(submission))
    unscored = Attempt.objects.filter(to_score=True, job__evaluation__submission=submission)
    if n_running or not unscored.exists():
        return []
    fleet = Fleet(())
    return [Wait("", "", fleet.scores_words, is_stuck=bool(fleet.site_words))]


def waits_of_queues(queued: Mapping[Place, datetime]) -> dict[str, list[Wait]]:
    """The obstacle of each queue, by track; `queued` says since when its oldest job waits."""
    fleet = Fleet({track for track, _ in queued})
    found: dict[str, list[Wait]] = {}
    for place, oldest in queued.items():
        found.setdefault(place[0], []).append(fleet.wait(place, None, oldest))
    return found


def troubles() -> list[str]:
    """Faults of the site's worker and of the broker, a sentence each."""
    fleet = Fleet(())
    return [words for words in (fleet.site_words, *(fleet.refusal(name) for name in fleet.refused)) if words]


def _took(newest: int) -> dict[Place, timedelta]:
    """How long a job takes on average, by the attempts of the newest jobs that have ended."""
    looked_at = Job.objects.filter(pk__lte=newest).order_by("-pk").values("pk")[:LOOKED_AT_JOBS]
    took = ExpressionWrapper(F("ended_at") - F("leased_at"), output_field=DurationField())
    ended = Attempt.objects.filter(job__in=looked_at, state=AttemptState.REPORTED, ended_at__isnull=False).order_by()
    rows = ended.values("job__track__slug", "job__stage").annotate(took=Avg(took))
    return {(row["job__track__slug"], row["job__stage"]): row["took"] for row in rows}


def _doing(place: Place) -> str:
    track, stage = place
    return f"track {track}" if stage == Stage.BOTH else f"stage {stage} of track {track}"


def _since(at: datetime) -> str:
    return f"{numerals.duration((timezone.now() - at).total_seconds())} ago, at {_moment(at)}"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
