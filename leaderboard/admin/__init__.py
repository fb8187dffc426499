"""The admin: curation by pages of its own for what changes the world, read-only rows for what never changes."""

from leaderboard.admin import records
from leaderboard.admin.curation import (
    clarifications,
    code_pairs,
    flags,
    problems,
    rejudges,
    releases,
    submissions,
    tracks,
)
from leaderboard.admin.entrants import names, ownership, people

__all__ = [
    "clarifications",
    "code_pairs",
    "flags",
    "names",
    "ownership",
    "people",
    "problems",
    "records",
    "rejudges",
    "releases",
    "submissions",
    "tracks",
]
