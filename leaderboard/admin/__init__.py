"""The admin: curation by pages of its own for what changes the world, read-only rows for what never changes."""

from leaderboard.admin import people, records, releases, submissions, tracks

__all__ = ["people", "records", "releases", "submissions", "tracks"]
