"""Asks for many samples at once: with retries, waits that all threads share, and every reply kept as it comes."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Lock

from podium.generation.endpoint import Endpoint
from podium.generation.errors import AskFailed, MayRetry
from podium.generation.prompts import Message
from podium.generation.store import Kept, Store

TRIES = 10
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 60.0


@dataclass(frozen=True)
class Request:
    """One sample to ask for. `digest` identifies messages, model and parameters."""

    task_id: str
    sample: int
    messages: Sequence[Message]
    digest: str


@dataclass(frozen=True)
class Failure:
    """A sample that has no reply after all tries."""

    request: Request
    reason: str


class Pause:
    """A time until which nobody asks: an endpoint that limits its rate limits it for all threads."""

    def __init__(self, stopped: Event) -> None:
        self._until = 0.0
        self._lock = Lock()
        self._stopped = stopped

    def extend(self, seconds: float) -> None:
        with self._lock:
            self._until = max(self._until, time.monotonic() + seconds)

    def wait(self) -> None:
        while not self._stopped.is_set() and (left := self._until - time.monotonic()) > 0:
            self._stopped.wait(left)


class Asker:
    """Asks one endpoint."""

    def __init__(self, endpoint: Endpoint, store: Store, workers: int, requests_a_minute: float | None) -> None:
        self._endpoint = endpoint
        self._store = store
        self._workers = workers
        self._stopped = Event()
        self._pause = Pause(self._stopped)
        self._spacing_seconds = 60.0 / requests_a_minute if requests_a_minute else 0.0
        self._next_turn = 0.0
        self._lock = Lock()
        self.retries = 0

    def stop(self) -> None:
        """Let requests in flight end and begin no more."""
        self._stopped.set()

    def ask(self, requests: Sequence[Request], told: Callable[[Kept | Failure], None]) -> list[Failure]:
        """Ask for all. `told` is called in this thread. Raises CannotGenerate where every request would fail."""
        failures: list[Failure] = []
        with ThreadPoolExecutor(self._workers, thread_name_prefix="ask") as pool:
            futures: dict[Future[Kept | None], Request] = {pool.submit(self._one, one): one for one in requests}
            try:
                for ended in self._ended(futures):
                    told(ended)
                    if isinstance(ended, Failure):
                        failures.append(ended)
            except BaseException:
                self.stop()
                pool.shutdown(cancel_futures=True)
                raise
        return failures

    def _ended(self, futures: "dict[Future[Kept | None], Request]") -> Iterator[Kept | Failure]:
        for future in as_completed(futures):
            try:
                kept = future.result()
            except AskFailed as error:
                yield Failure(futures[future], str(error))
            else:
                if kept:
                    yield kept

    def _one(self, request: Request) -> Kept | None:
        """The reply; None where the run was stopped before."""
        wait_seconds = FIRST_WAIT_SECONDS
        for left in reversed(range(TRIES)):
            self._take_turn()
            if self._stopped.is_set():
                return None
            try:
                return self._asked(request)
            except MayRetry as error:
                if not left:
                    raise AskFailed(f"{error} ({TRIES} tries)") from error
                self._wait(error, wait_seconds)
                wait_seconds = min(2 * wait_seconds, LONGEST_WAIT_SECONDS)
        raise AssertionError("unreachable: the last try returns or raises")

    def _asked(self, request: Request) -> Kept:
        asked_at, started = datetime.now(UTC).isoformat(), time.perf_counter()
        reply = self._endpoint.ask(request.messages, request.sample)
        seconds = round(time.perf_counter() - started, 3)
        kept = Kept(request.task_id, request.sample, request.digest, reply, asked_at, seconds)
        self._store.add(kept)
        return kept

    def _wait(self, error: MayRetry, wait_seconds: float) -> None:
        with self._lock:
            self.retries += 1
        if error.wait_seconds is not None:
            self._pause.extend(min(error.wait_seconds, LONGEST_WAIT_SECONDS))
        else:
            self._stopped.wait(wait_seconds * random.uniform(0.5, 1.0))  # noqa: S311 - spreads the threads

    def _take_turn(self) -> None:
        """Wait for the endpoint's pause, and for a place between the other requests of this minute."""
        self._pause.wait()
        if self._spacing_seconds:
            with self._lock:
                turn = max(self._next_turn, time.monotonic())
                self._next_turn = turn + self._spacing_seconds
            self._stopped.wait(max(turn - time.monotonic(), 0))
