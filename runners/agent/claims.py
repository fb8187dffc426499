"""Claims jobs for several slots by one call: slots that ask while a claim is under way share the next."""

import threading
from dataclasses import dataclass
from uuid import UUID

from runners.agent.ground.errors import SiteRefused, SiteUnavailable
from runners.agent.link.client import SiteClient
from runners.wire.batches import MOST_CLAIMED, ClaimRequest
from runners.wire.job import Work
from runners.wire.protocol import PROTOCOL_VERSION, Stage

Place = tuple[str, Stage]


@dataclass
class _Ask:
    """One slot's wish, and its answer once `is_answered`."""

    is_answered: bool = False
    work: Work | None = None
    error: SiteUnavailable | SiteRefused | None = None


class _Desk:
    """The wishes for one queue."""

    def __init__(self) -> None:
        self.guard, self.turn = threading.Lock(), threading.Lock()
        self.waiting: list[_Ask] = []

    def next_asks(self) -> list[_Ask]:
        with self.guard:
            asks, self.waiting = self.waiting[:MOST_CLAIMED], self.waiting[MOST_CLAIMED:]
        return asks


class Claims:
    """May be used from any thread."""

    def __init__(self, client: SiteClient, boot_id: UUID) -> None:
        self._client, self._boot_id = client, boot_id
        self._guard = threading.Lock()
        self._desks: dict[Place, _Desk] = {}

    def take(self, track: str, stage: Stage) -> Work | None:
        """A job of this queue; None if none is queued. Raises as the client."""
        with self._guard:
            desk = self._desks.setdefault((track, stage), _Desk())
        ask = _Ask()
        with desk.guard:
            desk.waiting.append(ask)
        with desk.turn:
            while not ask.is_answered:
                self._answer(track, stage, desk.next_asks())
        if ask.error is not None:
            raise ask.error
        return ask.work

    def _answer(self, track: str, stage: Stage, asks: list[_Ask]) -> None:
        asked = ClaimRequest(
            protocol_version=PROTOCOL_VERSION, track=track, stage=stage, most=len(asks), boot_id=self._boot_id
        )
        error: SiteUnavailable | SiteRefused | None = None
        works: list[Work] = []
        try:
            works = self._client.claim(asked).works
        except (SiteUnavailable, SiteRefused) as refused:
            error = refused
        for ask in asks:
            ask.work, ask.error, ask.is_answered = works.pop(0) if works else None, error, True
