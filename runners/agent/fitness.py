"""The obstacles that keep a node from work. A node consumes messages only while there is none."""

import logging
import threading
from enum import StrEnum

logger = logging.getLogger(__name__)


class Obstacle(StrEnum):
    STOPPING = "it stops"
    DRAINED = "its hardware is not well"
    DISABLED = "it is disabled on the site"
    IN_DOUBT = "a fault is followed by a self-test"
    UNSENT = "reports are unsent"
    DISK = "its disk is too full"
    BROKER = "it cannot use the broker"
    SITE = "the site has to answer first"


TOLD = (Obstacle.DISK, Obstacle.BROKER, Obstacle.IN_DOUBT, Obstacle.UNSENT)
"""The obstacles that the site learns from the node. It knows the others."""


class Fitness:
    """Obstacles with their details. May be used from any thread."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._reasons: dict[Obstacle, str] = {}

    @property
    def is_fit(self) -> bool:
        return not self._reasons

    def has(self, obstacle: Obstacle) -> bool:
        return obstacle in self._reasons

    @property
    def words_for_site(self) -> str:
        """The obstacles that the site does not know, for a public page; empty if there are none.

        Details may name the machine's folders. Those of a full disk and of the broker do not.
        """
        with self._guard:
            reasons = dict(self._reasons)
        words = {one: f"{one.value}: {reasons.get(one)}" for one in (Obstacle.DISK, Obstacle.BROKER)}
        return "; ".join(words.get(one, one.value) for one in TOLD if one in reasons)

    def put(self, obstacle: Obstacle, details: str = "") -> None:
        with self._guard:
            known = self._reasons.get(obstacle)
            self._reasons[obstacle] = details
        if known != details:
            logger.info("this node takes no work: %s", f"{obstacle.value}: {details}" if details else obstacle.value)

    def clear(self, obstacle: Obstacle) -> None:
        with self._guard:
            was_last = self._reasons.pop(obstacle, None) is not None and not self._reasons
        if was_last:
            logger.info("this node takes work")
