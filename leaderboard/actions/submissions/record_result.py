"""Records a result: appends it with its measurements and flags, makes it current and updates the aggregates."""

from django.db import transaction

from leaderboard.models import Evaluation, Result
from leaderboard.rows.origin import Origin
from leaderboard.rows.results import append_result
from leaderboard.rows.shadows import note_shadow_result
from leaderboard.standings import scores
from runners.wire.protocol import Purpose, Report


@transaction.atomic
def record_result(evaluation: Evaluation, report: Report, origin: Origin) -> Result:
    """Append the result, make it current and rescore. Raises Conflict if the evaluation was cancelled.

    The result of a shadow evaluation is noted on its rejudge. It changes a score only in a round.
    """
    result = append_result(evaluation, report, origin)
    if evaluation.purpose == Purpose.SHADOW:
        if note_shadow_result(evaluation, result):
            scores.rescore(evaluation.submission, evaluation.track, [evaluation.problem_id])
    else:
        scores.rescore(evaluation.submission, evaluation.track, [evaluation.problem_id])
        scores.finish_if_done(evaluation.submission)
    return result
