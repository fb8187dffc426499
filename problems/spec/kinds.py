"""The kinds of problems: how each is judged, and by which side."""

from collections.abc import Mapping
from enum import StrEnum


class Kind(StrEnum):
    """How a problem is judged."""

    COMMAND = "command"
    FUNCTION = "function"
    CHOICE = "choice"
    SHORT_ANSWER = "short_answer"


class SettledBy(StrEnum):
    """Which side turns a solution into a verdict."""

    NODE = "node"
    SITE = "site"


SETTLED_BY: Mapping[Kind, SettledBy] = {
    Kind.COMMAND: SettledBy.NODE,
    Kind.FUNCTION: SettledBy.NODE,
    Kind.CHOICE: SettledBy.SITE,
    Kind.SHORT_ANSWER: SettledBy.SITE,
}
NODE_KINDS = frozenset(kind for kind, side in SETTLED_BY.items() if side is SettledBy.NODE)
"""Only these need jobs."""
SITE_KINDS = frozenset(SETTLED_BY) - NODE_KINDS
"""The site settles these itself."""
