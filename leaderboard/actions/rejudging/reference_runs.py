"""Judges hidden references on the nodes and days that serve ranked times, and settles what they show."""

import hashlib
from collections.abc import Sequence
from datetime import date

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.models import Entrant, Evaluation, ReferenceRun, Result, Submission, SubmissionState, Track
from leaderboard.models.audit import record
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.rows.store_once import store_once
from leaderboard.rows.submissions import SubmissionMetadata
from leaderboard.standings import scores
from leaderboard.standings.reference_noise.noise import ratio_in
from problems.formats.submission import IncomingSample, IncomingSubmission
from problems.models import Problem, Release, ReleaseState
from problems.spec.solution import FileSolution

DAILY = "_daily-reference"
"""Slug of the system entrant."""
PRIORITY = -1
"""Behind all work that somebody waits for."""
MOST_PROBLEMS = 8


@transaction.atomic
def start_run(release: Release, track: Track, node: str, day: date, problem_ids: Sequence[int]) -> ReferenceRun | None:
    """Submit the references of these problems, of eight at most, once for each node and day. The caller sees that the
    node runs them. None if there is one already or no problem has a reference."""
    if ReferenceRun.objects.filter(release=release, track=track, node=node, day=day).exists():
        return None
    problems = Problem.objects.filter(pk__in=problem_ids).select_related("release").order_by("position")
    specs = [one.spec for one in problems if one.has_baseline]
    step = max(1, -(-len(specs) // MOST_PROBLEMS))
    references = [(one.task_id, 0, one.reference) for one in specs[::step] if isinstance(one.reference, FileSolution)]
    if not references:
        return None
    incoming = IncomingSubmission(
        name=DAILY, full=False, samples=tuple(IncomingSample.unchecked(*one) for one in references)
    )
    entrant, _ = Entrant.objects.get_or_create(slug=DAILY, kind=EntrantKind.SYSTEM, defaults={"name": DAILY})
    metadata = SubmissionMetadata(entrant, release, [track], asks_to_count=False, through="site", priority=PRIORITY)
    identity = hashlib.sha256(f"reference run|{release.pk}|{track.pk}|{node}|{day}".encode()).hexdigest()
    submission = store_once(None, metadata, incoming, identity).submission
    return ReferenceRun.objects.create(release=release, track=track, node=node, day=day, submission=submission)


def settle_runs() -> int:
    """Store what ended runs show. Where the references do not stand at 1 ×, the times of that node and day leave the
    ranks. Returns the number of runs settled."""
    ended = ReferenceRun.objects.filter(settled_at=None).exclude(submission__state=SubmissionState.ACCEPTED)
    ended = ended.exclude(release__state=ReleaseState.FROZEN)  # whose ranks are final
    return sum(_settle(one) for one in ended.select_related("submission", "release", "track").order_by("pk")[:50])


@transaction.atomic
def _settle(run: ReferenceRun) -> bool:
    found = ratio_in(run)
    figures = {} if found is None else {
        "ratio": found.ratio, "low": found.low, "high": found.high, "n_problems": found.n_problems,
        "is_noisy": found.is_noisy,
    }  # fmt: skip
    if not ReferenceRun.objects.filter(pk=run.pk, settled_at=None).update(settled_at=timezone.now(), **figures):
        return False
    if found is not None and found.is_noisy:
        _rescore(run)
        record(
            None,
            "noisy",
            run.release,
            f"The reference stands at {found.ratio:.3f}.",
            track=run.track.slug,
            node=run.node,
            day=run.day.isoformat(),
        )
    scores.touch(run.release_id, run.track_id)
    return True


def _rescore(run: ReferenceRun) -> None:
    made = Result.objects.filter(**run.served).values("pk")
    rows = Evaluation.objects.live().filter(submission__release=run.release, track=run.track)
    touched = rows.filter(Q(current_result__in=made) | Q(second_result__in=made))
    places = sorted(set(touched.values_list("submission_id", "track_id", "problem_id")))
    scores.hold_all(Submission.objects.filter(pk__in={one for one, _, _ in places}))
    scores.rescore_places(places)
