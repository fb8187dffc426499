"""Absent samples: the (problem, index) pairs that a full submission lacks. They count as invalid and have no rows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count

from leaderboard.models import ProblemTrack, Submission, Track
from problems.models import Problem
from problems.spec.kinds import SITE_KINDS
from runners.wire.protocol import Verdict

MISSING = "missing"
"""The reason of an absent sample."""


@dataclass(frozen=True)
class AbsentSamples:
    """The last `n` samples of a problem on a track, from `first_index` on."""

    problem_id: int
    position: int
    task_id: str
    track: Track
    first_index: int
    n: int
    skip_reason: str
    """The reason why the track skips the problem; empty if it does not."""

    @property
    def verdict(self) -> Verdict:
        return Verdict.SKIPPED if self.skip_reason else Verdict.INVALID

    @property
    def reason(self) -> str:
        return self.skip_reason or MISSING


def absent_samples(
    submission: Submission, tracks: Sequence[Track], problem_ids: Sequence[int] | None = None
) -> Iterator[AbsentSamples]:
    """The absent samples of these problems (None: all) on these tracks, in the release's order. At most three
    queries."""
    if not submission.is_full:
        return
    most, most_replies = submission.n_samples_per_problem, _most_replies(submission)
    present = _present(submission, problem_ids)
    problems = Problem.objects.filter(release_id=submission.release_id).order_by("position")
    if problem_ids is not None:
        lacking = [pk for pk in problem_ids if present.get(pk, 0) < most]
        if not lacking:
            return
        problems = problems.filter(pk__in=lacking)
    skips: dict[tuple[int, int], str] | None = None
    for pk, position, task_id, kind in problems.values_list("pk", "position", "task_id", "kind"):
        first, wanted = present.get(pk, 0), most_replies if kind in SITE_KINDS else most
        if first < wanted:
            skips = _skips(submission, tracks) if skips is None else skips
            for track in tracks:
                reason = skips.get((pk, track.pk), "")
                yield AbsentSamples(pk, position, task_id, track, first, wanted - first, reason)


def _most_replies(submission: Submission) -> int:
    """The samples that a full submission has of a question: a sealed one takes no more than its release says."""
    most, release = submission.n_samples_per_problem, submission.release
    return min(most, release.question_samples) if release.has_sealed_questions else most


def absent_verdicts(submission: Submission) -> Counter[str]:
    """The number of absent samples by verdict, over all tracks of the submission."""
    counts: Counter[str] = Counter()
    for one in absent_samples(submission, list(submission.tracks.all())):
        counts[one.verdict.value] += one.n
    return counts


def _present(submission: Submission, problem_ids: Sequence[int] | None) -> dict[int, int]:
    """The number of samples with rows, by problem id. Their indices count from zero without a gap."""
    rows = submission.samples.order_by()
    if problem_ids is not None:
        rows = rows.filter(problem_id__in=problem_ids)
    return dict(rows.values_list("problem_id").annotate(n=Count("pk")))


def _skips(submission: Submission, tracks: Sequence[Track]) -> dict[tuple[int, int], str]:
    rows = ProblemTrack.objects.filter(problem__release_id=submission.release_id, track__in=tracks)
    found = rows.exclude(skip_reason="").values_list("problem_id", "track_id", "skip_reason")
    return {(problem, track): reason for problem, track, reason in found}
