"""Wire types by which a machine becomes a node with a join token, which it shows as its bearer token."""

from pydantic import Field

from runners.wire.protocol import WireModel


class JoinRequest(WireModel):
    protocol_version: int
    name: str = Field(min_length=1, max_length=200)
    """The machine's host name, or the name of its job. The site makes a free node name of it."""


class JoinReply(WireModel):
    node: str
    token: str
    """The node's own token. The join token is not needed any more."""
    broker_url: str = ""
    """The broker's address with an account that may only read; empty if the site tells none."""
