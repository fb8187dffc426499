"""The node's leases of attempts, and the heartbeats that keep them until their reports have arrived."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from runners.agent.ground.errors import SiteRefused, SiteUnavailable
from runners.agent.ground.events import BuildPrinted, CaseEnded, Event, Progress, StageEntered
from runners.agent.judges.report import Finished
from runners.agent.link.client import SiteClient, report_body
from runners.agent.link.outbox import Letter, Outbox
from runners.wire.batches import AttemptBeat, NodeBeat
from runners.wire.job import Work
from runners.wire.protocol import BUILDING, MAX_CASES, PREPARING, REPORTING, CaseReport, Heartbeat

logger = logging.getLogger(__name__)
TAIL_BYTES = 8 * 1024
BEATS_PER_CALL = 32
"""Attempts of one heartbeat: the site bounds a call's size."""


class LiveProgress:
    """The progress of an attempt, for its heartbeats. Only a build's output is shown while the work goes on."""

    def __init__(self) -> None:
        self.progress = Progress(self.told)
        self._guard = threading.Lock()
        self._stage = PREPARING
        self._tail = b""
        self._cases: list[CaseReport] = []

    def cancel(self) -> None:
        self.progress.cancelled.set()

    def told(self, event: Event) -> None:
        """Record an event that heartbeats report."""
        with self._guard:
            if isinstance(event, StageEntered):
                self._stage, self._tail = event.stage, b""
            elif isinstance(event, BuildPrinted):
                self._tail = (self._tail + event.chunk)[-TAIL_BYTES:]
            elif isinstance(event, CaseEnded):
                self._cases.append(event.case)

    @property
    def has_begun(self) -> bool:
        """Whether a judge is at work on it."""
        return self._stage != PREPARING

    def heartbeat(self) -> Heartbeat:
        with self._guard:
            tail = self._tail if self._stage == BUILDING else b""
            words = tail.decode(errors="replace").replace("\0", "")
            return Heartbeat(stage=self._stage, log_tail=words, cases=self._cases[:MAX_CASES])


@dataclass(frozen=True)
class LeasedAttempt:
    """One attempt under way."""

    work: Work
    live: LiveProgress = field(default_factory=LiveProgress)

    def letter(self, finished: Finished) -> Letter:
        return Letter(self.work.attempt, self.work.attempt_token, report_body(finished.report), finished.blobs)


class Leases:
    """All leases of this node. `start` begins the node's heartbeats, every `beat_seconds`, for all of them.

    An attempt whose report waits in the outbox keeps its lease, so that no other node does its work again. An idle
    node's heartbeats say that its process lives. `boot_id` returns the id of this start once the site knows it.
    `failed` is called if the site refuses a heartbeat.
    """

    def __init__(
        self,
        client: SiteClient,
        outbox: Outbox,
        beat_seconds: float,
        boot_id: Callable[[], UUID | None],
        failed: Callable[[SiteRefused], object],
    ) -> None:
        self._client, self._outbox, self._beat_seconds = client, outbox, beat_seconds
        self._boot_id, self._failed = boot_id, failed
        self._held: dict[UUID, LeasedAttempt] = {}
        self._guard = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._beat_until_stopped, name="heartbeats", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    @contextmanager
    def holding(self, work: Work) -> Iterator[LeasedAttempt]:
        """Send heartbeats for this attempt until the block ends."""
        lease = LeasedAttempt(work)
        with self._guard:
            self._held[work.attempt] = lease
        try:
            yield lease
        finally:
            with self._guard:
                del self._held[work.attempt]

    def attempts(self) -> list[UUID]:
        """The attempts under way, and those whose reports wait."""
        return [*(lease.work.attempt for lease in self._now()), *self._outbox.tokens()]

    def cancel_unbegun(self) -> None:
        """Cancel the attempts on which no judge is at work."""
        for lease in self._now():
            if not lease.live.has_begun:
                lease.live.cancel()

    def cancel_all(self) -> None:
        """Cancel all attempts. Each of them then raises Cancelled."""
        for lease in self._now():
            lease.live.cancel()

    def give_back(self, lease: LeasedAttempt) -> None:
        """Return a lease to the site without a report. If the request fails, the lease expires."""
        try:
            self._client.release(lease.work.attempt, lease.work.attempt_token)
        except (SiteUnavailable, SiteRefused) as error:
            logger.warning("attempt %s could not be given back: %s", lease.work.attempt, error)

    def _now(self) -> list[LeasedAttempt]:
        with self._guard:
            return list(self._held.values())

    def _beat_until_stopped(self) -> None:
        while not self._stopping.wait(self._beat_seconds):
            beats = [AttemptBeat(attempt=one.work.attempt, **one.live.heartbeat().model_dump()) for one in self._now()]
            beats += [AttemptBeat(attempt=attempt, stage=REPORTING) for attempt in self._outbox.tokens()]
            for start in range(0, max(len(beats), 1), BEATS_PER_CALL):
                self._beat(beats[start : start + BEATS_PER_CALL])

    def _beat(self, beats: list[AttemptBeat]) -> None:
        try:
            reply = self._client.beat(NodeBeat(beats=beats, boot_id=self._boot_id()))
        except SiteUnavailable as error:
            logger.warning("no heartbeat for %d attempts: %s", len(beats), error)
            return
        except SiteRefused as refused:
            self._failed(refused)
            return
        with self._guard:
            cancelled = [self._held[one] for one in reply.cancelled if one in self._held]
        for lease in cancelled:
            logger.warning("attempt %s is not ours any more", lease.work.attempt)
            lease.live.cancel()
