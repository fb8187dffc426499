"""Moves a release to the newest rules: what its samples count is computed anew, and its boards are ranked again."""

from typing import Any

from django.db import transaction

from leaderboard.errors import NotAllowed, Refused
from leaderboard.models.audit import record
from leaderboard.models.audit_values import edit_detail
from leaderboard.standings import scores
from problems.actions import releases
from problems.models import Release, ReleaseState
from scoring.rules import NEWEST, changes_since

MOST_SCORES = 5_000
"""Aggregates with times that a page computes anew; more are done by `manage.py adopt_rules`."""


def may_adopt(release: Release) -> bool:
    """Whether there are newer rules for it. Boards of a frozen release stay as they were frozen."""
    return release.rules < NEWEST and release.state != ReleaseState.FROZEN


@transaction.atomic
def adopt_rules(user: Any, release: Release, reason: str, most_scores: int | None = None) -> None:
    """Rank the release by the newest rules from now on. Pages of a published release show `reason`.

    `user` None is the site's own shell. Raises NotAllowed, or Refused if there is nothing to adopt or if more than
    `most_scores` (None: `MOST_SCORES`) aggregates have times.
    """
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser moves a release to newer rules.")
    if not may_adopt(release):
        raise Refused("no_newer_rules", f"{release.slug} is ranked by rules {release.rules} and stays with them.")
    scores.hold_all(release.submissions.all())
    timed = scores.timed_places(release)
    most_scores = MOST_SCORES if most_scores is None else most_scores
    if len(timed) > most_scores:
        raise Refused(
            "too_many_scores",
            f"{len(timed):,} aggregates of {release.slug} have times; a page computes at most {most_scores:,} anew. Run"
            f" `manage.py adopt_rules {release.slug} --reason …` on the site.",
        )
    before = release.rules
    releases.adopt_rules(release, NEWEST, f"Ranked by rules {NEWEST} ({changes_since(before)}): {reason.strip()}")
    scores.rescore_places(timed)
    scores.touch_release(release)
    record(user, "adopt rules", release, reason=reason, **edit_detail({"rules": before}, {"rules": NEWEST}))
