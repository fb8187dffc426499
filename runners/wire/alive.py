"""The header in which each call of a node names the attempts that it works on, or whose reports wait."""

from collections.abc import Iterable
from uuid import UUID

HEADER = "X-Podium-Alive"
MOST_NAMED = 200
"""Attempts that one call names. With more, a header would be longer than servers accept."""


def header_of(attempts: Iterable[UUID]) -> dict[str, str]:
    """The header with these attempts; without any, no header."""
    named = [one.hex for one in attempts][:MOST_NAMED]
    return {HEADER: ",".join(named)} if named else {}
