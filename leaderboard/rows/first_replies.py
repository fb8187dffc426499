"""The reply that counts to a sealed question is an entrant's first one, in every later submission that asks to count.

So nothing is learned by sending another one, neither before the release reveals its questions nor after.
"""

from collections.abc import Sequence

from leaderboard.models import Sample, Submission
from leaderboard.standings.absent import MISSING
from problems.models import Problem
from problems.spec.kinds import SITE_KINDS

LATE = "sent after the questions were revealed"
_Key = tuple[str, str]
"""A question over the revisions of its release: task_id and grading digest."""


def with_first_replies(submission: Submission, samples: Sequence[Sample]) -> list[Sample]:
    """The samples, not stored yet, with the replies that count in place of those that were sent.

    A first reply that came once the questions were revealed never counts. The caller holds the entrant.
    """
    release = submission.release
    if not (release.has_sealed_questions and submission.asks_to_count):
        return list(samples)
    questions = {
        (one.task_id, one.grading_digest): one for one in release.problems.filter(kind__in=SITE_KINDS).defer("record")
    }
    first = _first(submission, questions)
    replaced = {questions[key].pk for key in first}
    kept = [one for one in samples if one.problem_id not in replaced]
    if release.reveals_at and release.reveals_at <= submission.created_at:
        late, asked = f"{LATE} at {release.reveals_at:%Y-%m-%d %H:%M} UTC", {one.pk for one in questions.values()}
        for one in kept:
            one.invalid_reason = late if one.problem_id in asked else one.invalid_reason
    most = release.question_samples
    return kept + [_copy(row, submission, questions[key]) for key, rows in first.items() for row in rows[:most]]


def _first(submission: Submission, questions: dict[_Key, Problem]) -> dict[_Key, list[Sample]]:
    """The samples of the earliest submission of the entrant that replied to each of the questions. One query."""
    sent = Sample.objects.filter(
        submission__entrant=submission.entrant_id, submission__asks_to_count=True, submission__lt=submission.pk,
        problem__release__datapack_release=submission.release.datapack_release, problem__kind__in=SITE_KINDS,
        problem__grading_digest__in=[digest for _, digest in questions],
    ).exclude(invalid_reason=MISSING)  # fmt: skip
    found: dict[_Key, list[Sample]] = {}
    for row in sent.select_related("problem").defer("problem__record").order_by("submission", "index"):
        key = row.problem.task_id, row.problem.grading_digest
        rows = found.setdefault(key, []) if key in questions else []
        if not rows or rows[0].submission_id == row.submission_id:
            rows.append(row)
    return found


def _copy(first: Sample, submission: Submission, question: Problem) -> Sample:
    return Sample(
        submission=submission,
        problem=question,
        index=first.index,
        solution_sha256=first.solution_sha256,
        solution_bytes=first.solution_bytes,
        invalid_reason=first.invalid_reason,
        first_sent_id=first.first_sent_id or first.submission_id,
    )
