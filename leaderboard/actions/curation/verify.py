"""Verifies a release on a track: references must pass, empty solutions must fail, known-bad ones must fail as stated,
and solutions that end their process must fail the harnesses that say they are separate.

Each of these is a submission by a hidden system entrant. A node grades it like any other. It is never in standings.
"""

import hashlib
from collections.abc import Container, Iterator, Sequence
from typing import Any

from django.db.models import F, Max

from leaderboard.curation.verification import TITLES, of_present_problems, verified_on
from leaderboard.errors import NotAllowed, Refused
from leaderboard.intake.submission_rules import check_tracks
from leaderboard.models import Entrant, Evaluation, EvaluationState, Submission, Track
from leaderboard.models.audit import record
from leaderboard.models.entrants.entrant import EARLY_END, EMPTY, KNOWN_BAD, REFERENCE, EntrantKind
from leaderboard.rows.reuse import Reuse, holding
from leaderboard.rows.store_once import store_once
from leaderboard.rows.submissions import SubmissionMetadata, site_identity_of
from problems.formats.submission import IncomingSample, IncomingSubmission
from problems.models import Release
from problems.spec.kinds import Kind
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution
from runners.wire.protocol import JUDGE_VERSIONS

VERIFY_PRIORITY = 5

Solutions = Iterator[tuple[str, int, FileSolution]]


def verify(user: Any, release: Release, track: Track) -> list[Submission]:
    """Queue the checks. A repetition for the same release and track returns the same submissions. After problems of a
    draft have changed, only what has no evaluation of the changed problems is queued. Results that verified the last
    revision's problem on the track are reused where the problem is graded the same, by the same version of the judge.

    Checks that the user is an organiser and that the release is offered on the track; the release may be a draft, or
    closed. `user` None is the site's own shell. Raises NotAllowed, or Refused if there is nothing to verify.
    """
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser verifies a release.")
    check_tracks(release, [track])
    specs = [problem.spec for problem in release.problems.select_related("release")]
    known = _known(release, track)
    submissions = {slug: _incoming(slug, specs, known) for slug in TITLES}
    made = [known[one] for one in known]
    made += [
        _submit(user, release, track, slug, incoming) for slug, incoming in submissions.items() if incoming.samples
    ]
    made = list({one.pk: one for one in made}.values())
    if not made:
        raise Refused("nothing_to_verify", f"No problem of {release.slug} has a reference or a known-bad solution.")
    record(user, "verify", release, track=track.slug, submissions=[one.pk for one in made])
    return made


CheckedSample = tuple[str, str, int]
"""System entrant, task_id and index of a sample."""


def _known(release: Release, track: Track) -> dict[CheckedSample, Submission]:
    """The checks of a changed draft that hold: present judges made them, and their problems have not changed since.

    Empty for other releases, whose checks are told apart by their submissions' identity.
    """
    if not release.problems.exclude(graded_since=None).exists():
        return {}
    rows = (
        of_present_problems(Evaluation.objects.live())
        .filter(submission__release=release, submission__entrant__slug__in=TITLES, track=track)
        .exclude(state=EvaluationState.CANCELLED)
        .select_related("sample", "submission__entrant")
        .annotate(task_id=F("problem__task_id"), problem_kind=F("problem__kind"))
    )
    return {
        (row.submission.entrant.slug, row.task_id, row.sample.index): row.submission
        for row in rows
        if row.judge_version == JUDGE_VERSIONS[Kind(row.problem_kind)]
    }


def _submit(user: Any, release: Release, track: Track, slug: str, incoming: IncomingSubmission) -> Submission:
    entrant, _ = Entrant.objects.get_or_create(slug=slug, kind=EntrantKind.SYSTEM, defaults={"name": slug})
    metadata = SubmissionMetadata(
        entrant, release, [track], asks_to_count=False, through="site", priority=VERIFY_PRIORITY
    )
    identity = site_identity_of(metadata, incoming)
    reuse = _reuse(release, track, entrant)
    changed_at = release.problems.aggregate(last=Max("graded_since"))["last"]
    if changed_at is not None:  # the same solutions are another submission once a draft's problem has changed
        identity = hashlib.sha256(f"{identity}|{changed_at.isoformat()}".encode()).hexdigest()
    return store_once(user, metadata, incoming, identity, reuse).submission


def _reuse(release: Release, track: Track, entrant: Entrant) -> Reuse | None:
    """The system entrant's results on the last revision's problems that were verified on the track."""
    if release.previous is None:
        return None
    verified = verified_on(release.previous, track)
    same = {pk: old for pk, old in holding(release, release.previous).items() if old.pk in verified}
    return Reuse(Evaluation.objects.live().filter(submission__entrant=entrant), same) if same else None


def _incoming(slug: str, specs: Sequence[ProblemRecord], known: Container[CheckedSample]) -> IncomingSubmission:
    solutions = {REFERENCE: _references, EMPTY: _empties, KNOWN_BAD: _known_bad, EARLY_END: _early_ends}[slug](specs)
    wanted = (one for one in solutions if (slug, one[0], one[1]) not in known)
    return IncomingSubmission(name=slug, full=False, samples=tuple(IncomingSample.unchecked(*one) for one in wanted))


def _references(specs: Sequence[ProblemRecord]) -> Solutions:
    for spec in specs:
        if isinstance(spec.reference, FileSolution):
            yield spec.task_id, 0, spec.reference


def _empties(specs: Sequence[ProblemRecord]) -> Solutions:
    for spec in specs:
        if solution := spec.empty:
            yield spec.task_id, 0, solution


def _early_ends(specs: Sequence[ProblemRecord]) -> Solutions:
    for spec in specs:
        if solution := spec.ending_early:
            yield spec.task_id, 0, solution


def _known_bad(specs: Sequence[ProblemRecord]) -> Solutions:
    for spec in specs:
        for index, bad in enumerate(spec.podium.known_bad):
            yield spec.task_id, index, FileSolution(task_id=spec.task_id, files=bad.files)
