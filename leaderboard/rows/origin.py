"""The origin of a result."""

from dataclasses import dataclass
from uuid import UUID

from leaderboard.models.submissions.evaluation import ResultOrigin


@dataclass(frozen=True)
class Origin:
    """The origin of a report: an attempt of the fleet, or an organiser's import."""

    kind: ResultOrigin
    vouched: bool = True
    """False if nothing is known of how its times came about, or if they are provisional: none of them ranks, nor is
    any a baseline for others."""
    attempt: UUID | None = None
    report_digest: str = ""
