"""Builds of problems' own code, which one node of a fleet makes for all. Without the site each node makes its own."""

import hashlib
import logging
import threading
import time
from collections.abc import Sequence

from runners.agent.ground.errors import Cancelled, SiteRefused, SiteUnavailable
from runners.agent.job.build_cache import Build, decoded, encoded
from runners.agent.link.client import SiteClient
from runners.wire.protocol import MAX_BLOB_BYTES, GpuCapability

logger = logging.getLogger(__name__)
FOUND, BEGUN, WAIT = 200, 201, 202
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 4.0
LONGEST_WAIT_SECONDS = 300.0


class SharedBuilds:
    """The site's shared builds, as `BuildsElsewhere`. Several threads may use it at once.

    A build's key names tools and processor. Its address names the machine's GPUs, too: nvcc may compile for them.
    """

    def __init__(self, client: SiteClient, gpus: Sequence[GpuCapability]) -> None:
        self._client = client
        self._gpus = " ".join(sorted({f"{gpu.name} {gpu.compute_capability}" for gpu in gpus}))
        self._begun: set[str] = set()

    def _address(self, key: str) -> str:
        return hashlib.sha256(f"{key} {self._gpus}".encode()).hexdigest()

    def find(self, key: str, cancelled: threading.Event, longest_seconds: float) -> Build | None:
        end = time.monotonic() + min(longest_seconds, LONGEST_WAIT_SECONDS)
        pause = FIRST_PAUSE_SECONDS
        while True:
            status, content = self._ask(key)
            if status == FOUND:
                return _usable(key, content)
            if status == BEGUN:
                self._begun.add(key)
            if status != WAIT or time.monotonic() > end:
                return None
            if cancelled.wait(pause):
                raise Cancelled
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def settle(self, key: str, made: Build | None) -> None:
        if key not in self._begun:
            return
        self._begun.discard(key)
        content = encoded(made) if made is not None and made.succeeded and made.worth_keeping else b""
        try:
            self._client.put_build(self._address(key), content if len(content) <= MAX_BLOB_BYTES else b"")
        except (SiteUnavailable, SiteRefused) as error:
            logger.info("the site does not take the build %s: %s", key, error)

    def _ask(self, key: str) -> tuple[int, bytes]:
        try:
            return self._client.ask_build(self._address(key))
        except (SiteUnavailable, SiteRefused) as error:
            logger.info("the build %s is made here: %s", key, error)
            return 0, b""


def _usable(key: str, content: bytes) -> Build | None:
    build = decoded(content)
    return build if build is not None and build.key == key and build.succeeded and build.worth_keeping else None
