"""Which result of an evaluation is current."""

from collections.abc import Sequence

from django.db.models import OuterRef, Subquery

from leaderboard.models import Evaluation, Result

BATCH = 1000


def make_newest_current(evaluation_ids: Sequence[int]) -> None:
    """Make the newest result of each evaluation its current one."""
    newest = Result.objects.filter(evaluation=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    for start in range(0, len(evaluation_ids), BATCH):
        chunk = evaluation_ids[start : start + BATCH]
        Evaluation.objects.filter(pk__in=chunk).update(current_result=Subquery(newest))
