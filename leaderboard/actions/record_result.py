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

    The result of a shadow evaluation changes no score. It is noted on its rejudge.
    """
    result = append_result(evaluation, report, origin)
    if evaluation.purpose == Purpose.SHADOW:
        note_shadow_result(evaluation, result)
    else:
        scores.rescore(evaluation.submission, evaluation.track, [evaluation.problem_id])
        scores.finish_if_done(evaluation.submission)
    return result
