"""Computes scores from results after their reports: many results of a submission cost little more than one."""

from collections import defaultdict

from django.db import transaction

from leaderboard.models import Submission
from leaderboard.standings import scores
from runners.fleet.models import Attempt

MOST = 2000
"""Results of one turn."""


def score_reported() -> int:
    """Bring the scores of all results that were reported up to date. Returns the number of results."""
    rows = Attempt.objects.filter(to_score=True).order_by("ended_at")
    keys = ("pk", "job__evaluation__submission", "job__evaluation__track", "job__evaluation__problem")
    by_submission: dict[int, list[tuple[object, int, int]]] = defaultdict(list)
    for attempt, submission, track, problem in rows.values_list(*keys)[:MOST]:
        by_submission[submission].append((attempt, track, problem))
    for submission, results in sorted(by_submission.items()):
        _score(submission, results)
    return sum(map(len, by_submission.values()))


@transaction.atomic
def _score(submission: int, results: list[tuple[object, int, int]]) -> None:
    """A result that is reported meanwhile is scored now or at the next turn: its own mark stands until then."""
    scores.hold(submission)
    Attempt.objects.filter(pk__in=[attempt for attempt, _, _ in results]).update(to_score=False)
    scores.rescore_places({(submission, track, problem) for _, track, problem in results})
    scores.finish_if_done(Submission.objects.get(pk=submission))
