"""Wire types by which a node claims several jobs at once and beats once for all of them. Since version 3."""

from uuid import UUID

from pydantic import Field

from runners.wire.job import Work
from runners.wire.protocol import Heartbeat, Stage, WireModel

MOST_CLAIMED = 64


class ClaimRequest(WireModel):
    """Asks for jobs of a track's stage. The answer is `Claimed`.

    A node of version 2 sends no `most`. Its answer is one `Work`, or 204 if no job is queued.
    """

    protocol_version: int
    track: str
    stage: Stage
    most: int | None = Field(default=None, ge=1, le=MOST_CLAIMED)
    boot_id: UUID | None = None
    """The claiming start of the node; see `Hello.boot_id`."""


class Claimed(WireModel):
    """The jobs that a claim has leased: as many as were asked for, or as are queued."""

    works: list[Work]


class AttemptBeat(Heartbeat):
    """The progress of one of a node's attempts."""

    attempt: UUID


class NodeBeat(WireModel):
    """One heartbeat of a node for all attempts that it works on, and whose reports wait."""

    beats: list[AttemptBeat] = Field(default=[], max_length=512)
    boot_id: UUID | None = None
    """The node's start that beats; see `Hello.boot_id`."""


class NodeBeatReply(WireModel):
    cancelled: list[UUID]
    """Those of the named attempts that are no longer the node's."""
