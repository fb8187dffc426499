"""Asks one endpoint from many threads: with retries, waits that all share, and every reply kept as it comes."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Lock

from podium.generation.endpoint import REQUEST_REFUSED, Endpoint, Reply
from podium.generation.errors import AskFailed, MayRetry, RequestRefused
from podium.generation.prompts import Message
from podium.generation.store import KeptReply, Key, Store

TRIES = 10
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 60.0


@dataclass(frozen=True)
class AskedTurn:
    """One turn of a sample to ask for. `digest` identifies messages, model and parameters."""

    task_id: str
    sample: int
    messages: Sequence[Message]
    digest: str
    turn: int = 0

    @property
    def key(self) -> Key:
        return self.task_id, self.sample, self.turn


@dataclass(frozen=True)
class AskingFailure:
    """A sample that has no reply after all tries."""

    request: AskedTurn
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

    def __init__(self, endpoint: Endpoint, store: Store, requests_a_minute: float | None) -> None:
        self._endpoint = endpoint
        self._store = store
        self._stopped = Event()
        self._pause = Pause(self._stopped)
        self._spacing_seconds = 60.0 / requests_a_minute if requests_a_minute else 0.0
        self._next_turn = 0.0
        self._lock = Lock()
        self.retries = 0

    def stop(self) -> None:
        """Let requests in flight end and begin no more."""
        self._stopped.set()

    def reply_to(self, request: AskedTurn) -> KeptReply | None:
        """The reply, which is on disk by then; None where the run was stopped before.

        Raises AskFailed, and CannotGenerate where every request would fail.
        """
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

    def _asked(self, request: AskedTurn) -> KeptReply:
        asked_at, started = datetime.now(UTC).isoformat(), time.perf_counter()
        reply = self._reply(request)
        seconds = round(time.perf_counter() - started, 3)
        kept = KeptReply(request.task_id, request.sample, request.digest, reply, asked_at, seconds, request.turn)
        self._store.add(kept)
        return kept

    def _reply(self, request: AskedTurn) -> Reply:
        """The reply. A request that is refused for good, as one that is too long, ends its sample alone.

        A first turn whose refusal names no cause is believed so only once the endpoint has answered others: parameters
        that it does not know would be refused with every prompt.
        """
        try:
            return self._endpoint.ask(request.messages, request.sample)
        except RequestRefused as error:
            if not (request.turn or error.is_of_prompt or self._store.has_answers):
                raise
            return Reply("", finish_reason=REQUEST_REFUSED, refusal=str(error))

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
