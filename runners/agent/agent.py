"""The agent: claims work while there are free slots, keeps its leases alive, reports, and stops without losing any."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

from runners.agent.attempt import Attempt, LiveProgress, Worker
from runners.agent.client import SiteClient
from runners.agent.errors import Cancelled, SiteRefused, SiteUnavailable
from runners.agent.outbox import Outbox
from runners.protocol import PROTOCOL_VERSION, ClaimRequest, Hello, HelloReply, Report, Verdict, Work

logger = logging.getLogger(__name__)

POLL_SECONDS = 10.0
"""How long a lost doorbell may delay work."""
REFRESH_SECONDS = 60.0
"""How often grants are asked for anew."""
PAUSE_SECONDS = 2.0
DOUBT_SECONDS = 20.0
"""How long a node that fails its self-test waits before the next."""
FINAL = frozenset({401, 403, 426})
"""Refusals that no repetition mends."""


def introduce(client: SiteClient, hello: Hello) -> HelloReply:
    """Say hello until the site answers with at least one grant. Raises SiteRefused where it never will."""
    while True:
        try:
            terms = client.hello(hello)
            if terms.grants:
                return terms
            logger.warning("node %s may serve no track yet: an organiser grants them", terms.node)
        except SiteUnavailable as error:
            logger.warning("waiting for the site: %s", error)
        time.sleep(PAUSE_SECONDS)


class Agent:
    """One node at work on the site's `terms`, with at most `slots` attempts at a time.

    `ring`, `drain` and `resume` may be called from any thread; `give_up` is called once the site will not have this
    node any more. `complaint` is asked before a job that went badly is reported: "" where the hardware is well.
    """

    def __init__(
        self,
        client: SiteClient,
        worker: Worker,
        outbox: Outbox,
        hello: Hello,
        terms: HelloReply,
        slots: int,
        give_up: Callable[[], None],
        complaint: Callable[[], str] = str,
    ) -> None:
        self._client, self._worker, self._outbox, self._hello = client, worker, outbox, hello
        self._terms = terms
        self._slots = slots
        self._give_up = give_up
        self._complaint = complaint
        self._drained = ""
        self._boot_id = uuid4()
        self._running: dict[UUID, Attempt] = {}
        self._changed = threading.Condition()
        self._rung = True
        self._in_doubt = False
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="attempt")
        self._threads = [
            threading.Thread(target=self._claim_for_ever, name="claims", daemon=True),
            threading.Thread(target=self._beat_for_ever, name="heartbeats", daemon=True),
        ]

    def start(self) -> None:
        """What an earlier life could not send goes first: the first claim gives up its leases."""
        self._outbox.flush(self._client)
        for thread in self._threads:
            thread.start()

    def ring(self) -> None:
        """There may be work."""
        with self._changed:
            self._rung = True
            self._changed.notify_all()

    def drain(self, reason: str) -> None:
        """Claim nothing until `resume`, and give back what runs: the hardware is not to be trusted with it."""
        with self._changed:
            self._drained = reason
            for attempt in self._running.values():
                attempt.progress.cancelled.set()

    def resume(self) -> None:
        with self._changed:
            self._drained = ""
        self.ring()

    def stop(self) -> None:
        """Claim nothing more, end what runs, give its leases back, and return when all that is done.

        May be called again, and by another thread.
        """
        if not self._stopping.is_set():
            logger.info("stopping: %d leases go back to the site", len(self._running))
        self._stopping.set()
        with self._changed:
            for attempt in self._running.values():
                attempt.progress.cancelled.set()
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        self._pool.shutdown()

    def _claim_for_ever(self) -> None:
        while (free := self._wait_for_need()) and not self._stopping.is_set():
            try:
                self._claim(free)
            except SiteUnavailable as error:
                logger.warning("cannot claim: %s", error)
                self._ring_later()
            except SiteRefused as refused:
                logger.error("the site refuses a claim: %s", refused)
                if refused.status in FINAL:
                    self._give_up()
                    return
                self._ring_later()

    def _ring_later(self) -> None:
        self._stopping.wait(PAUSE_SECONDS)
        self.ring()

    def _wait_for_need(self) -> int:
        """How many slots are free, once the doorbell has rung or it is time to look; 0 when stopping."""
        with self._changed:
            look_at = time.monotonic() + POLL_SECONDS
            while not self._stopping.is_set():
                left_seconds = look_at - time.monotonic()
                free = self._slots - len(self._running)
                if free and not self._drained and (self._rung or left_seconds <= 0):
                    return free
                self._changed.wait(max(left_seconds, 0.05) if free and not self._drained else None)
        return 0

    def _claim(self, free: int) -> None:
        if self._in_doubt and not self._is_well():
            return
        self._rung = False  # before asking: a ring that comes meanwhile is not lost
        request = ClaimRequest(
            protocol_version=PROTOCOL_VERSION, grants=list(self._terms.grants), free_slots=free, boot_id=self._boot_id
        )
        work = self._client.claim(request)
        for one in work:
            self._take(one)
        if work:
            self.ring()

    def _take(self, work: Work) -> None:
        attempt = Attempt(work, LiveProgress())
        with self._changed:
            self._running[work.attempt] = attempt
            if self._stopping.is_set() or self._drained:
                attempt.progress.cancelled.set()
        self._pool.submit(self._work, attempt)

    def _work(self, attempt: Attempt) -> None:
        try:
            self._do(attempt)
        except (SiteUnavailable, SiteRefused) as error:
            logger.warning("attempt %s is dropped: %s", attempt.work.attempt, error)
        except Exception:
            logger.exception("attempt %s met a bug of this program's; its lease will run out", attempt.work.attempt)
        finally:
            with self._changed:
                del self._running[attempt.work.attempt]
                self._changed.notify_all()

    def _do(self, attempt: Attempt) -> None:
        try:
            finished = self._worker.do(attempt)
        except Cancelled:
            if self._stopping.is_set() or self._drained:
                attempt.give_back(self._client)
            return
        if _went_badly(finished.report) and (complaint := self._complaint()):
            logger.warning(
                "attempt %s goes back, for the hardware may be to blame: %s", attempt.work.attempt, complaint
            )
            attempt.give_back(self._client)
            return
        self._in_doubt = self._in_doubt or bool(finished.report.fault)
        self._outbox.deliver(self._client, attempt.letter(finished))

    def _is_well(self) -> bool:
        """After a fault: a node that cannot even run a trivial command takes no work until it can."""
        complaint = self._worker.self_test()
        self._in_doubt = bool(complaint)
        if complaint:
            logger.error("this node fails its self-test and takes no work: %s", complaint)
            self._stopping.wait(DOUBT_SECONDS)
        return not complaint

    def _beat_for_ever(self) -> None:
        refresh_at = time.monotonic() + REFRESH_SECONDS
        while not self._stopping.wait(self._terms.heartbeat_seconds):
            with self._changed:
                running = list(self._running.values())
            for attempt in running:
                self._beat(attempt)
            if time.monotonic() > refresh_at:
                refresh_at = time.monotonic() + REFRESH_SECONDS
                self._refresh()

    def _beat(self, attempt: Attempt) -> None:
        try:
            wanted = attempt.beat(self._client)
        except SiteUnavailable as error:
            logger.warning("no heartbeat for attempt %s: %s", attempt.work.attempt, error)
        except SiteRefused as refused:
            logger.warning("attempt %s is not ours any more: %s", attempt.work.attempt, refused)
            attempt.progress.cancelled.set()
        else:
            if not wanted:
                attempt.progress.cancelled.set()

    def _refresh(self) -> None:
        try:
            self._outbox.flush(self._client)
            self._terms = self._client.hello(self._hello)
        except (SiteUnavailable, SiteRefused) as error:
            logger.warning("cannot ask for grants: %s", error)


def _went_badly(report: Report) -> bool:
    """In a way that failing hardware could have brought about."""
    return bool(report.fault) or report.verdict not in {Verdict.PASSED, Verdict.INVALID, Verdict.SKIPPED}
