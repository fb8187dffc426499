"""The results of a submission as JSON lines: graded rows without problem content, code or logs."""

import json
from collections.abc import Iterator
from typing import Any

from leaderboard.api.evaluations import facts_of, with_facts
from leaderboard.models import Evaluation, Submission
from leaderboard.visibility import SubmissionView
from runners.wire.protocol import Verdict

CHUNK_ROWS = 500


def result_lines(submission: Submission, view: SubmissionView, track: str | None) -> Iterator[bytes]:
    """One line per evaluation in the release's order, read in chunks. `view.results` must hold."""
    rows = Evaluation.objects.live().filter(submission=submission)
    if track is not None:
        rows = rows.filter(track__slug=track)
    rows = rows.order_by("problem__position", "sample__index", "track__slug")
    for one in with_facts(rows).iterator(chunk_size=CHUNK_ROWS):
        yield json.dumps(_row(one, view), ensure_ascii=False).encode() + b"\n"


def _row(one: Evaluation, view: SubmissionView) -> dict[str, Any]:
    """`passed` and `skipped` are ComputeEval's; the rest is ours. Without a result yet both are null."""
    result = one.current_result
    verdict = result.verdict if result else None
    return {
        "task_id": one.problem.task_id,
        "sample": one.sample.index,
        "track": one.track.slug,
        "evaluation": one.pk,
        "state": one.state,
        "passed": verdict == Verdict.PASSED if result else None,
        "skipped": verdict == Verdict.SKIPPED if result else None,
        **(facts_of(result, view) if result else {}),
    }
