"""Wire types by which a node claims several jobs at once and beats once for all of them. Since version 3."""

from uuid import UUID

from pydantic import Field

from runners.wire.protocol import Heartbeat, WireModel, Work


class Claimed(WireModel):
    """The jobs that a claim has leased: as many as were asked for, or as are queued."""

    works: list[Work]


class AttemptBeat(Heartbeat):
    """The progress of one of a node's attempts."""

    attempt: UUID


class NodeBeat(WireModel):
    """One heartbeat of a node for all attempts that it works on, and whose reports wait."""

    beats: list[AttemptBeat] = Field(default=[], max_length=512)


class NodeBeatReply(WireModel):
    cancelled: list[UUID]
    """Those of the named attempts that are no longer the node's."""
