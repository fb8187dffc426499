"""A node's duties between jobs: hello, unsent reports, free space, a self-test after a fault."""

import logging
import threading
import time
from collections.abc import Callable
from uuid import UUID

from runners.agent.fitness import Fitness, Obstacle
from runners.agent.ground.errors import SiteRefused, SiteUnavailable
from runners.agent.link.client import SiteClient
from runners.agent.link.outbox import Letter, Outbox
from runners.wire.protocol import Hello, HelloReply

logger = logging.getLogger(__name__)

REFRESH_SECONDS = 60.0
"""Interval of a fit node's hellos."""
RETRY_SECONDS = 2.0
"""Interval of hellos while an obstacle stands."""
PAUSE_SECONDS = 0.2
"""Minimum time between two hellos."""
FINAL = frozenset({401, 426})
"""Final refusals: an unknown token, another protocol version."""
ANOTHER_PROCESS = "another_process"
"""Code of the final refusal of a second process with the same token."""


def is_final(refused: SiteRefused) -> bool:
    return refused.status in FINAL or refused.error.code == ANOTHER_PROCESS


def introduce(client: SiteClient, hello: Hello) -> HelloReply:
    """Say hello until the site answers with at least one grant. Raises SiteRefused."""
    while True:
        try:
            terms = client.hello(hello)
            if terms.grants:
                return terms
            logger.warning("node %s may serve no track yet; its page on the site says why", terms.node)
        except SiteUnavailable as error:
            logger.warning("waiting for the site: %s", error)
        time.sleep(max(RETRY_SECONDS, client.pause_seconds))


class Upkeep:
    """A thread that updates `terms` and the node's fitness.

    `give_up` is called if the site refuses the node for good.
    """

    def __init__(
        self,
        client: SiteClient,
        outbox: Outbox,
        hello: Hello,
        terms: HelloReply,
        fitness: Fitness,
        self_test: Callable[[], str],
        shortage: Callable[[], str],
        give_up: Callable[[SiteRefused], None],
        boot_id: UUID,
    ) -> None:
        self._client, self._outbox, self._hello, self.terms = client, outbox, hello, terms
        self._fitness, self._self_test, self._shortage, self._give_up = fitness, self_test, shortage, give_up
        self._boot_id = boot_id
        self.known_boot_id: UUID | None = None
        """This start's id, once the site knows it."""
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)
        fitness.put(Obstacle.SITE)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def deliver(self, letter: Letter) -> None:
        """Send a report. If that fails, the report is kept, and the node takes no work until it is sent."""
        if not self._outbox.deliver(self._client, letter):
            self._fitness.put(Obstacle.UNSENT)
            self._wake.set()

    def doubt(self, words: str) -> None:
        """Take no work until a self-test has passed."""
        self._fitness.put(Obstacle.IN_DOUBT, words)
        self._wake.set()

    def check_disk(self) -> str:
        """Take no work while the disk is too full. Returns the reason, or ""."""
        words = self._shortage()
        if not words:
            self._fitness.clear(Obstacle.DISK)
            return ""
        is_news = not self._fitness.has(Obstacle.DISK)
        self._fitness.put(Obstacle.DISK, words)
        if is_news:
            self._wake.set()
        return words

    def note_broker(self, words: str) -> None:
        """Tell the site why the broker cannot be used; "" once it can. Meanwhile no message arrives."""
        if not words:
            self._fitness.clear(Obstacle.BROKER)
            return
        is_news = not self._fitness.has(Obstacle.BROKER)
        self._fitness.put(Obstacle.BROKER, words)
        if is_news:
            self._wake.set()

    def failed(self, error: SiteUnavailable | SiteRefused) -> None:
        """Take no work until the site has answered a hello after RETRY_SECONDS. Called if a job's request failed."""
        if isinstance(error, SiteRefused) and is_final(error):
            self._give_up(error)
        self._fitness.put(Obstacle.SITE, str(error))
        self._wake.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            self._send_unsent()
            self._test_if_in_doubt()
            self.check_disk()
            self._say_hello()
            was_woken = self._wake.wait(REFRESH_SECONDS if self._fitness.is_fit else RETRY_SECONDS)
            # A site may answer hellos and no claims. Its answer to a hello is then no reason to claim again at once.
            is_failing = was_woken and self._fitness.has(Obstacle.SITE)
            self._stopping.wait(max(RETRY_SECONDS if is_failing else PAUSE_SECONDS, self._client.pause_seconds))

    def _send_unsent(self) -> None:
        if self._outbox.flush(self._client) == 0:
            self._fitness.clear(Obstacle.UNSENT)
        if self._outbox.n_waiting():  # one may have been added meanwhile
            self._fitness.put(Obstacle.UNSENT)

    def _test_if_in_doubt(self) -> None:
        if self._fitness.has(Obstacle.IN_DOUBT):
            if complaint := self._self_test():
                self._fitness.put(Obstacle.IN_DOUBT, f"the self-test failed: {complaint}")
            else:
                self._fitness.clear(Obstacle.IN_DOUBT)

    def _say_hello(self) -> None:
        """Say hello. The boot id returns the leases of the node's earlier start, so its reports are sent first."""
        boot_id = None if self._fitness.has(Obstacle.UNSENT) else self._boot_id
        said = {"boot_id": boot_id, "obstacle": self._fitness.words_for_site}
        try:
            self.terms = self._client.hello(self._hello.model_copy(update=said))
        except SiteUnavailable as error:
            self._fitness.put(Obstacle.SITE, str(error))
        except SiteRefused as refused:
            self.failed(refused)
        else:
            self.known_boot_id = boot_id or self.known_boot_id
            self._learn(self.terms)

    def _learn(self, terms: HelloReply) -> None:
        if terms.disabled_reason:
            self._fitness.put(Obstacle.DISABLED, terms.disabled_reason)
        else:
            self._fitness.clear(Obstacle.DISABLED)
        self._fitness.clear(Obstacle.SITE)
