"""Verifies a release on a track: references must pass, empty solutions must fail, known-bad ones must fail as stated,
and solutions that end their process must fail the harnesses that say they are separate.

Each of these is a submission by a hidden system entrant. A node grades it like any other. It is never in standings.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import Entrant, Submission, Track
from leaderboard.models.audit import record
from leaderboard.models.entrant import EntrantKind
from leaderboard.rows.store_once import store_once
from leaderboard.rows.submissions import SubmissionMetadata, site_identity_of
from leaderboard.submission_rules import check_tracks
from leaderboard.verification import EARLY_END, EMPTY, KNOWN_BAD, REFERENCE, TITLES
from problems.formats.submission import SampleDraft, SubmissionDraft
from problems.models import Release
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution

VERIFY_PRIORITY = 5

Solutions = Iterator[tuple[str, int, FileSolution]]


def verify(user: Any, release: Release, track: Track) -> list[Submission]:
    """Queue the checks. A repetition for the same release and track returns the same submissions.

    Checks that the user is an organiser and that the release is offered on the track; the release may be a draft, or
    closed. `user` None is the site's own shell. Raises NotAllowed, or Refused if there is nothing to verify.
    """
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser verifies a release.")
    check_tracks(release, [track])
    specs = [problem.spec for problem in release.problems.select_related("release")]
    drafts = {slug: _draft(slug, specs) for slug in TITLES}
    made = [_submit(user, release, track, slug, draft) for slug, draft in drafts.items() if draft.samples]
    if not made:
        raise Refused("nothing_to_verify", f"No problem of {release.slug} has a reference or a known-bad solution.")
    record(user, "verify", release, track=track.slug, submissions=[one.pk for one in made])
    return made


def _submit(user: Any, release: Release, track: Track, slug: str, draft: SubmissionDraft) -> Submission:
    entrant, _ = Entrant.objects.get_or_create(slug=slug, kind=EntrantKind.SYSTEM, defaults={"name": slug})
    metadata = SubmissionMetadata(
        entrant, release, [track], asks_to_count=False, through="site", priority=VERIFY_PRIORITY
    )
    return store_once(user, metadata, draft, site_identity_of(metadata, draft)).submission


def _draft(slug: str, specs: Sequence[ProblemRecord]) -> SubmissionDraft:
    solutions = {REFERENCE: _references, EMPTY: _empties, KNOWN_BAD: _known_bad, EARLY_END: _early_ends}[slug](specs)
    return SubmissionDraft(name=slug, full=False, samples=tuple(SampleDraft.unchecked(*one) for one in solutions))


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
