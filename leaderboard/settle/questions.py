"""Settles queued evaluations of questions: reads the reply, compares it with the answer and stores the result."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard import blobs
from leaderboard.models import Evaluation, EvaluationState, Result, Submission, Track
from leaderboard.models.submissions.evaluation import ResultCase, ResultOrigin
from leaderboard.rows.current import make_newest_current
from leaderboard.standings import scores
from problems.models import Problem
from problems.spec.kinds import SITE_KINDS
from problems.spec.record import ANSWER_CASE, READ_AS, READ_AS_CHARACTERS, ProblemRecord, ReplyUnread
from problems.spec.solution import FileSolution, parse_solution
from runners.wire.protocol import Audience, CaseField, Verdict

BATCH = 2000
"""Evaluations that are read at a time."""
STORED_TOGETHER = 1000
"""Evaluations of one submission that one transaction stores."""


@dataclass(frozen=True)
class _Outcome:
    verdict: Verdict
    reason: str
    read_as: str = ""


@dataclass(frozen=True)
class _Settled:
    evaluation_id: int
    track_id: int
    problem_id: int
    outcome: _Outcome


def settle_questions() -> int:
    """Settle all that are queued. Returns their number. Settling twice at the same time changes nothing.

    Raises BlobsUnavailable; what is left is settled next time.
    """
    total, after = 0, 0
    while rows := list(_queued(after)):
        after = rows[-1]["pk"]
        specs = _specs({row["problem_id"] for row in rows})
        for submission_id, own in groupby(sorted(rows, key=itemgetter("submission_id")), itemgetter("submission_id")):
            total += _settle_submission(submission_id, list(own), specs)
    return total


def _settle_submission(
    submission_id: int, rows: Sequence[Mapping[str, Any]], specs: Mapping[int, ProblemRecord]
) -> int:
    known: dict[tuple[int, str], _Outcome] = {}
    parts = (rows[at : at + STORED_TOGETHER] for at in range(0, len(rows), STORED_TOGETHER))
    return sum(_store(submission_id, list(_settled(part, specs, known))) for part in parts)


def _queued(after: int) -> Any:
    rows = Evaluation.objects.filter(state=EvaluationState.QUEUED, problem__kind__in=SITE_KINDS, pk__gt=after)
    return rows.order_by("pk").values(
        "pk", "submission_id", "track_id", "problem_id", "sample__solution_sha256", "sample__invalid_reason"
    )[:BATCH]


def _specs(problem_ids: set[int]) -> Mapping[int, ProblemRecord]:
    return {one.pk: one.spec for one in Problem.objects.filter(pk__in=problem_ids).select_related("release")}


def _settled(
    rows: Sequence[Mapping[str, Any]], specs: Mapping[int, ProblemRecord], known: dict[tuple[int, str], _Outcome]
) -> Iterator[_Settled]:
    """A sample on several tracks is read once."""
    for row in rows:
        key = row["problem_id"], row["sample__solution_sha256"]
        if key not in known:
            known[key] = _outcome(specs[row["problem_id"]], key[1])
        yield _Settled(row["pk"], row["track_id"], row["problem_id"], known[key])


def _outcome(spec: ProblemRecord, sha256: str) -> _Outcome:
    try:
        solution = parse_solution(blobs.read(sha256))
        found = spec.settled(solution.files) if isinstance(solution, FileSolution) else None
    except blobs.BlobMissing:
        return _Outcome(Verdict.PLATFORM_ERROR, "The site has lost the reply.")
    except ReplyUnread as slow:
        return _Outcome(Verdict.PLATFORM_ERROR, f"The reply could not be read: {slow}.")
    if found is None:
        return _Outcome(Verdict.PLATFORM_ERROR, f"The site cannot settle problems of kind {spec.kind}.")
    return _Outcome(Verdict.PASSED if found.passed else Verdict.WRONG_ANSWER, found.reason, found.read_as)


@transaction.atomic
def _store(submission_id: int, settled: Sequence[_Settled]) -> int:
    """Store the results of those that are still queued. Returns their number."""
    scores.hold(submission_id)
    ids = [one.evaluation_id for one in settled]
    waiting = set(Evaluation.objects.filter(pk__in=ids, state=EvaluationState.QUEUED).values_list("pk", flat=True))
    new = [one for one in settled if one.evaluation_id in waiting]
    if not new:
        return 0
    _append(new)
    submission = Submission.objects.select_related("release").get(pk=submission_id)
    for track in Track.objects.filter(pk__in={one.track_id for one in new}):
        scores.rescore(submission, track, sorted({one.problem_id for one in new if one.track_id == track.pk}))
    scores.finish_if_done(submission)
    return len(new)


def _append(new: Sequence[_Settled]) -> None:
    results = Result.objects.bulk_create(
        Result(
            evaluation_id=one.evaluation_id,
            origin=ResultOrigin.SITE,
            verdict=one.outcome.verdict,
            reason=one.outcome.reason,
        )
        for one in new
    )
    ResultCase.objects.bulk_create(
        ResultCase(result=result, position=0, name=ANSWER_CASE, verdict=result.verdict, fields=[_field(one.outcome)])
        for result, one in zip(results, new, strict=True)
        if one.outcome.verdict != Verdict.PLATFORM_ERROR
    )
    ids = [one.evaluation_id for one in new]
    make_newest_current(ids)
    Evaluation.objects.filter(pk__in=ids).update(state=EvaluationState.DONE, done_at=timezone.now())


def _field(outcome: _Outcome) -> dict[str, Any]:
    read_as = outcome.read_as[:READ_AS_CHARACTERS]
    return CaseField(name=READ_AS, value=read_as, audience=Audience.TEAM).model_dump(mode="json")
