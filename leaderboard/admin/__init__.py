"""The admin: curation by pages of its own for what changes the world, read-only rows for what never changes."""

from leaderboard.admin import (
    clarifications,
    code_pairs,
    flags,
    names,
    ownership,
    people,
    records,
    rejudges,
    releases,
    submissions,
    tracks,
)

__all__ = [
    "clarifications",
    "code_pairs",
    "flags",
    "names",
    "ownership",
    "people",
    "records",
    "rejudges",
    "releases",
    "submissions",
    "tracks",
]
