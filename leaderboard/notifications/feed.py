"""The feed of an account: the submissions of its entrants that have ended, newest first."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db.models import Sum
from django.utils.feedgenerator import Atom1Feed

from leaderboard.models import Entrant, ProblemScore, Submission, SubmissionState
from leaderboard.notifications.words import page_of, title
from leaderboard.visibility import told_scores

ENTRIES = 20


def atom_of(user: Any) -> str:
    """The feed as Atom. Its own address is not in it, since that holds the token. Three queries."""
    rows = _ended(user)
    passed = _passed(user, rows)
    feed = Atom1Feed(
        title=f"Submissions of {user.get_username()} on Podium",
        link=f"{settings.SITE_URL}/account/submissions/",
        description="Submissions that have ended.",
    )
    for one in rows:
        n_passed, n = passed.get(one.pk, (0, 0))
        feed.add_item(
            title=title(one),
            link=page_of(one),
            description=f"{n_passed} of {n} samples passed on {one.release.title}, over all tracks.",
            unique_id=page_of(one),
            updateddate=one.finished_at or one.created_at,
            pubdate=one.created_at,
        )
    return feed.writeString("utf-8")


def _ended(user: Any) -> list[Submission]:
    mine = Submission.objects.filter(entrant__in=Entrant.objects.submittable_by(user))
    ended = mine.filter(state__in=[SubmissionState.DONE, SubmissionState.CANCELLED])
    return list(ended.select_related("entrant", "release").order_by("-pk")[:ENTRIES])


def _passed(user: Any, rows: Sequence[Submission]) -> Mapping[int, tuple[int, int]]:
    """Passed samples and all samples by submission, over all tracks."""
    scores = told_scores(user, ProblemScore.objects.filter(submission__in=[one.pk for one in rows]))
    sums = scores.order_by().values("submission_id").annotate(passed=Sum("n_passed"), n=Sum("n_samples"))
    return {row["submission_id"]: (row["passed"], row["n"]) for row in sums}
