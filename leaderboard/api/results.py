"""The results of a submission as JSON lines: graded rows without problem content, code or logs."""

import json
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from leaderboard.api.evaluations import facts_of, facts_of_absent, first_failure_of, with_facts
from leaderboard.models import Evaluation, EvaluationState, Submission, Track
from leaderboard.results.first_failure import FirstFailures
from leaderboard.standings.absent import AbsentSamples, absent_samples
from leaderboard.visibility import SubmissionView
from runners.wire.protocol import Verdict

CHUNK_ROWS = 500
MAX_LOGS = 200
"""Long logs that are read for first failures; after them the result's reason stands for the log."""


def result_lines(submission: Submission, view: SubmissionView, track: str | None) -> Iterator[bytes]:
    """One line per evaluation or absent sample in the release's order, read in chunks. `view.results` must hold."""
    tracks = [one for one in submission.tracks.order_by("slug") if track in (None, one.slug)]
    for _, row in merge(_judged(submission, view, tracks), _absent(submission, view, tracks), key=itemgetter(0)):
        yield json.dumps({**row, "licence": submission.licence}, ensure_ascii=False).encode() + b"\n"


Place = tuple[int, int, str]
"""The problem's position, the sample's index and the track's slug: the order of the lines."""


def _judged(
    submission: Submission, view: SubmissionView, tracks: Sequence[Track]
) -> Iterator[tuple[Place, dict[str, Any]]]:
    rows = Evaluation.objects.live().filter(submission=submission, track__in=tracks)
    rows = rows.order_by("problem__position", "sample__index", "track__slug")
    failures = FirstFailures(view, n_blobs=MAX_LOGS)
    for one in map(view.hide, with_facts(rows).iterator(chunk_size=CHUNK_ROWS)):
        one.problem.release = submission.release
        yield (one.problem.position, one.sample.index, one.track.slug), _row(one, view, failures)


def _absent(
    submission: Submission, view: SubmissionView, tracks: Sequence[Track]
) -> Iterator[tuple[Place, dict[str, Any]]]:
    by_problem = groupby(absent_samples(submission, tracks), key=lambda one: one.problem_id)
    for _, on_tracks in by_problem:
        rows = [(one, one.first_index + n) for one in on_tracks for n in range(one.n)]
        for one, index in sorted(rows, key=lambda row: (row[1], row[0].track.slug)):
            yield (one.position, index, one.track.slug), _absent_row(one, index, submission, view)


def _absent_row(one: AbsentSamples, index: int, submission: Submission, view: SubmissionView) -> dict[str, Any]:
    """The same keys as a row with a result; it has no evaluation."""
    return {
        "task_id": one.task_id,
        "sample": index,
        "track": one.track.slug,
        "evaluation": None,
        "state": EvaluationState.DONE.value,
        "passed": False,
        "skipped": one.verdict == Verdict.SKIPPED,
        **facts_of_absent(one, submission, view),
        "first_failure": None,
    }


def _row(one: Evaluation, view: SubmissionView, failures: FirstFailures) -> dict[str, Any]:
    """`passed` and `skipped` are ComputeEval's; the rest is ours. Without a result yet both are null."""
    result = one.current_result
    verdict, told_at = result.verdict if result else None, one.problem.release.reveals_at
    return {
        "task_id": one.problem.task_id,
        "sample": one.sample.index,
        "track": one.track.slug,
        "evaluation": one.pk,
        "state": one.state,
        "passed": verdict == Verdict.PASSED if result else None,
        "skipped": verdict == Verdict.SKIPPED if result else None,
        **(
            facts_of(one, result, view) | {"first_failure": first_failure_of(one, result, view, failures)}
            if result
            else {}
        ),
        **({"sealed_until": told_at.isoformat()} if one.is_sealed and told_at else {}),
    }
